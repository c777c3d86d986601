"""`/projects`: all projects, one project with its sessions, hiding a project."""

from typing import NamedTuple

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from unspool import human
from unspool.app import render
from unspool.app.context import AppContext
from unspool.app.list_rows import DisplayTime, display_time, format_dollars
from unspool.app.mark_store import get_mark_store
from unspool.app.project_list import PROJECT_SORTS, ProjectFigures, ProjectList
from unspool.app.session_list import ListRequest, list_values
from unspool.app.session_query import parse_session_query
from unspool.errors import NotFound
from unspool.site.session_head import Tile
from unspool.web.forms import answer_form, read_form


class ProjectRow(NamedTuple):
    """A project for a template."""

    slug: str
    name: str
    path: str
    sessions: str
    facts: tuple[str, ...]
    errors: str
    cost: str
    latest: DisplayTime | None


def projects_page(request: Request) -> HTMLResponse:
    """Every project; `q` narrows them, `sort` orders them."""
    part, sort = request.query_params.get("q", "")[:200], request.query_params.get("sort", "")
    sort = sort if sort in PROJECT_SORTS else "newest"
    with _desk(request).index() as index:
        scene = ListRequest(request, index.db)
        listed = scene.shelf.listed(sort, part)
        hidden = scene.said.hidden
        body = render.render_template(
            "projects.html",
            title=human.count(sum(one.path not in hidden for one in scene.shelf.projects.values()), "project"),
            shown=[_row(one, scene) for one in listed if one.path not in hidden],
            hidden=[_row(one, scene) for one in listed if one.path in hidden],
            part=part,
            sort=sort,
            sorts=PROJECT_SORTS,
            here=scene.here,
            read_only=scene.read_only,
            notes=tuple(scene.notes),
        )
    return render.render_page(request, "All projects", body, (render.HOME,), ("app.css",), ("browse.js", "list.js"))


def project_page(request: Request) -> HTMLResponse:
    """A project in figures, and its sessions."""
    slug, asked = request.path_params["slug"], parse_session_query(request.query_params)
    asked = type(asked)(project=slug, kind=asked.kind, sort=asked.sort, page=asked.page)
    with _desk(request).index() as index:
        scene = ListRequest(request, index.db)
        one = find_project(scene.shelf, slug)
        page = scene.page(asked)
        rows = list_values(scene, asked, page, "/sessions")
        body = render.render_template(
            "project.html",
            project=_row(one, scene),
            tiles=tuple(_tiles(one)),
            hidden=one.path in scene.said.hidden,
            notes=(*scene.notes, *page.notes),
            **rows,
        )
    crumbs = (render.HOME, render.nav_link("projects"))
    return render.render_page(request, one.name, body, crumbs, ("app.css",), ("browse.js", "list.js"))


def find_project(shelf: ProjectList, slug: str) -> ProjectFigures:
    if slug not in shelf.projects:
        raise NotFound("There is no such project.")
    return shelf.projects[slug]


def _row(one: ProjectFigures, scene: ListRequest) -> ProjectRow:
    facts = (human.count(one.turns, "prompt"), human.count(one.calls, "call") if one.calls else "")
    return ProjectRow(
        one.slug,
        scene.shelf.label(one.path),
        one.path,
        human.count(one.sessions, "session"),
        tuple(fact for fact in facts if fact),
        human.count(one.errors, "error") if one.errors else "",
        format_dollars(one.cost, floor=bool(one.unpriced)),
        display_time(one.latest, scene.zone, "day"),
    )


def _tiles(one: ProjectFigures) -> tuple[Tile, ...]:
    failed = f"{one.errors:,} failed" if one.errors else ""
    return (
        Tile("Sessions", f"{one.sessions:,}"),
        Tile("Prompts", f"{one.turns:,}"),
        Tile("Tool calls", f"{one.calls:,}", failed),
        Tile("Cost", format_dollars(one.cost, floor=bool(one.unpriced)) or "unknown", "at list prices"),
    )


def _desk(request: Request) -> AppContext:
    desk: AppContext = request.app.state.desk
    return desk


async def hide_project(request: Request) -> Response:
    """Take a project out of the lists, or put it back."""
    sent, slug = await read_form(request), request.path_params["slug"]
    hidden = sent.get("hidden") == "1"
    await run_sync(_hide, request.app.state.desk, slug, hidden)
    return answer_form(request, sent, "/projects", {"hidden": hidden})


def _hide(desk: AppContext, slug: str, hidden: bool) -> None:
    with desk.index() as index:
        path = find_project(ProjectList.of(index.db), slug).path
    get_mark_store(desk).hide(path, hidden)
