"""The first page, and the pages of projects."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, timedelta, tzinfo
from functools import wraps
from pathlib import Path

import apsw
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import render
from unspool.app.charts import DayFigure, year_chart
from unspool.app.context import AppContext
from unspool.app.marks import get_mark_store
from unspool.app.project_list import PROJECT_SORTS, ProjectFigures, ProjectList
from unspool.app.session_list import (
    ListRequest,
    facet_groups,
    format_dollars,
    list_values,
    sessions_page,
    time_ago,
    time_markup,
)
from unspool.app.session_query import SessionQuery, parse_session_query
from unspool.errors import NotFound, UnspoolError
from unspool.figures import tell_ends
from unspool.site.session_head import Tile
from unspool.site.session_rows import SessionDay
from unspool.store.archive.database import ARCHIVE, INDEX
from unspool.store.index.billing import UsageSum, add_sums
from unspool.store.index.conditions import IS_LISTED, SqlCondition
from unspool.store.index.times import day_start, first_day, local_time
from unspool.store.library.discover import discover_logs, usual_roots
from unspool.web.pages import answer_form, read_form


def projects_page(request: Request) -> HTMLResponse:
    """Every project; `q` narrows them, `sort` orders them."""
    part, sort = request.query_params.get("q", "")[:200], request.query_params.get("sort", "")
    sort = sort if sort in PROJECT_SORTS else "newest"
    with request.app.state.context.index() as index:
        listing = ListRequest(request, index.db)
        hidden, listed = listing.marks.hidden, listing.projects.sorted(sort, part)
        body = render.render_template(
            "projects.html",
            title=human.count(sum(one.path not in hidden for one in listing.projects.projects.values()), "project"),
            shown=[_project_values(one, listing) for one in listed if one.path not in hidden],
            hidden=[_project_values(one, listing) for one in listed if one.path in hidden],
            part=part,
            sort=sort,
            sorts=PROJECT_SORTS,
            here=listing.here,
            read_only=listing.read_only,
            notes=tuple(listing.notes),
        )
    return render.render_page(request, "All projects", body, (render.HOME,), ("app.css",), ("browse.js", "list.js"))


def project_page(request: Request) -> HTMLResponse:
    slug, given = request.path_params["slug"], parse_session_query(request.query_params)
    query = SessionQuery(project=slug, kind=given.kind, sort=given.sort, page=given.page)
    with request.app.state.context.index() as index:
        listing = ListRequest(request, index.db)
        one = find_project(listing.projects, slug)
        body = render.render_template(
            "project.html",
            project=_project_values(one, listing),
            tiles=(
                Tile("Sessions", f"{one.sessions:,}"),
                Tile("Prompts", f"{one.turns:,}"),
                Tile("Tool calls", f"{one.calls:,}", tell_ends(one.ends)),
                Tile("Cost", format_dollars(one.cost, floor=bool(one.unpriced)) or "unknown", "at list prices"),
            ),
            hidden=one.path in listing.marks.hidden,
            **list_values(listing, query, listing.finder.page(query)),
        )
    crumbs = (render.HOME, render.nav_link("projects"))
    return render.render_page(request, one.name, body, crumbs, ("app.css",), ("browse.js", "list.js"))


def find_project(projects: ProjectList, slug: str) -> ProjectFigures:
    if slug not in projects.projects:
        raise NotFound("There is no such project.")
    return projects.projects[slug]


def _project_values(one: ProjectFigures, listing: ListRequest) -> dict[str, object]:
    return {
        "slug": one.slug,
        "name": listing.projects.label(one.path),
        "path": one.path,
        "sessions": human.count(one.sessions, "session"),
        "facts": (human.count(one.turns, "prompt"), *([human.count(one.calls, "call")] if one.calls else [])),
        "failures": tell_ends(one.ends),
        "cost": format_dollars(one.cost, floor=bool(one.unpriced)),
        "latest": time_markup(one.latest, listing.zone, "day"),
    }


async def hide_project(request: Request) -> Response:
    sent, slug, context = await read_form(request), request.path_params["slug"], request.app.state.context
    hidden = sent.get("hidden") == "1"

    def hide() -> None:
        with context.index() as index:
            path = find_project(ProjectList.of(index.db), slug).path
        get_mark_store(context).hide(path, hidden)

    await run_sync(hide)
    return answer_form(request, sent, "/projects", {"hidden": hidden})


_DAYS, _YEAR = 30, 53 * 7
_ACTIVE = f"SELECT count(*) FROM session WHERE ended >= ? AND {IS_LISTED}"  # noqa: S608  no value


def spending_tiles(db: apsw.Connection, zone: tzinfo | None, now: float) -> tuple[Tile, ...]:
    """What the two shortest of some stretches of time cost in which there was anything, and the longer one's tokens."""
    today = local_time(now, zone).date()
    firsts = (
        ("today", today), ("this week", first_day("week", today)), ("in 30 days", today - timedelta(days=_DAYS)),
        ("in a year", today - timedelta(days=365)), ("in all", date(1970, 1, 2)),
    )  # fmt: skip
    tiles: list[Tile] = []
    for name, first in firsts:
        since = day_start(first, zone)
        active: int = db.execute(_ACTIVE, (since,)).get
        if not active:
            continue
        # only sessions that reach beyond the moment are looked at, for they are few
        where = SqlCondition("time >= ? AND session IN (SELECT id FROM session WHERE ended >= ?)", (since, since))
        rows = [figures for _, *figures in add_sums(db, ("terms",), where)]
        spent = UsageSum(*map(sum, zip(*rows, strict=True))) if rows else UsageSum()
        sessions = human.count(active, "session")
        cost = format_dollars(spent.cost, floor=spent.floor) or "$0.00"
        tiles.append(Tile(f"{name[0].upper()}{name[1:]}", cost, sessions, f"{sessions}, at list prices"))
        if len(tiles) == 2 or name == "in all":
            cached = f"{spent.cached:.0%} from cache" if spent.cached else ""
            tiles.append(Tile(f"Tokens {name}", human.tokens(spent.total), cached, f"{spent.total:,}"))
            break
    return tuple(tiles)


