"""The exact result: the pages of the redacted sessions, the picture and the report, from memory."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool.app.reading.frames import FRESH
from unspool.app.reading.held import reading
from unspool.app.render import HOME, frame, render
from unspool.app.sharing.looked import Looked, Told
from unspool.app.sharing.table import table_of
from unspool.errors import NotFound
from unspool.share.pages import PICTURE, REPORT
from unspool.share.picture import described, picture
from unspool.site.address import INDEX
from unspool.site.frame import Crumb, Frame, Preview
from unspool.site.pages import session_page

if TYPE_CHECKING:
    from unspool.app.desk import Desk


def preview(request: Request) -> Response:
    """A page of what would be shared, or a file that comes with it."""
    desk: Desk = request.app.state.desk
    session = reading(desk, request.path_params["key"]).session
    table = table_of(desk)
    looked = table.exact(desk, session.id, table.wish(session.id, session.cwd))
    path = request.path_params.get("path", "")
    if path == PICTURE:
        drawn = picture(looked.main.session, looked.main.counted)
        return Response(drawn, media_type="image/svg+xml", headers=FRESH)
    if path == REPORT:
        return Response(looked.share.report.json(), media_type="application/json", headers=FRESH)
    return HTMLResponse(_page(desk, session.id, looked, path).encode("utf-8", "replace"), headers=FRESH)


def without_slash(request: Request) -> Response:
    """Links of a page are relative to its folder."""
    return RedirectResponse(f"{request.url.path}/", 308)


def _page(desk: "Desk", key: str, looked: Looked, path: str) -> str:
    place, slash, leaf = path.rpartition("/")
    told = next((one for one in looked.told if one.place == place + slash), None)
    made = session_page(told.reading.scene(desk.options, _framed(key, looked, told)), leaf or INDEX) if told else None
    if made is None:
        raise NotFound("What is shared has no such page.")
    return made.html


def _framed(key: str, looked: Looked, told: Told) -> Frame:
    """As little around it as can be: the way back, and what the result says of itself."""
    review = f"s/{quote(key, safe='')}/share"
    note = looked.share.report.note()
    bar = render("share_bar.html", review=f"/{review}", told=note, facts=described(told.reading.counted))
    made = frame((HOME,), ("share.css",), ("share.js",))
    return replace(
        made,
        inset=str(bar),
        ways=(Crumb("← Review", review), *made.ways),
        sessions={one.reading.session.id: f"{review}/preview/{one.place}" for one in looked.told},
        preview=Preview("", note=f"shared: {note}"),
    )
