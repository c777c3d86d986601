"""What is made of a reviewed session, to be downloaded."""

import io
import zipfile
from collections.abc import Callable
from typing import NamedTuple

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from unspool.app.desk import Desk
from unspool.app.forms import fields
from unspool.app.reading.held import reading
from unspool.app.reading.locate import locate
from unspool.app.sharing.looked import rule_set, table_of
from unspool.errors import UsageProblem
from unspool.library.scratch import scratch
from unspool.share.ask import Ask
from unspool.share.bundle import bundled
from unspool.share.pages import Pages
from unspool.share.prepare import Share, prepared
from unspool.site.address import slug

_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a folder that is packed: the same share gives the same bytes."""


class Make(NamedTuple):
    """A way to share."""

    name: str
    label: str
    ending: str
    type: str


MAKES = (
    Make("html", "One HTML file", ".html", "text/html; charset=utf-8"),
    Make("site", "A folder of pages, zipped", ".zip", "application/zip"),
    Make("bundle", "A bundle to go on with", ".tar.gz", "application/gzip"),
)


async def make(request: Request) -> Response:
    """The file that a form asks for."""
    wanted = (await fields(request)).get("as", "")
    way = next((one for one in MAKES if one.name == wanted), None)
    if way is None:
        raise UsageProblem("A session is shared as html, site or bundle.")
    key = request.path_params["key"]
    data = await run_sync(_made, request.app.state.desk, key, _WAYS[way.name])
    headers = {
        "Content-Disposition": f'attachment; filename="session-{slug(key)[:8]}{way.ending}"',
        "Cache-Control": "no-store",
    }
    return Response(data, media_type=way.type, headers=headers)


def _made(desk: Desk, key: str, way: Callable[[Share, Desk], bytes]) -> bytes:
    session = reading(desk, key).session
    choices = table_of(desk).choices(session.id, session.cwd)
    ask = Ask(lambda _: choices, rule_set(), names=table_of(desk).names(key))
    with prepared(desk.library(), [locate(desk, key)], ask) as share:
        return way(share, desk)


def _html(share: Share, desk: Desk) -> bytes:
    with scratch() as folder:
        (file,) = Pages(share, desk.options, desk.prices).write_file(folder / "session.html")
        return file.read_bytes()


def _site(share: Share, desk: Desk) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in Pages(share, desk.options, desk.prices).files():
            packed.writestr(_member(name), data)
    return held.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


def _bundle(share: Share, _: Desk) -> bytes:
    return bundled(share)


_WAYS: dict[str, Callable[[Share, Desk], bytes]] = {"html": _html, "site": _site, "bundle": _bundle}
