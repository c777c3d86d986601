"""The exact result: the pages of the redacted session, from memory."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool.app.reading.frames import FRESH
from unspool.app.reading.held import reading
from unspool.app.render import HOME, frame, render
from unspool.app.sharing.looked import Looked, table_of
from unspool.errors import NotFound
from unspool.site.address import INDEX
from unspool.site.frame import Crumb, Frame, Preview
from unspool.site.pages import session_page

if TYPE_CHECKING:
    from unspool.app.desk import Desk


def preview_index(request: Request) -> Response:
    """The first page."""
    return _page(request, INDEX)


def preview_leaf(request: Request) -> Response:
    """Another page."""
    return _page(request, request.path_params["path"])


def without_slash(request: Request) -> Response:
    """Links of a page are relative to its folder."""
    return RedirectResponse(f"{request.url.path}/", 308)


def _page(request: Request, path: str) -> Response:
    desk: Desk = request.app.state.desk
    session = reading(desk, request.path_params["key"]).session
    table = table_of(desk)
    looked = table.exact(desk, session.id, table.choices(session.id, session.cwd))
    made = session_page(looked.told.scene(desk.options, _framed(session.id, looked)), path)
    if made is None:
        raise NotFound("What is shared has no such page.")
    return HTMLResponse(made.html.encode("utf-8", "replace"), headers=FRESH)


def _framed(key: str, looked: Looked) -> Frame:
    """As little around it as can be: the way back, and what the result says of itself."""
    note = looked.report.note()
    made = frame((HOME,), ("share.css",), ("share.js",))
    bar = str(render("share_bar.html", key=key, told=note))
    back = Crumb("← Review", f"s/{quote(key, safe='')}/share")
    return replace(made, inset=bar, ways=(back, *made.ways), preview=Preview("", note=f"shared: {note}"))
