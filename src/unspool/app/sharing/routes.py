"""The addresses of the review."""

from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.app.desk import Desk
from unspool.app.forms import done, fields
from unspool.app.reading.held import reading
from unspool.app.sharing.findings import known
from unspool.app.sharing.made import download, result
from unspool.app.sharing.making import make
from unspool.app.sharing.preview import preview, without_slash
from unspool.app.sharing.review import review
from unspool.app.sharing.table import table_of
from unspool.app.sharing.wish import wished

_FINDING = {"keep", "replace", "keep-rule", "replace-rule"}


async def decide(request: Request) -> Response:
    """Choose as the form says, and look at the review again."""
    key, sent = request.path_params["key"], await fields(request)
    await run_sync(_decided, request.app.state.desk, key, sent)
    return done(request, {}, f"/s/{quote(key, safe='')}/share")


def _decided(desk: Desk, key: str, sent: dict[str, str]) -> None:
    session, table = reading(desk, key).session, table_of(desk)
    now = table.wish(key, session.cwd)
    findings = known(table.found(desk, key, now)) if _FINDING & set(sent) else {}
    table.choose(key, session.cwd, wished(now, sent, findings))


ROUTES = [
    Route("/s/{key}/share", review, methods=["GET"]),
    Route("/s/{key}/share", decide, methods=["POST"]),
    Route("/s/{key}/share/make", make, methods=["POST"]),
    Route("/s/{key}/share/made/{name}", result, methods=["GET"]),
    Route("/s/{key}/share/made/{name}/file", download, methods=["GET"]),
    Route("/s/{key}/share/preview", without_slash),
    Route("/s/{key}/share/preview/", preview),
    Route("/s/{key}/share/preview/{path:path}", preview),
]
