"""`/s/{key}/context`: what filled the window of a session, turn by turn and by kind, with its compactions."""

from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app.charts import stacks, window_now
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, requested_session
from unspool.app.render import render_page, render_template, session_crumbs
from unspool.app.stats_data import format_share
from unspool.app.stats_tables import (
    StatsTable,
    TableCell,
    count_cells,
    csv_response,
    share_cell,
    text_cell,
)
from unspool.figures.context_window import ContextWindow, context_window, request_windows
from unspool.model.request import RecordedRequests
from unspool.render.html.elements import HtmlOptions
from unspool.render.html.nodes import nodes_html
from unspool.render.transcript import request_nodes
from unspool.site import summaries
from unspool.site.page_template import Crumb
from unspool.site.session_head import Tile
from unspool.web.charts import bar_lengths

_LISTED = 500
"""Requests that a page lists, the newest."""


def context_window_page(request: Request) -> HTMLResponse:
    context, opened = requested_session(request)
    recorded = context.library().requests(opened.found)
    filled = context_window(opened.session, recorded)
    body = render_template(
        "window.html",
        title=opened.session.title,
        tiles=_tiles(filled),
        stacks=stacks(filled, opened.addresses(context.options)),
        now=window_now(filled),
        tables=_tables(opened, filled, context),
        requests=_requests_table(opened, recorded),
        measured=filled.now is not None and filled.now.measured,
        unmeasured=filled.unmeasured,
        exact=filled.now is not None and filled.now.exact,
    )
    crumbs = session_crumbs(opened.session)
    return render_page(request, "Context window", body, crumbs, styles=("find.css", "stats.css", "kinds.css"))


def context_csv(request: Request) -> Response:
    context, opened = requested_session(request)
    filled = context_window(opened.session, context.library().requests(opened.found))
    return csv_response(_tables(opened, filled, context).get(request.path_params["name"]))


def request_page(request: Request) -> Response:
    """One request, exactly as it went to the model."""
    context, opened = requested_session(request)
    recorded = context.library().requests(opened.found)
    found = recorded.get(request.path_params["request"]) if recorded else None
    if found is None:
        return Response("The log keeps no such request.", 404, media_type="text/plain")
    body = render_template("request.html", inside=Markup(nodes_html(request_nodes(found, None), HtmlOptions())))  # noqa: S704  a writer's markup
    home, session = session_crumbs(opened.session)
    crumbs = (home, session, Crumb("Context window", f"{session.href}context"))
    return render_page(request, "Request", body, crumbs, styles=("find.css", "stats.css"))


def _requests_table(opened: OpenSession, recorded: RecordedRequests | None) -> StatsTable | None:
    """The requests that the log keeps, the newest first, each with a link to all of it."""
    if not recorded:
        return None
    windows = {one.message: one for one in request_windows(opened.session, recorded)}
    answers = {one.request: windows.get(one.id) for one in opened.session.messages if one.request}
    rows = []
    for name in reversed(list(recorded)[-_LISTED:]):
        found, window = recorded.get(name), answers.get(name)
        if found is None:
            continue
        sent = text_cell(human.moment(found.time, None) or name[:8], f"request/{quote(name, safe='')}")
        turn, tokens = TableCell(found.purpose), TableCell()
        if window is not None:
            turn, (tokens,) = TableCell(str(window.turn), window.turn), count_cells(window.total)
        rows.append((sent, turn, *count_cells(len(found.messages)), tokens))
    return StatsTable("requests", "Requests, exactly", ("sent", "turn or purpose", "messages", "tokens"), rows)


def _tiles(filled: ContextWindow) -> list[Tile]:
    if filled.now is None:
        return []
    size = f"of {human.tokens(filled.window)}" if filled.window else "of a window of unknown size"
    share = format_share(filled.share)
    return [
        Tile("At the end", human.tokens(filled.now.total), size, f"{filled.now.total:,}"),
        *([Tile("Of the window", share, filled.now.model)] if share else []),
        Tile("At its fullest", human.tokens(filled.peak), "", f"{filled.peak:,}"),
        Tile("Compactions", f"{filled.compactions:,}", "emptied it" if filled.compactions else ""),
    ]


def _tables(opened: OpenSession, filled: ContextWindow, context: AppContext) -> dict[str, StatsTable]:
    tools = [(text_cell(one.name), *count_cells(one.tokens, one.input, one.output)) for one in filled.tools]
    bars = bar_lengths([one.tokens for one in filled.tools])
    return {
        "kinds": _kinds_table(filled),
        "turns": _turns_table(opened, filled, context),
        "tools": StatsTable("tools", "By tool, at the end", ("tool", "tokens", "asked", "answered"), tools, bars),
    }


def _kinds_table(filled: ContextWindow) -> StatsTable:
    found = filled.now
    kinds = sorted(found.kinds.items(), key=lambda row: -row[1]) if found is not None else []
    if found is not None and found.measured and not found.exact:
        kinds.append(("unaccounted", found.unaccounted))
    whole = found.total if found is not None else 0
    rows = [(text_cell(name), *count_cells(tokens), share_cell(tokens / whole)) for name, tokens in kinds if whole]
    bars = bar_lengths([tokens for _, tokens in kinds])
    return StatsTable("kinds", "By kind, at the end", ("kind", "tokens", "share"), rows, bars)


def _turns_table(opened: OpenSession, filled: ContextWindow, context: AppContext) -> StatsTable:
    turns = {turn.number: turn for turn in opened.session.turns}
    addresses = opened.addresses(context.options)
    rows = [
        (
            text_cell(f"{turn.number} {summaries.turn_line(turns[turn.number])}", addresses.turn(turn.number)),
            *count_cells(turn.tokens),
            text_cell(max(turn.added, key=turn.added.__getitem__, default="")),
            *((TableCell(),) if turn.window is None else count_cells(turn.window.total)),
            *count_cells(turn.compactions),
        )
        for turn in filled.turns
    ]
    bars = bar_lengths([turn.tokens for turn in filled.turns])
    return StatsTable("turns", "By turn", ("turn", "added", "mostly", "in the window", "compactions"), rows, bars)


ROUTES = [
    Route("/s/{key}/context", context_window_page),
    Route("/s/{key}/context/{name}.csv", context_csv),
    Route("/s/{key}/request/{request}", request_page),
]
