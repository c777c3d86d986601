"""The first page, and the pages of projects."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta, tzinfo
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import apsw
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import render
from unspool.app.context import AppContext
from unspool.app.list_rows import (
    ACTIVE_SECONDS,
    DisplayTime,
    current_day,
    day_of,
    display_time,
    format_dollars,
    time_ago,
)
from unspool.app.marks import get_mark_store
from unspool.app.project_list import PROJECT_SORTS, ProjectFigures, ProjectList
from unspool.app.session_list import ListRequest, facet_groups, list_values, sessions_page
from unspool.app.session_query import SessionListPage, SessionQuery, parse_session_query
from unspool.app.status_banner import app_status
from unspool.errors import NotFound, UnspoolError
from unspool.site.session_head import Tile
from unspool.store.archive.database import ARCHIVE, INDEX
from unspool.store.index.billing import UsageCondition, UsageSum, add_sums
from unspool.store.index.times import day_start, first_day
from unspool.store.library.library import discover_logs, usual_roots
from unspool.web.pages import answer_form, read_form


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


_DAYS = 30
_ACTIVE = "SELECT count(DISTINCT key) FROM session WHERE ended >= ? AND kind NOT IN ('empty', 'stub')"


class DayBar(NamedTuple):
    """A day of the last thirty: its height in parts of a hundred, and what it stands for."""

    height: int
    words: str


def spending_tiles(db: apsw.Connection, zone: tzinfo | None, now: float) -> tuple[Tile, ...]:
    """Today, this week, the week's tokens."""
    here = current_day(now, zone)
    day, week = day_start(here, zone), day_start(first_day("week", here), zone)
    spent, weekly = _spent(db, day), _spent(db, week)
    cached = f"{weekly.cached:.0%} from cache" if weekly.cached else ""
    return (
        _tile("Today", spent, _count(db, day)),
        _tile("This week", weekly, _count(db, week)),
        Tile("Tokens this week", human.tokens(weekly.total), cached, f"{weekly.total:,}"),
    )


def day_bars(db: apsw.Connection, zone: tzinfo | None, now: float) -> tuple[DayBar, ...]:
    """Sessions a day over the last days; none where there were none."""
    last = current_day(now, zone)
    first = last - timedelta(days=_DAYS - 1)
    ended = db.execute("SELECT ended FROM session WHERE ended >= ? AND kind <> 'ghost'", (day_start(first, zone),))
    days = Counter[date | None](day_of(second, zone) for (second,) in ended)
    most = max(days.values(), default=0)
    if not most:
        return ()
    every = (first + timedelta(days=at) for at in range(_DAYS))
    return tuple(
        DayBar(max(4, round(100 * days[one] / most)) if days[one] else 0, _told(one, days[one])) for one in every
    )


def _told(day: date, number: int) -> str:
    return f"{day.isoformat()}: {human.count(number, 'session')}"


def _tile(name: str, spent: UsageSum, sessions: int) -> Tile:
    said = human.count(sessions, "session")
    return Tile(name, format_dollars(spent.cost, floor=spent.floor) or "$0.00", said, f"{said}, at list prices")


def _count(db: apsw.Connection, since: float) -> int:
    number: int = db.execute(_ACTIVE, (since,)).get
    return number


def _spent(db: apsw.Connection, since: float) -> UsageSum:
    """What requests since a moment used. Only sessions that reach beyond it are looked at, for they are few."""
    where = UsageCondition("time >= ? AND session IN (SELECT id FROM session WHERE ended >= ?)", (since, since))
    rows = [figures for _, *figures in add_sums(db, ("terms",), where)]
    return UsageSum(*map(sum, zip(*rows, strict=True))) if rows else UsageSum()


def archive_facts(scene: ListRequest, synced: str) -> tuple[tuple[str, str, str], ...]:
    """What stands before a figure, the figure, what stands after it."""
    told = []
    size: int = scene.db.execute("SELECT coalesce(sum(size), 0) FROM log").get
    kept = _size(scene.desk.folder / ARCHIVE)
    if kept and size:
        told.append(("archive", human.size(kept), f"of {human.size(size)} of logs"))
    if synced:
        told.append(("last sync", time_ago(float(synced), scene.now), ""))
    hidden = len(scene.said.hidden)
    if hidden:
        told.append(("", human.count(hidden, "project"), "hidden"))
    return tuple(told)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


_PATIENCE = 120
_AGAIN = "2"
"""Seconds after which a page that waits for the first sessions asks again."""


class SourceFolder(NamedTuple):
    """A folder that is read."""

    path: str
    there: bool