_ENDED = f"SELECT coalesce(ended, started) FROM session WHERE coalesce(ended, started) >= ? AND {IS_LISTED}"  # noqa: S608  no value


def sessions_by_day(db: apsw.Connection, zone: tzinfo | None, today: date, project: str = "") -> dict[date, DayFigure]:
    """Sessions of the last twelve months by the day that lists have them under; of a `project` where one is named."""
    since = day_start(today - timedelta(days=_YEAR), zone)
    query, values = (f"{_ENDED} AND project = ?", (since, project)) if project else (_ENDED, (since,))
    days = Counter(local_time(second, zone).date() for (second,) in db.execute(query, values))
    return {day: DayFigure(number, human.count(number, "session")) for day, number in days.items()}


def archive_facts(listing: ListRequest, synced: str) -> Iterator[tuple[str, str, str]]:
    """What stands before a figure, the figure, what stands after it."""
    size: int = listing.db.execute("SELECT coalesce(sum(size), 0) FROM log").get
    with suppress(OSError):
        kept = (listing.context.folder / ARCHIVE).stat().st_size
        if kept and size:
            yield "archive", human.size(kept), f"of {human.size(size)} of logs"
    if synced:
        yield "last sync", time_ago(float(synced), listing.now), ""
    if listing.marks.hidden:
        yield "", human.count(len(listing.marks.hidden), "project"), "hidden"


_PATIENCE = 120
_AGAIN = "2"
"""Seconds after which a page that waits for the first sessions asks again."""


