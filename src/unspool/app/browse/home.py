"""`/`: what was done today and this week, what goes on now, the newest sessions, the projects beside them."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.app import render
from unspool.app.browse.facets import groups
from unspool.app.browse.facts import facts
from unspool.app.browse.first import demo_shown, first
from unspool.app.browse.listing import Page
from unspool.app.browse.rows import ACTIVE
from unspool.app.browse.scene import Scene
from unspool.app.browse.totals import bars, tiles
from unspool.app.browse.wanted import Wanted
from unspool.app.standing import standing

if TYPE_CHECKING:
    from unspool.app.desk import Desk

_NEWEST = 50
_ANY = "SELECT EXISTS (SELECT 1 FROM session)"


def home(request: Request) -> HTMLResponse:
    """The first page; where nothing is known yet, the page that says what unspool reads."""
    desk: Desk = request.app.state.desk
    with desk.index() as index:
        if index.db.execute(_ANY).get:
            return _home(Scene(request, index.db), index.meta("synced"))
    return first(request)


def _home(scene: Scene, synced: str) -> HTMLResponse:
    request, asked = scene.request, Wanted()
    page = scene.listing.page(asked, _NEWEST)
    active = scene.listing.between(scene.now - ACTIVE, scene.now + ACTIVE)
    body = render.render(
        "home.html",
        title=_title(page, standing(request).busy),
        facts=facts(scene, synced),
        demo=demo_shown(request),
        tiles=tiles(scene.db, scene.zone, scene.now),
        bars=bars(scene.db, scene.zone, scene.now),
        groups=groups(scene, asked, page),
        saved=scene.said.saved,
        active=scene.days(active, by_day=False, style="clock"),
        days=scene.days([row for row in page.rows if row not in active]),
        more=page.total > len(page.rows),
        total=page.total,
        notes=tuple(scene.notes),
        here="/",
        read_only=scene.read_only,
    )
    return render.page(request, "unspool", body, (), ("app.css",), ("browse.js",))


def _title(page: Page, busy: bool) -> str:
    return f"{human.count(page.total, 'session')}, {'so far' if busy else 'all kept'}"