def welcome_page(request: Request) -> HTMLResponse:
    """The page of somebody who has no sessions here yet."""
    desk: AppContext = request.app.state.desk
    roots = desk.sources or tuple(usual_roots())
    logs = _count_logs(desk)
    body = render.render_template(
        "first.html",
        places=[SourceFolder(str(root), root.is_dir()) for root in roots],
        logs=logs,
        archive=str(desk.folder),
        read_only=request.app.state.read_only,
    )
    response = render.render_page(request, "Welcome", body, (render.HOME,), ("app.css",))
    if logs and request.app.state.background is not None and not request.app.state.read_only:
        response.headers["Refresh"] = _AGAIN
    return response


def _count_logs(desk: AppContext) -> int:
    """How many logs there are to be read; none where that cannot be told."""
    try:
        return len(discover_logs(desk.here))
    except UnspoolError:
        return 0


def or_welcome_page(page: Callable[[Request], HTMLResponse]) -> Callable[[Request], HTMLResponse]:
    """A page that needs the index; before there is one, the page of a first run is in its place."""

    @wraps(page)
    def asked(request: Request) -> HTMLResponse:
        there = (request.app.state.desk.folder / INDEX).exists()
        return page(request) if there else welcome_page(request)

    return asked


async def show_demo(request: Request) -> Response:
    """Show the demo's sessions instead, from an archive of their own."""
    state = request.app.state
    if not is_demo(request):
        made = await run_sync(_demo)
        if not is_demo(request):  # somebody else may have been quicker
            state.own_desk, state.desk = state.desk, made
    return RedirectResponse("/", 303)


async def leave_demo(request: Request) -> Response:
    """Go back from the demo."""
    state = request.app.state
    if is_demo(request):
        state.desk, state.own_desk = state.own_desk, None
    return RedirectResponse("/", 303)


def is_demo(request: Request) -> bool:
    """Whether what is shown is the demo."""
    return request.app.state.own_desk is not None


def _demo() -> AppContext:
    """A desk of the demo. It is synced by a process of its own, for a sync forks, which threads forbid."""
    from unspool.demo import write_demo

    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unspool"
    source, folder = write_demo(base / "demo"), base / "demo-archive"
    command = [sys.executable, "-m", "unspool", "sync", "--archive", str(folder), "--source", str(source)]
    try:
        synced = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise UnspoolError(f"The demo could not be made: {problem}.") from None
    if synced.returncode:
        raise UnspoolError(f"The demo could not be made: {synced.stderr.strip()[-300:]}")
    return AppContext(folder, (source,))


_NEWEST = 50
_ANY = "SELECT EXISTS (SELECT 1 FROM session)"


def home_page(request: Request) -> HTMLResponse:
    """The first page; where nothing is known yet, the page that says what unspool reads."""
    desk: AppContext = request.app.state.desk
    with desk.index() as index:
        if index.db.execute(_ANY).get:
            return _home(ListRequest(request, index.db), index.meta("synced"))
    return welcome_page(request)


def _home(scene: ListRequest, synced: str) -> HTMLResponse:
    request, asked = scene.request, SessionQuery()
    page = scene.listing.page(asked, _NEWEST)
    active = scene.listing.between(scene.now - ACTIVE_SECONDS, scene.now + ACTIVE_SECONDS)
    body = render.render_template(
        "home.html",
        title=_title(page, app_status(request).busy),
        facts=archive_facts(scene, synced),
        demo=is_demo(request),
        tiles=spending_tiles(scene.db, scene.zone, scene.now),
        bars=day_bars(scene.db, scene.zone, scene.now),
        groups=facet_groups(scene, asked, page),
        saved=scene.said.saved,
        active=scene.days(active, by_day=False, style="clock"),
        days=scene.days([row for row in page.rows if row not in active]),
        more=page.total > len(page.rows),
        total=page.total,
        notes=tuple(scene.notes),
        here="/",
        read_only=scene.read_only,
    )
    return render.render_page(request, "unspool", body, (), ("app.css",), ("browse.js",))


def _title(page: SessionListPage, busy: bool) -> str:
    return f"{human.count(page.total, 'session')}, {'so far' if busy else 'all kept'}"


ROUTES = [
    Route("/", or_welcome_page(home_page), methods=["GET"]),
    Route("/sessions", or_welcome_page(sessions_page), methods=["GET"]),
    Route("/projects", or_welcome_page(projects_page), methods=["GET"]),
    Route("/projects/{slug}", project_page, methods=["GET"]),
    Route("/projects/{slug}/hide", hide_project, methods=["POST"]),
    Route("/demo", show_demo, methods=["POST"]),
    Route("/demo/leave", leave_demo, methods=["POST"]),
]
