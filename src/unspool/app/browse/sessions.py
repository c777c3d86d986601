"""`/sessions`: every session, filtered, sorted, page by page; `part=rows` gives the rows alone, for the script."""

from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.app import render
from unspool.app.browse.facets import groups
from unspool.app.browse.listing import PAGE, Page
from unspool.app.browse.scene import Scene
from unspool.app.browse.wanted import SORTS, Wanted, wanted
from unspool.app.desk import Desk

_TIMELY = ("", "oldest")
"""Orders in which days follow one another."""
_MODELS = "SELECT DISTINCT model FROM terms WHERE model <> '' ORDER BY model"


def sessions(request: Request) -> HTMLResponse:
    """A page of the list."""
    asked, desk = wanted(request.query_params), _desk(request)
    with desk.index() as index:
        scene = Scene(request, index.db)
        page = scene.page(asked)
        rows = rows_of(scene, asked, page, "/sessions")
        if request.query_params.get("part") == "rows":
            return HTMLResponse(render.render("rows.html", **rows))
        models = [model for (model,) in index.db.execute(_MODELS)]
        body = render.render(
            "sessions.html",
            title=human.count(page.total, "session"),
            asked=asked,
            groups=groups(scene, asked, page),
            saved=scene.said.saved,
            sorts=SORTS,
            models=models,
            notes=(*scene.notes, *page.notes),
            **rows,
        )
    return render.page(request, "Sessions", body, (render.HOME,), ("app.css",), ("browse.js",))


def rows_of(scene: Scene, asked: Wanted, page: Page, path: str) -> dict[str, object]:
    """What the rows of a list need, and where its other pages are."""
    query = asked.query
    first = f"{path}?{query}&" if query else f"{path}?"
    return {
        "days": scene.days(page.rows, asked.sort in _TIMELY),
        "page": asked.page,
        "pages": page.pages,
        "total": page.total,
        "size": PAGE,
        "first": first,
        "here": scene.here.replace("part=rows&", "").replace("&part=rows", ""),
        "read_only": scene.read_only,
    }


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk
