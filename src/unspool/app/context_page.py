"""`/s/{key}/context`: where the window and the money of a session went, by turn, call and kind, and what was lost."""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app.charts import window_now
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, requested_session
from unspool.app.render import render_page, render_template, session_crumbs
from unspool.app.spending_chart import SpendingChartMaker, chosen_range
from unspool.app.stats_data import format_share
from unspool.app.stats_tables import (
    Cells,
    StatsTable,
    TableCell,
    count_cells,
    csv_response,
    share_cell,
    text_cell,
)
from unspool.copies.fit import advise
from unspool.copies.material import CopyMaterial
from unspool.copies.original import open_source
from unspool.errors import UnspoolError
from unspool.figures.context_window import ContextWindow, context_window, request_windows
from unspool.figures.spending import CallSpending, SessionSpending, TurnSpending, session_spending, sum_calls
from unspool.model import Call, Usage
from unspool.model.request import RecordedRequests
from unspool.prices import Cost
from unspool.render.html.elements import HtmlOptions
from unspool.render.html.nodes import nodes_html
from unspool.render.transcript import request_nodes
from unspool.site import summaries
from unspool.site.address import Addresses
from unspool.site.page_template import Crumb
from unspool.site.session_head import Tile
from unspool.web.charts import bar_lengths

_LISTED = 500
"""Requests that a page lists, the newest, and entries, the heaviest."""
_WEIGHED = 32 * 1024 * 1024
"""Bytes of a log up to which the page weighs copies of it; `unspool recommend` does so for longer ones."""


class _ContextFigures(NamedTuple):
    """What the page and its files are made from."""

    opened: OpenSession
    filled: ContextWindow
    spent: SessionSpending
    chart: SpendingChartMaker
    addresses: Addresses


def _figures(request: Request) -> _ContextFigures:
    context, opened = requested_session(request)
    session, addresses = opened.session, opened.addresses(context.options)
    recorded = context.library().requests(opened.found)
    filled, spent = context_window(session, recorded), session_spending(session, context.prices)
    windows = request_windows(session, recorded)
    return _ContextFigures(
        opened, filled, spent, SpendingChartMaker(session, filled, windows, spent, addresses), addresses
    )


def context_window_page(request: Request) -> HTMLResponse:
    context: AppContext = request.app.state.context
    found = _figures(request)
    opened, filled = found.opened, found.filled
    chosen = chosen_range(opened.session, request.query_params, found.spent)
    drawn = found.chart.chart(chosen)
    tables = _tables(found)
    tables["entries"] = tables["entries"]._replace(rows=tables["entries"].rows[:_LISTED])
    body = render_template(
        "window.html",
        title=opened.session.title,
        tiles=_tiles(filled, found.spent),
        chart=drawn,
        calls=_calls_table(found, found.chart.calls(chosen)) if drawn is not None and drawn.calls else None,
        now=window_now(filled),
        strip=entry_strip(filled, found.addresses),
        tables=tables,
        lighter=_lighter_copies(context, found),
        requests=_requests_table(opened, context.library().requests(opened.found)),
        measured=filled.now is not None and filled.now.measured,
        unmeasured=filled.unmeasured,
        exact=filled.now is not None and filled.now.exact,
    )
    crumbs, styles = session_crumbs(opened.key, opened.session), ("find.css", "stats.css", "kinds.css")
    return render_page(request, "Window and money", body, crumbs, styles, ("spending.js",))


def context_csv(request: Request) -> Response:
    found, name = _figures(request), request.path_params["name"]
    calls = {"calls": _calls_table(found, found.spent.calls)} if name == "calls" else {}
    return csv_response({**_tables(found), **calls}.get(name))


def request_page(request: Request) -> Response:
    """One request, exactly as it went to the model."""
    context, opened = requested_session(request)
    recorded = context.library().requests(opened.found)
    found = recorded.get(request.path_params["request"]) if recorded else None
    if found is None:
        return Response("The log keeps no such request.", 404, media_type="text/plain")
    body = render_template("request.html", inside=Markup(nodes_html(request_nodes(found, None), HtmlOptions())))  # noqa: S704  a writer's markup
    home, session = session_crumbs(opened.key, opened.session)
    crumbs = (home, session, Crumb("Window and money", f"{session.href}context"))
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


def _tiles(filled: ContextWindow, spent: SessionSpending) -> list[Tile]:
    if filled.now is None:
        return []
    size = f"of {human.tokens(filled.window)}" if filled.window else "of a window of unknown size"
    share, total = format_share(filled.share), spent.total
    lost = f"{human.money(total.lost_cost)} for what the cache lost" if total.lost else "at list prices"
    read = f"{total.usage.cache_read / total.usage.context:.0%} read from cache" if total.usage.context else ""
    return [
        Tile("At the end", human.tokens(filled.now.total), size, f"{filled.now.total:,}"),
        *([Tile("Of the window", share, filled.now.model)] if share else []),
        Tile("At its fullest", human.tokens(filled.peak), "", f"{filled.peak:,}"),
        Tile("Compactions", f"{filled.compactions:,}", "emptied it" if filled.compactions else ""),
        *([Tile("Cost", _cost(total.cost).text, lost)] if total.calls else []),
        *([Tile("Tokens", human.tokens(total.usage.total), read, f"{total.usage.total:,}")] if total.calls else []),
    ]


def _tables(found: _ContextFigures) -> dict[str, StatsTable]:
    filled, spent = found.filled, found.spent
    tools = [(text_cell(one.name), *count_cells(one.tokens, one.input, one.output)) for one in filled.tools]
    bars = bar_lengths([one.tokens for one in filled.tools])
    lost = [(text_cell(LOSSES[one.cause]), *count_cells(one.tokens), _dollars(one.cost)) for one in spent.lost]
    lost_bars, again_bars = (bar_lengths([one.tokens for one in some]) for some in (spent.lost, spent.repeated))
    again = [(text_cell(one.what), *count_cells(one.times, one.tokens)) for one in spent.repeated]
    return {
        "kinds": _kinds_table(filled),
        "turns": _turns_table(found),
        "tools": StatsTable("tools", "By tool, at the end", ("tool", "tokens", "asked", "answered"), tools, bars),
        "entries": _entries_table(found),
        "lost": StatsTable("lost", "What the cache lost", ("why", "tokens", "cost"), lost, lost_bars),
        "repeated": StatsTable("repeated", "Answers sent again", ("answer", "times", "tokens"), again, again_bars),
    }


LOSSES = {
    "expired": "the pause was longer than the cache lives",
    "model switched": "another model was asked",
    "compacted": "a compaction wrote another beginning",
    "other": "the beginning changed, and the log does not tell why",
}
"""Why the cache did not hold, in words, by the names of CAUSES."""


class LighterCopy(NamedTuple):
    """What one treatment would leave in the window, in words."""

    name: str
    left: str
    saved: str
    command: str
    advised: bool


def _lighter_copies(context: AppContext, found: _ContextFigures) -> list[LighterCopy]:
    """Treatments of `unspool clone` that would make the window lighter, the mildest first; none where no copy can be
    made."""
    filled, log = found.filled, found.opened.found
    if log.size > _WEIGHED:
        return []
    try:
        with open_source(context.library(), log) as source:
            advice = advise(CopyMaterial(source.log), filled)
    except (UnspoolError, OSError):
        return []
    copies, before = [], advice.tokens
    for one in advice.choices:
        if one.tokens >= before and one.name != advice.recommended:
            continue  # no better than a milder one
        before = one.tokens
        read = context.prices.price_parts(Call("", filled.model, Usage(cache_read=one.gain), datetime.now(UTC)))
        a_call = f"{human.money(read.read)} a call" if read is not None else ""
        saved = human.joined(f"{human.tokens(one.gain)} tokens less", a_call)
        opened = found.opened
        name = opened.session.id[:8] if opened.key == opened.session.id else opened.key
        command = f"unspool clone {quote(name)} {one.flags}"
        copies.append(LighterCopy(one.name, human.tokens(one.total), saved, command, one.name == advice.recommended))
    return copies


def _kinds_table(filled: ContextWindow) -> StatsTable:
    found = filled.now
    kinds = sorted(found.kinds.items(), key=lambda row: -row[1]) if found is not None else []
    if found is not None and found.measured and not found.exact:
        kinds.append(("unaccounted", found.unaccounted))
    whole = found.total if found is not None else 0
    rows = [(text_cell(name), *count_cells(tokens), share_cell(tokens / whole)) for name, tokens in kinds if whole]
    bars = bar_lengths([tokens for _, tokens in kinds])
    return StatsTable("kinds", "By kind, at the end", ("kind", "tokens", "share"), rows, bars)


def _entries_table(found: _ContextFigures) -> StatsTable:
    """The entries that are in the window, the heaviest first."""
    heaviest = sorted(found.filled.entries, key=lambda one: -one.tokens)
    rows = [
        (
            text_cell(one.words or human.joined(one.kind, one.tool), found.addresses.turn(one.turn)),
            *count_cells(one.tokens),
            text_cell(human.joined(one.kind, one.tool)),
            TableCell(str(one.turn), one.turn),
            TableCell(str(one.line), one.line) if one.line else TableCell(),
        )
        for one in heaviest
    ]
    heads = ("entry", "tokens", "kind", "turn", "line")
    return StatsTable("entries", "By entry, at the end", heads, rows, bar_lengths([one.tokens for one in heaviest]))


class EntryStrip(NamedTuple):
    """An entry as a piece of the strip of all that is in the window."""

    x: float
    width: float
    kind: str
    says: str
    href: str


def entry_strip(filled: ContextWindow, addresses: Addresses) -> list[EntryStrip]:
    """What is in the window, entry by entry from the first to the last, as wide as it is heavy."""
    total, at, pieces = sum(one.tokens for one in filled.entries) or 1, 0.0, []
    for one in filled.entries:
        width = 1000 * one.tokens / total
        what = human.joined(one.kind, one.tool, f"turn {one.turn}", f"{one.tokens:,} tokens")
        pieces.append(EntryStrip(round(at, 2), round(width, 2), one.kind, what, addresses.turn(one.turn)))
        at += width
    return [one for one in pieces if one.width >= _SEEN]


_SEEN = 0.2
"""Of a thousand: what is narrower cannot be seen."""
_SPENT = ("calls", "tokens used", "read from cache", "written again", "why", "lost", "cost")


def _turns_table(found: _ContextFigures) -> StatsTable:
    turns = {turn.number: turn for turn in found.opened.session.turns}
    spent = {one.turn: one for one in found.spent.turns}
    rows = [
        (
            text_cell(f"{turn.number} {summaries.turn_line(turns[turn.number])}", found.addresses.turn(turn.number)),
            *count_cells(turn.tokens),
            text_cell(max(turn.added, key=turn.added.__getitem__, default="")),
            *((TableCell(),) if turn.window is None else count_cells(turn.window.total)),
            *count_cells(turn.compactions),
            *_spent_cells(spent[turn.number]),
        )
        for turn in found.filled.turns
    ]
    if None in spent:
        rows.append((text_cell("in other versions of the session"), *(TableCell(),) * 4, *_spent_cells(spent[None])))
    bars = bar_lengths([turn.tokens for turn in found.filled.turns])
    heads = ("turn", "added", "mostly", "in the window", "compactions", *_SPENT)
    return StatsTable("turns", "By turn", heads, rows, bars)


def _calls_table(found: _ContextFigures, calls: Iterable[CallSpending]) -> StatsTable:
    rows = []
    for number, call in enumerate(calls, 1):
        window = found.chart.window_of(call)
        place = found.addresses.turn(call.turn) if call.turn is not None else ""
        turn = "" if call.turn is None else f"turn {call.turn}, "
        rows.append(
            (
                text_cell(f"{turn}call {number}", place),
                text_cell(call.model),
                text_cell(call.agent),
                *((TableCell(),) if window is None else count_cells(window.total)),
                *_spent_cells(sum_calls(call.turn, (call,)))[1:],
            )
        )
    return StatsTable("calls", "By call", ("call", "model", "subagent", "in the window", *_SPENT[1:]), rows)


def _spent_cells(spent: TurnSpending) -> Cells:
    causes = ", ".join(dict.fromkeys(one.cause for one in spent.lost))
    known = None if any(one.cost is None for one in spent.lost) else spent.lost_cost
    return (
        *count_cells(spent.calls, spent.usage.total, spent.usage.cache_read, spent.lost_tokens),
        text_cell(causes),
        _dollars(known) if spent.lost else TableCell(),
        _cost(spent.cost),
    )


def _dollars(amount: Decimal | None) -> TableCell:
    return TableCell("?") if amount is None else TableCell(human.money(amount), f"{amount.normalize():f}")


def _cost(cost: Cost) -> TableCell:
    shown = human.money(cost.amount, floor=cost.floor, unpriced=bool(cost.unpriced))
    return TableCell(shown, "" if cost.unpriced and not cost.amount else f"{cost.amount.normalize():f}")


ROUTES = [
    Route("/s/{key}/context", context_window_page),
    Route("/s/{key}/context/{name}.csv", context_csv),
    Route("/s/{key}/request/{request}", request_page),
]
