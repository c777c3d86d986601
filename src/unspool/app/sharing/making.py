"""What a form asks to be made of a reviewed session: a file, or a gist."""

from collections.abc import Mapping
from urllib.parse import quote

from anyio.to_thread import run_sync
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.app.desk import Desk
from unspool.app.forms import fields
from unspool.app.reading.held import reading
from unspool.app.sharing import habits
from unspool.app.sharing.gists import GIST, published
from unspool.app.sharing.made import Result, downloaded, results_of
from unspool.app.sharing.seals import seal_of, secret_of
from unspool.app.sharing.table import rule_set, table_of
from unspool.app.sharing.ways import made, way_of
from unspool.share.ask import Ask
from unspool.share.prepare import prepared
from unspool.site.address import slug


async def make(request: Request) -> Response:
    """Make it: the file, or the page that tells how it opens or where it is."""
    sent, key = await fields(request), request.path_params["key"]
    answer = await run_sync(_made, request.app.state.desk, key, sent)
    if answer.file is not None and not answer.key:
        return downloaded(answer.file, answer.name)
    name = results_of(request.app.state.desk).keep(answer)
    return RedirectResponse(f"/s/{quote(key, safe='')}/share/made/{name}", 303)


def _made(desk: Desk, key: str, sent: Mapping[str, str]) -> Result:
    wanted = sent.get("as", "")
    way = None if wanted == GIST else way_of(wanted)
    seal = seal_of(sent.get("seal", "open"))
    secret = secret_of(seal, sent)
    session, table = reading(desk, key).session, table_of(desk)
    wish = table.wish(key, session.cwd)
    ask = Ask(lambda _: wish.choices, rule_set(), wish.title, names=table.names(key))
    with prepared(desk.library(), table.meant(desk, key, wish), ask) as share:
        if way is None:
            return published(key, share, desk, secret, public="public" in sent)
        file = made(way, share, desk, secret)
    habits.keep(session.cwd, replace(habits.habit(session.cwd), seal=seal))
    fragment = secret.fragment if secret is not None else ""
    return Result(key, file, f"session-{slug(key)[:8]}{file.ending}", fragment)
