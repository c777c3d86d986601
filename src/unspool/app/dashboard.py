"""`/stats`: what all sessions add up to, as pictures, tables and CSV files."""

import time
from datetime import date

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import charts
from unspool.app.home import sessions_by_day
from unspool.app.marks import custom_titles
from unspool.app.render import LinkChoice, render_page, render_template
from unspool.app.search_results import folder_name
from unspool.app.stats_data import (
    SPANS,
    DashboardCache,
    DashboardData,
    StatsSpan,
    format_share,
    format_tokens,
    parse_span,
    today_in_zone,
    with_custom_titles,
)
from unspool.app.stats_tables import TABLES, csv_response
from unspool.figures import tell_ends
from unspool.render.html.elements import visible
from unspool.site.session_head import Tile
from unspool.store.index import billing

_DASHBOARDS = DashboardCache()
_PROJECTS = 60


def dashboard_page(request: Request) -> HTMLResponse:
    span = parse_span(request.query_params)
    found = _dashboard_data(request, span)
    total, shade = found.stats.sum, request.query_params.get("heat", "")
    shade = shade if shade in YEAR_SHADES else YEAR_SHADES[0]
    body = render_template(
        "stats.html",
        span=span,
        spans=_span_choices(span),
        projects=_project_choices(request, span),
        tiles=_tiles(found),
        bars=charts.charts_over_time(found),
        week=charts.week_chart(found),
        year=_year(request, span, found, shade),
        shades=[LinkChoice(name, _shaded(span, name), name == shade) for name in YEAR_SHADES],
        sent=charts.cache_chart(total),
        filled=charts.chart_parts([(one.name, one.tokens) for one in found.stats.filled]),
        compactions=found.stats.totals.compactions,
        tables={name: make(found) for name, make in TABLES.items()},
        notes=billing.usage_notes(total, found.stats.models, found.stats.untimed, visible),
        empty=not found.stats.totals.sessions and not total.requests,
    )
    return render_page(request, "Stats", body, styles=("find.css", "stats.css", "kinds.css"))


YEAR_SHADES = ("sessions", "tokens", "cost")
"""What days of the year are shaded by."""


def _year(request: Request, span: StatsSpan, found: DashboardData, shade: str) -> charts.YearChart | None:
    today = today_in_zone()
    if shade == "sessions":
        with request.app.state.context.index() as index:
            days = sessions_by_day(index.db, found.zone, today, span.project)
    else:
        spent = {date.fromisoformat(row.key): row.sum for row in found.stats.daily if row.key}
        costs = {day: charts.DayFigure(one.cost, billing.format_spent(one)) for day, one in spent.items()}
        tokens = {day: charts.DayFigure(one.total, f"{format_tokens(one)} tokens") for day, one in spent.items()}
        days = costs if shade == "cost" else tokens
    return charts.year_chart(days, today, span.project)


def _shaded(span: StatsSpan, shade: str) -> str:
    return f"/stats?{'&'.join(filter(None, (span.query, f'heat={shade}')))}#year"


def dashboard_csv(request: Request) -> Response:
    make = TABLES.get(request.path_params["name"])
    return csv_response(make(_dashboard_data(request, parse_span(request.query_params))) if make else None)


def _dashboard_data(request: Request, span: StatsSpan) -> DashboardData:
    context = request.app.state.context
    day = today_in_zone()
    with context.index() as index:
        return with_custom_titles(_DASHBOARDS.board(index, span.wanted(day), day, time.time()), custom_titles(context))


def _span_choices(span: StatsSpan) -> list[LinkChoice]:
    plain = span._replace(days=0, since="", until="", note="")
    every = LinkChoice("all time", plain.href, span.days == 0 and not span.since and not span.until)
    return [every, *(LinkChoice(text, plain._replace(days=days).href, span.days == days) for days, text in SPANS)]


def _project_choices(request: Request, span: StatsSpan) -> list[LinkChoice]:
    found = [LinkChoice("all projects", span._replace(project="").href, not span.project)]
    with request.app.state.context.index() as index:
        sql = "SELECT project FROM session WHERE project <> '' GROUP BY 1 ORDER BY max(ended) DESC LIMIT ?"
        for (path,) in index.db.execute(sql, (_PROJECTS,)):
            href = span._replace(project=path).href
            found.append(LinkChoice(folder_name(path), href, path == span.project, visible(path)))
    return found


def _tiles(found: DashboardData) -> list[Tile]:
    totals, used, streak = found.stats.totals, found.stats.sum, found.stats.streak
    tiles = [
        Tile(name, billing.format_spent(recent.sum), human.count(recent.sessions, "session"))
        for name, recent in (("Today", found.today), ("This week", found.week))
    ]
    if found.block is not None:
        spent, pace = found.block.sum, found.block.pace
        leads = f"→ {billing.format_money(pace.cost, floor=spent.floor)}" if pace else ""
        tiles.append(Tile("These 5 hours", billing.format_spent(spent), leads))
    failed = f"{format_share(totals.tool_errors / totals.tool_calls)} failed" if totals.tool_calls else ""
    in_a_row = f"{human.count(streak.longest, 'day')} in a row" if streak.days else ""
    return [
        *tiles,
        Tile("Sessions", f"{totals.sessions:,}", f"in {human.count(totals.projects, 'project')}"),
        Tile("Prompts", f"{totals.turns:,}", human.count(totals.messages, "message")),
        Tile("Tokens", format_tokens(used), human.count(used.requests, "request"), f"{used.total:,}"),
        Tile("Cost", billing.format_spent(used), "at list prices"),
        Tile("From cache", format_share(used.cached) or "–", "of what was sent"),
        Tile("Tool calls", f"{totals.tool_calls:,}", failed, tell_ends(totals.ends)),
        Tile("Files touched", f"{totals.files:,}", human.count(totals.commits, "commit")),
        Tile("Active days", f"{streak.days:,}", in_a_row),
    ]


ROUTES = [Route("/stats", dashboard_page), Route("/stats/{name}.csv", dashboard_csv)]
