"""`/s/{key}/context`: what filled the window of a session, turn by turn and by kind, with its compactions."""

from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import render, stats_data
from unspool.app.charts import stacks, window_now
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, get_session
from unspool.app.stats_tables import StatsTable, TableCell, bar_lengths, count_cell, table_to_csv, text_cell
from unspool.figures.context_window import ContextWindow, context_window, request_windows
from unspool.model.request import RecordedRequests
from unspool.render.html.elements import HtmlOptions
from unspool.render.html.nodes import nodes_html
from unspool.render.transcript import request_nodes
from unspool.site import summaries
from unspool.site.page_template import Crumb
from unspool.site.session_head import Tile

_LISTED = 500
"""Requests that a page lists, the newest."""


def context_window_page(request: Request) -> HTMLResponse:
    """The window of a session."""
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    recorded = context.library().requests(told.found)
    filled = context_window(told.session, recorded)
    body = render.render_template(
        "window.html",
        title=told.session.title,
        tiles=_tiles(filled),
        stacks=stacks(filled, told.addresses(context.options)),
        now=window_now(filled),
        tables=_tables(told, filled, context),
        requests=_requests(told, recorded),
        measured=filled.now is not None and filled.now.measured,
        exact=filled.now is not None and filled.now.exact,
    )
    crumbs = (render.HOME, Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"))
    return render.render_page(request, "Context window", body, crumbs, styles=("find.css", "stats.css", "kinds.css"))


def context_csv(request: Request) -> Response:
    """One of its tables as CSV."""
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    filled = context_window(told.session, context.library().requests(told.found))
    found = _tables(told, filled, context).get(request.path_params["name"])
    if found is None:
        return Response("There is no such table.", 404, media_type="text/plain")
    headers = {"Content-Disposition": f'attachment; filename="unspool-{found.name}.csv"'}
    return Response(table_to_csv(found).encode(errors="replace"), media_type="text/csv; charset=utf-8", headers=headers)


def request_page(request: Request) -> Response:
    """One request, exactly as it went to the model."""
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    recorded = context.library().requests(told.found)
    found = recorded.get(request.path_params["request"]) if recorded else None
    if found is None:
        return Response("The log keeps no such request.", 404, media_type="text/plain")
    body = render.render_template("request.html", inside=Markup(nodes_html(request_nodes(found, None), HtmlOptions())))  # noqa: S704  a writer's markup
    crumbs = (
        render.HOME,
        Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"),
        Crumb("Context window", f"s/{quote(told.session.id, safe='')}/context"),
    )
    return render.render_page(request, "Request", body, crumbs, styles=("find.css", "stats.css"))


def _requests(told: OpenSession, recorded: RecordedRequests | None) -> StatsTable | None:
    """The requests that the log keeps, the newest first, each with a link to all of it."""
    if not recorded:
        return None
    windows = {one.message: one for one in request_windows(told.session, recorded)}
    answers = {one.request: windows.get(one.id) for one in told.session.messages if one.request}
    rows = []
    for name in reversed(list(recorded)[-_LISTED:]):
        found, window = recorded.get(name), answers.get(name)
        if found is None:
            continue
        rows.append(
            (
                text_cell(human.moment(found.time, None) or name[:8], f"request/{quote(name, safe='')}"),
                TableCell(str(window.turn) if window is not None else found.purpose, window.turn if window else ""),
                count_cell(len(found.messages)),
                count_cell(window.total) if window is not None else TableCell("", ""),
            )
        )
    return StatsTable(
        "requests", "Requests, exactly", ("sent", "turn or purpose", "messages", "tokens"), tuple(rows), ()
    )


def _tables(told: OpenSession, filled: ContextWindow, context: AppContext) -> dict[str, StatsTable]:
    found = (_kinds(filled), _turns(told, filled, context), _tools(filled))
    return {table.name: table for table in found}


def _tiles(filled: ContextWindow) -> list[Tile]:
    if filled.now is None:
        return []
    size = f"of {human.tokens(filled.window)}" if filled.window else "of a window of unknown size"
    share = stats_data.format_share(filled.share)
    return [
        Tile("At the end", human.tokens(filled.now.total), size, f"{filled.now.total:,}"),
        *([Tile("Of the window", share, filled.now.model)] if share else []),
        Tile("At its fullest", human.tokens(filled.peak), "", f"{filled.peak:,}"),
        Tile("Compactions", f"{filled.compactions:,}", "emptied it" if filled.compactions else ""),
    ]


def _kinds(filled: ContextWindow) -> StatsTable:
    found = filled.now
    rows = sorted(found.kinds.items(), key=lambda row: -row[1]) if found is not None else []
    if found is not None and found.measured and not found.exact:
        rows.append(("unaccounted", found.unaccounted))
    whole = found.total if found is not None else 0
    cells = tuple(
        (
            text_cell(name),
            count_cell(tokens),
            TableCell(stats_data.format_share(tokens / whole), round(tokens / whole, 4)),
        )
        for name, tokens in rows
        if whole
    )
    return StatsTable(
        "kinds", "By kind, at the end", ("kind", "tokens", "share"), cells, bar_lengths([n for _, n in rows])
    )


def _turns(told: OpenSession, filled: ContextWindow, context: AppContext) -> StatsTable:
    prompts = {turn.number: turn.prompt for turn in told.session.turns}
    addresses = told.addresses(context.options)
    rows = tuple(
        (
            text_cell(f"{turn.number} {summaries.prompt_line(prompts[turn.number])}", addresses.turn(turn.number)),
            count_cell(turn.tokens),
            text_cell(max(turn.added, key=turn.added.__getitem__, default="")),
            TableCell("", "") if turn.window is None else count_cell(turn.window.total),
            count_cell(turn.compactions),
        )
        for turn in filled.turns
    )
    bars = bar_lengths([turn.tokens for turn in filled.turns])
    return StatsTable("turns", "By turn", ("turn", "added", "mostly", "in the window", "compactions"), rows, bars)


def _tools(filled: ContextWindow) -> StatsTable:
    rows = tuple(
        (text_cell(one.name), count_cell(one.tokens), *map(count_cell, (one.input, one.output))) for one in filled.tools
    )
    heads = ("tool", "tokens", "asked", "answered")
    return StatsTable("tools", "By tool, at the end", heads, rows, bar_lengths([one.tokens for one in filled.tools]))


ROUTES = [
    Route("/s/{key}/context", context_window_page),
    Route("/s/{key}/context/{name}.csv", context_csv),
    Route("/s/{key}/request/{request}", request_page),
]
