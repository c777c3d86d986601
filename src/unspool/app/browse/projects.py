"""`/projects`: all of them, and each with its sessions; hidden ones are out of every list, but still here."""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.app import render
from unspool.app.browse.moments import Moment, moment
from unspool.app.browse.rows import dollars
from unspool.app.browse.scene import Scene
from unspool.app.browse.sessions import rows_of
from unspool.app.browse.shelf import SORTS, Project, Shelf
from unspool.app.browse.wanted import wanted
from unspool.app.desk import Desk
from unspool.errors import NotFound
from unspool.site.statistics import Tile


class Row(NamedTuple):
    """A project for a template."""

    slug: str
    name: str
    path: str
    sessions: str
    facts: tuple[str, ...]
    errors: str
    cost: str
    latest: Moment | None


def projects(request: Request) -> HTMLResponse:
    """Every project; `q` narrows them, `sort` orders them."""
    part, sort = request.query_params.get("q", "")[:200], request.query_params.get("sort", "")
    sort = sort if sort in SORTS else "newest"
    with _desk(request).index() as index:
        scene = Scene(request, index.db)
        listed = scene.shelf.listed(sort, part)
        hidden = scene.said.hidden
        body = render.render(
            "projects.html",
            title=human.count(sum(one.path not in hidden for one in scene.shelf.projects.values()), "project"),
            shown=[_row(one, scene) for one in listed if one.path not in hidden],
            hidden=[_row(one, scene) for one in listed if one.path in hidden],
            part=part,
            sort=sort,
            sorts=SORTS,
            here=scene.here,
            read_only=scene.read_only,
            notes=tuple(scene.notes),
        )
    return render.page(request, "All projects", body, (render.HOME,), ("app.css",), ("browse.js", "list.js"))


def project(request: Request) -> HTMLResponse:
    """A project in figures, and its sessions."""
    slug, asked = request.path_params["slug"], wanted(request.query_params)
    asked = type(asked)(project=slug, kind=asked.kind, sort=asked.sort, page=asked.page)
    with _desk(request).index() as index:
        scene = Scene(request, index.db)
        one = found(scene.shelf, slug)
        page = scene.page(asked)
        rows = rows_of(scene, asked, page, "/sessions")
        body = render.render(
            "project.html",
            project=_row(one, scene),
            tiles=tuple(_tiles(one)),
            hidden=one.path in scene.said.hidden,
            notes=(*scene.notes, *page.notes),
            **rows,
        )
    crumbs = (render.HOME, render.way("projects"))
    return render.page(request, one.name, body, crumbs, ("app.css",), ("browse.js", "list.js"))


def found(shelf: Shelf, slug: str) -> Project:
    if slug not in shelf.projects:
        raise NotFound("There is no such project.")
    return shelf.projects[slug]


def _row(one: Project, scene: Scene) -> Row:
    facts = (human.count(one.turns, "prompt"), human.count(one.calls, "call") if one.calls else "")
    return Row(
        one.slug,
        scene.shelf.label(one.path),
        one.path,
        human.count(one.sessions, "session"),
        tuple(fact for fact in facts if fact),
        human.count(one.errors, "error") if one.errors else "",
        dollars(one.cost, floor=bool(one.unpriced)),
        moment(one.latest, scene.zone, "day"),
    )


def _tiles(one: Project) -> tuple[Tile, ...]:
    failed = f"{one.errors:,} failed" if one.errors else ""
    return (
        Tile("Sessions", f"{one.sessions:,}"),
        Tile("Prompts", f"{one.turns:,}"),
        Tile("Tool calls", f"{one.calls:,}", failed),
        Tile("Cost", dollars(one.cost, floor=bool(one.unpriced)) or "unknown", "at list prices"),
    )


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk
