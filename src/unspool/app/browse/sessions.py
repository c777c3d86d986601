"""`/sessions`: every session, filtered, sorted, page by page; `part=rows` gives the rows alone, for the script."""

from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.app import render
from unspool.app.browse.facets import groups
from unspool.app.browse.listing import PAGE, Listed, Page
from unspool.app.browse.moments import day_of
from unspool.app.browse.remembered import remembered
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
        scene, db = Scene(request, index.db), index.db
        page = scene.page(asked)
        rows = rows_of(scene, asked, page, "/sessions")
        if request.query_params.get("part") == "rows":
            return HTMLResponse(render.render("rows.html", **rows))
        models = remembered(db, _MODELS, lambda: [model for (model,) in db.execute(_MODELS)])
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
    return render.page(request, "Sessions", body, (render.HOME,), ("app.css",), ("browse.js", "list.js"))


def rows_of(scene: Scene, asked: Wanted, page: Page, path: str) -> dict[str, object]:
    """What the rows of a list need, and where its other pages are."""
    query, timely = asked.query, asked.sort in _TIMELY
    first = f"{path}?{query}&" if query else f"{path}?"
    alone = scene.request.query_params.get("part") == "rows"
    joins = bool(page.rows) and _together(scene, timely, page.before, page.rows[0])
    begun = alone and joins
    days = scene.days(page.rows, timely)
    return {
        "days": (days[0]._replace(name=""), *days[1:]) if begun else days,
        "begun": begun,
        "joins": joins,
        "unended": bool(page.rows) and _together(scene, timely, page.rows[-1], page.after),
        "page": asked.page,
        "pages": page.pages,
        "total": page.total,
        "size": PAGE,
        "first": first,
        "here": scene.here.replace("part=rows&", "").replace("&part=rows", ""),
        "read_only": scene.read_only,
    }


def _together(scene: Scene, timely: bool, one: Listed | None, next_: Listed | None) -> bool:
    """Whether two sessions that follow one another are listed under one heading."""
    if one is None or next_ is None:
        return False
    return not timely or day_of(one.time, scene.zone) == day_of(next_.time, scene.zone)


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk
