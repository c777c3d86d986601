"""`/stats`: what all sessions add up to, as pictures, tables and CSV files."""

import time
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import render
from unspool.app.find.shown import folder_name
from unspool.app.marks.desk import own_titles
from unspool.app.understand import charts, figures
from unspool.app.understand.gather import Board, Gathered, renamed
from unspool.app.understand.span import SPANS, Span, span, today
from unspool.app.understand.tables import TABLES, as_csv
from unspool.export.html.escape import visible
from unspool.index import said
from unspool.site.statistics import Tile

if TYPE_CHECKING:
    from unspool.app.desk import Desk

_GATHERED = Gathered()
_PROJECTS = 60


class Choice(NamedTuple):
    """A way to look at other figures."""

    text: str
    href: str
    chosen: bool
    about: str = ""


def page(request: Request) -> HTMLResponse:
    """The dashboard."""
    asked = span(request.query_params)
    found = _board(request, asked)
    total = found.stats.sum
    body = render.render(
        "stats.html",
        span=asked,
        spans=_spans(asked),
        projects=_projects(request, asked),
        tiles=_tiles(found),
        bars=charts.over_time(found),
        week=charts.week(found),
        sent=charts.sent(total),
        filled=charts.filled(found),
        compactions=found.stats.totals.compactions,
        tables={name: make(found) for name, make in TABLES.items()},
        notes=said.notes(total, found.stats.models, found.stats.untimed, visible),
        empty=not found.stats.totals.sessions and not total.requests,
    )
    return render.page(request, "Stats", body, styles=("find.css", "stats.css", "kinds.css"))


def table(request: Request) -> Response:
    """One table as CSV."""
    name = request.path_params["name"]
    if name not in TABLES:
        return Response("There is no such table.", 404, media_type="text/plain")
    text = as_csv(TABLES[name](_board(request, span(request.query_params))))
    headers = {"Content-Disposition": f'attachment; filename="unspool-{name}.csv"'}
    return Response(text.encode(errors="replace"), media_type="text/csv; charset=utf-8", headers=headers)


def _board(request: Request, asked: Span) -> Board:
    desk: Desk = request.app.state.desk
    day = today()
    with desk.index() as index:
        return renamed(_GATHERED.board(index, asked.wanted(day), day, time.time()), own_titles(desk))


def _spans(asked: Span) -> list[Choice]:
    plain = asked._replace(days=0, since="", until="", note="")
    found = [Choice("all time", plain.href, asked.days == 0 and not asked.since and not asked.until)]
    return found + [Choice(said, plain._replace(days=days).href, asked.days == days) for days, said in SPANS]


def _projects(request: Request, asked: Span) -> list[Choice]:
    with request.app.state.desk.index() as index:
        sql = "SELECT project FROM session WHERE project <> '' GROUP BY 1 ORDER BY max(ended) DESC LIMIT ?"
        known = [project for (project,) in index.db.execute(sql, (_PROJECTS,))]
    found = [Choice("all projects", asked._replace(project="").href, not asked.project)]
    return found + [
        Choice(folder_name(one), asked._replace(project=one).href, one == asked.project, visible(one)) for one in known
    ]


def _tiles(found: Board) -> list[Tile]:
    """The figures that are read first."""
    totals, used, streak = found.stats.totals, found.stats.sum, found.stats.streak
    tiles = [
        Tile("Today", said.spent(found.today.sum), human.count(found.today.sessions, "session")),
        Tile("This week", said.spent(found.week.sum), human.count(found.week.sessions, "session")),
    ]
    if found.block is not None:
        pace = found.block.pace
        tiles.append(Tile("These 5 hours", said.spent(found.block.sum), f"→ {said.money(pace.cost)}" if pace else ""))
    failed = figures.share(totals.tool_errors / totals.tool_calls) if totals.tool_calls else ""
    tiles += [
        Tile("Sessions", f"{totals.sessions:,}", f"in {human.count(totals.projects, 'project')}"),
        Tile("Prompts", f"{totals.turns:,}", human.count(totals.messages, "message")),
        Tile("Tokens", figures.tokens(used), human.count(used.requests, "request"), f"{used.total:,}"),
        Tile("Cost", said.spent(used), "at list prices"),
        Tile("From cache", figures.share(used.cached) or "–", "of what was sent"),
        Tile("Tool calls", f"{totals.tool_calls:,}", f"{failed} failed" if failed else ""),
        Tile("Files touched", f"{totals.files:,}", human.count(totals.commits, "commit")),
        Tile(
            "Active days", f"{streak.days:,}", f"{human.count(streak.longest, 'day')} in a row" if streak.days else ""
        ),
    ]
    return tiles


ROUTES = [Route("/stats", page), Route("/stats/{name}.csv", table)]
