"""Pages that tell of a session, beside those that the site has: in the same frame, with the same scripts."""

from collections.abc import Sequence

from starlette.responses import HTMLResponse

from unspool.app.desk import Desk
from unspool.app.reading.extras import framed
from unspool.app.reading.told import Reading
from unspool.site.address import INDEX
from unspool.site.frame import Crumb
from unspool.site.sheet import Sheet

FRESH = {"Cache-Control": "no-cache"}


def told_page(desk: Desk, told: Reading, name: str, body: str, up: Sequence[str] = (), rail: str = "") -> HTMLResponse:
    """A page around a body that is markup already; `up` leads to the session's folder where it lies below it."""
    scene_name = told.scene(desk.options).name
    frame = framed(told, desk.options, desk.prices, "")
    sheet = Sheet(desk.options, frame, told.session.id)
    above = Crumb(scene_name, "".join((*up, INDEX)))
    html = sheet.page(f"{name} · {scene_name}", body, rail=rail, up=above, here=name)
    return HTMLResponse(html.encode("utf-8", "replace"), headers=FRESH)