def welcome_page(request: Request) -> HTMLResponse:
    """The page of somebody who has no sessions here yet."""
    state, context = request.app.state, request.app.state.context
    logs = 0
    with suppress(UnspoolError):
        logs = len(discover_logs(context.here))
    roots = context.sources or usual_roots()
    body = render.render_template(
        "first.html",
        there=[str(root) for root in roots if root.is_dir()],
        absent=[str(root) for root in roots if not root.is_dir()],
        logs=logs,
        archive=str(context.folder),
        read_only=state.read_only,
    )
    response = render.render_page(request, "Welcome", body, (render.HOME,), ("app.css",))
    if logs and state.background is not None and not state.read_only:
        response.headers["Refresh"] = _AGAIN
    return response


def or_welcome_page(page: Callable[[Request], HTMLResponse]) -> Callable[[Request], HTMLResponse]:
    """A page that needs the index; before there is one, the page of a first run is in its place."""

    @wraps(page)
    def page_or_welcome(request: Request) -> HTMLResponse:
        there = (request.app.state.context.folder / INDEX).exists()
        return page(request) if there else welcome_page(request)

    return page_or_welcome


async def show_demo(request: Request) -> Response:
    """Show the demo's sessions instead, from an archive of their own."""
    state = request.app.state
    if state.own_context is None:
        made = await run_sync(_demo)
        if state.own_context is None:  # somebody else may have been quicker
            state.own_context, state.context = state.context, made
    return RedirectResponse("/", 303)


async def leave_demo(request: Request) -> Response:
    state = request.app.state
    if state.own_context is not None:
        state.context, state.own_context = state.own_context, None
    return RedirectResponse("/", 303)


def _demo() -> AppContext:
    """The context of the demo. It is synced by a process of its own, for a sync forks, which threads forbid."""
    from unspool.demo import write_demo

    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unspool"
    source, folder = write_demo(base / "demo", others=True), base / "demo-archive"
    command = [sys.executable, "-m", "unspool", "sync", "--archive", str(folder), "--source", str(source)]
    try:
        synced = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise UnspoolError(f"The demo could not be made: {problem}.") from None
    if synced.returncode:
        raise UnspoolError(f"The demo could not be made: {synced.stderr.strip()[-300:]}")
    return AppContext(folder, (source,))


_NEWEST = 50


def home_page(request: Request) -> HTMLResponse:
    """The first page; where nothing is known yet, the page that says what unspool reads."""
    with request.app.state.context.index() as index:
        if not index.db.execute("SELECT EXISTS (SELECT 1 FROM session)").get:
            return welcome_page(request)
        listing, query, busy = ListRequest(request, index.db), SessionQuery(), render.app_status(request).busy
        found = listing.finder.page(query, _NEWEST)
        active = [row for row in found.rows if listing.is_active(row)]
        today = local_time(listing.now, listing.zone).date()
        body = render.render_template(
            "home.html",
            title=f"{human.count(found.total, 'session')}, {'so far' if busy else 'all kept'}",
            facts=tuple(archive_facts(listing, index.meta("synced"))),
            demo=request.app.state.own_context is not None,
            tiles=spending_tiles(index.db, listing.zone, listing.now),
            year=year_chart(sessions_by_day(index.db, listing.zone, today), today),
            groups=facet_groups(listing, query, found),
            saved=listing.marks.saved,
            active=[SessionDay("", listing.listed(active))] if active else [],
            days=listing.days([row for row in found.rows if not listing.is_active(row)]),
            more=found.total > len(found.rows),
            total=found.total,
            notes=tuple(listing.notes),
            here="/",
            read_only=listing.read_only,
        )
    return render.render_page(request, "unspool", body, (), ("app.css", "stats.css"), ("browse.js",))


ROUTES = [
    Route("/", or_welcome_page(home_page), methods=["GET"]),
    Route("/sessions", or_welcome_page(sessions_page), methods=["GET"]),
    Route("/projects", or_welcome_page(projects_page), methods=["GET"]),
    Route("/projects/{slug}", project_page, methods=["GET"]),
    Route("/projects/{slug}/hide", hide_project, methods=["POST"]),
    Route("/demo", show_demo, methods=["POST"]),
    Route("/demo/leave", leave_demo, methods=["POST"]),
]
