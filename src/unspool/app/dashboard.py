"""`/stats`: what all sessions add up to, as pictures, tables and CSV files."""

import time
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import charts, render, stats_data
from unspool.app.marks import custom_titles
from unspool.app.search_results import folder_name
from unspool.app.stats_data import (
    SPANS,
    DashboardCache,
    DashboardData,
    StatsSpan,
    parse_span,
    today_in_zone,
    with_custom_titles,
)
from unspool.app.stats_tables import TABLES, table_to_csv
from unspool.render.html.elements import visible
from unspool.site.session_head import Tile
from unspool.store.index import billing

if TYPE_CHECKING:
    from unspool.app.context import AppContext

_GATHERED = DashboardCache()
_PROJECTS = 60


class DashboardChoice(NamedTuple):
    """A way to look at other figures."""

    text: str
    href: str
    chosen: bool
    about: str = ""


def dashboard_page(request: Request) -> HTMLResponse:
    asked = parse_span(request.query_params)
    found = _board(request, asked)
    total = found.stats.sum
    body = render.render_template(
        "stats.html",
        span=asked,
        spans=_spans(asked),
        projects=_projects(request, asked),
        tiles=_tiles(found),
        bars=charts.charts_over_time(found),
        week=charts.week_chart(found),
        sent=charts.cache_chart(total),
        filled=charts.filling_chart(found),
        compactions=found.stats.totals.compactions,
        tables={name: make(found) for name, make in TABLES.items()},
        notes=billing.usage_notes(total, found.stats.models, found.stats.untimed, visible),
        empty=not found.stats.totals.sessions and not total.requests,
    )
    return render.render_page(request, "Stats", body, styles=("find.css", "stats.css", "kinds.css"))


def dashboard_csv(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in TABLES:
        return Response("There is no such table.", 404, media_type="text/plain")
    text = table_to_csv(TABLES[name](_board(request, parse_span(request.query_params))))
    headers = {"Content-Disposition": f'attachment; filename="unspool-{name}.csv"'}
    return Response(text.encode(errors="replace"), media_type="text/csv; charset=utf-8", headers=headers)


def _board(request: Request, asked: StatsSpan) -> DashboardData:
    context: AppContext = request.app.state.context
    day = today_in_zone()
    with context.index() as index:
        return with_custom_titles(_GATHERED.board(index, asked.wanted(day), day, time.time()), custom_titles(context))


def _spans(asked: StatsSpan) -> list[DashboardChoice]:
    plain = asked._replace(days=0, since="", until="", note="")
    found = [DashboardChoice("all time", plain.href, asked.days == 0 and not asked.since and not asked.until)]
    return found + [DashboardChoice(said, plain._replace(days=days).href, asked.days == days) for days, said in SPANS]


def _projects(request: Request, asked: StatsSpan) -> list[DashboardChoice]:
    with request.app.state.context.index() as index:
        sql = "SELECT project FROM session WHERE project <> '' GROUP BY 1 ORDER BY max(ended) DESC LIMIT ?"
        known = [project for (project,) in index.db.execute(sql, (_PROJECTS,))]
    found = [DashboardChoice("all projects", asked._replace(project="").href, not asked.project)]
    return found + [
        DashboardChoice(folder_name(one), asked._replace(project=one).href, one == asked.project, visible(one))
        for one in known
    ]


def _tiles(found: DashboardData) -> list[Tile]:
    """The figures that are read first."""
    totals, used, streak = found.stats.totals, found.stats.sum, found.stats.streak
    tiles = [
        Tile("Today", billing.format_spent(found.today.sum), human.count(found.today.sessions, "session")),
        Tile("This week", billing.format_spent(found.week.sum), human.count(found.week.sessions, "session")),
    ]
    if found.block is not None:
        pace = found.block.pace
        tiles.append(
            Tile(
                "These 5 hours",
                billing.format_spent(found.block.sum),
                f"→ {billing.format_money(pace.cost)}" if pace else "",
            )
        )
    failed = stats_data.format_share(totals.tool_errors / totals.tool_calls) if totals.tool_calls else ""
    tiles += [
        Tile("Sessions", f"{totals.sessions:,}", f"in {human.count(totals.projects, 'project')}"),
        Tile("Prompts", f"{totals.turns:,}", human.count(totals.messages, "message")),
        Tile("Tokens", stats_data.format_tokens(used), human.count(used.requests, "request"), f"{used.total:,}"),
        Tile("Cost", billing.format_spent(used), "at list prices"),
        Tile("From cache", stats_data.format_share(used.cached) or "–", "of what was sent"),
        Tile("Tool calls", f"{totals.tool_calls:,}", f"{failed} failed" if failed else ""),
        Tile("Files touched", f"{totals.files:,}", human.count(totals.commits, "commit")),
        Tile(
            "Active days", f"{streak.days:,}", f"{human.count(streak.longest, 'day')} in a row" if streak.days else ""
        ),
    ]
    return tiles


ROUTES = [Route("/stats", dashboard_page), Route("/stats/{name}.csv", dashboard_csv)]
