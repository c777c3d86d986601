"""`unspool context` and `requests`: what fills the window of a session, and what was sent to the model."""

from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options, output
from unspool.cli.output import Column, print_heading, print_json, print_nodes, print_table, safe_text
from unspool.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unspool.figures.context_window import ContextWindow, RequestWindow, TurnWindow, WindowEntry
    from unspool.figures.spending import KindCost, SessionSpending
    from unspool.model import Session
    from unspool.model.request import RecordedRequests, SentRequest
    from unspool.store.library import Library


UNACCOUNTED = "unaccounted"
_BAR = 30
_TOOLS = 15
_WORDS = 200
"""Characters of a prompt that a table may need."""


def context_heading(filled: "ContextWindow") -> "Iterator[str]":
    """What is to be known before the tables: how full, of what, and how that is known."""
    now = filled.now
    if now is None:
        yield "No model was asked anything, so there is no window to fill."
        return
    of = f" of {filled.window:,}" if filled.window else ""
    share = f", {filled.share:.1%}" if filled.share is not None else ""
    how = "measured" if now.measured else f"estimated: {filled.unmeasured}" if filled.unmeasured else "estimated"
    how = f"exact: the log keeps the request; {how}" if now.exact else how
    yield f"{safe_text(now.model) or 'unknown model'}: {now.total:,} tokens{of} at the last request ({how}{share})"
    if filled.share is not None:
        yield f"▕{output.bar_text(filled.share, _BAR):<{_BAR}}▏"
    if not filled.window:
        yield "How many tokens this model's window holds is not known."
    yield human.joined(f"most {filled.peak:,}", human.count(filled.compactions, "compaction"))


def context_sections(
    session: "Session", filled: "ContextWindow", spent: "SessionSpending", costs: "Sequence[KindCost]", turns: int
) -> "Iterator[tuple[str, list[Column], str]]":
    """Title, table and note of every section that has something to say, with so many turns at most."""
    if filled.now is None:
        return
    yield "By kind", _kinds(filled.now, filled.window), ""
    adding = sorted((turn for turn in filled.turns if turn.tokens), key=lambda turn: -turn.tokens)
    chosen = sorted(adding[:turns], key=lambda turn: turn.number)
    if chosen:
        left = len(adding) - len(chosen)
        note = f"{human.count(left, 'turn')} that added less left out." if left > 0 else ""
        yield "By turn", _turns(session, chosen, spent), note
    if spent.lost:
        columns = [
            Column("why", [one.cause for one in spent.lost], right=False),
            Column("tokens", [f"{one.tokens:,}" for one in spent.lost]),
            Column("cost", ["?" if one.cost is None else human.money(one.cost) for one in spent.lost]),
        ]
        yield "Written to the cache again", columns, ""
    if spent.repeated:
        some = spent.repeated[:_TOOLS]
        columns = [
            Column("answer", [safe_text(one.what) for one in some], right=False, least=12),
            Column("times", [f"{one.times:,}" for one in some]),
            Column("tokens again", [f"{one.tokens:,}" for one in some]),
        ]
        yield "Answers that came more than once, word for word", columns, ""
    if costs:
        bars = output.bar_texts([int(one.cost * 10**9) for one in costs], _BAR)
        columns = [
            Column("kind", [one.name for one in costs], right=False),
            Column("tokens sent", [f"{one.tokens:,}" for one in costs]),
            Column("cost", [human.money(one.cost) for one in costs]),
            Column("", bars, right=False, rank=1),
        ]
        yield "What each kind cost as input, over all requests", columns, ""
    if filled.tools:
        note = f"{len(filled.tools) - _TOOLS} more tools." if len(filled.tools) > _TOOLS else ""
        yield "By tool, of what is in the window", _tools(filled), note


def _kinds(now: "RequestWindow", window: int | None) -> list[Column]:
    rows = sorted(now.kinds.items(), key=lambda row: -row[1])
    if now.measured and not now.exact:
        rows.append((UNACCOUNTED, now.unaccounted))
    whole = window or now.total
    return [
        Column("kind", [name for name, _ in rows], right=False),
        Column("tokens", [f"{tokens:,}" for _, tokens in rows]),
        Column("of window" if window else "of all", [f"{tokens / whole:.1%}" if whole else "" for _, tokens in rows]),
        Column("", output.bar_texts([tokens for _, tokens in rows], _BAR), right=False, rank=1),
    ]


def _turns(session: "Session", chosen: "Sequence[TurnWindow]", spent: "SessionSpending") -> list[Column]:
    cost = {one.turn: one.cost for one in spent.turns}
    costs = [cost[turn.number] for turn in chosen]
    paid = [human.money(one.amount, floor=one.floor, unpriced=bool(one.unpriced)) for one in costs]
    prompts = {turn.number: turn.prompt for turn in session.turns}
    most = [max(turn.added.items(), key=lambda one: one[1])[0] for turn in chosen]
    words = []
    for turn in chosen:
        prompt = prompts[turn.number]
        text = "before the first prompt" if prompt is None else f"{prompt.command} {prompt.words}"[:_WORDS].strip()
        words.append(f"[compacted] {text}" if turn.compactions else text)
    full = ["" if turn.window is None else f"{turn.window.total:,}" for turn in chosen]
    return [
        Column("turn", [str(turn.number) for turn in chosen]),
        Column("added", [f"{turn.tokens:,}" for turn in chosen]),
        Column("mostly", most, right=False, rank=2),
        Column("window then", full, rank=1),
        Column("cost", paid),
        Column("", output.bar_texts([turn.tokens for turn in chosen], _BAR // 2), right=False, rank=3),
        Column("prompt", words, right=False, least=12),
    ]


def _tools(filled: "ContextWindow") -> list[Column]:
    tools = filled.tools[:_TOOLS]
    return [
        Column("tool", [tool.name for tool in tools], right=False, least=12),
        Column("asked", [f"{tool.input:,}" for tool in tools], rank=2),
        Column("answered", [f"{tool.output:,}" for tool in tools], rank=2),
        Column("tokens", [f"{tool.tokens:,}" for tool in tools]),
        Column("", output.bar_texts([tool.tokens for tool in tools], _BAR), right=False, rank=1),
    ]


@click.command("context")
@click.argument("session", default="latest")
@click.option("--turns", default=20, show_default=True, metavar="N", type=click.IntRange(0), help="How many turns.")
@click.option("--entries", default=0, metavar="N", type=click.IntRange(0), help="The N heaviest entries too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every turn and entry.")
@options.sources
def context_command(session: str, turns: int, entries: int, as_json: bool, library: "Library") -> None:
    """Tell what fills the window of a session, and what it cost.

    \b
    unspool context                    the session you used last
    unspool context 4f2a --turns 5     the five turns that added most
    unspool context 4f2a --entries 10  the ten heaviest entries that are in the window, with their lines
    unspool context 4f2a --json | jq '.now.kinds'
    unspool context 4f2a --json | jq '.spending.turns[] | [.turn, .cost.amount]'

    The window is the one that the last request found. What a request measured is in the log; what each piece takes
    is estimated from its text, and what is left over is `unaccounted`: the system prompt, the definitions of the
    tools, and instructions that no log holds. Where the log keeps the requests themselves (Claude Code since
    2.1.28x), nothing is left over, and what each kind cost over all requests is told too. The window's size is known
    for known models. The cost of a turn is that of its requests, its subagents' too; what was written to the cache
    again is told with why the cache did not hold, and what it cost more than reading the same.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default.
    """
    from unspool.figures.context_window import context_window, request_windows
    from unspool.figures.spending import input_costs, session_spending

    log = library.resolve(session)
    found = library.open(log)
    recorded = library.requests(log)
    filled, spent = context_window(found, recorded), session_spending(found, library.prices)
    costs = input_costs(found, request_windows(found, recorded), library.prices) if recorded else ()
    if as_json:
        from msgspec.structs import asdict

        heading = {"session": found.id, "title": found.title, "share": filled.share}
        spending = {"total": spent.total, **asdict(spent), "lost": spent.lost}
        print_json({**heading, **asdict(filled), "costs": costs, "spending": spending})
        return
    print_heading(safe_text(found.title))
    for line in context_heading(filled):
        click.echo(line)
    for title, columns, note in context_sections(found, filled, spent, costs, turns):
        click.echo()
        print_heading(title)
        print_table(columns)
        if note:
            click.echo(note)
    heaviest = sorted(filled.entries, key=lambda one: -one.tokens)[:entries]
    if heaviest:
        click.echo()
        print_heading("By entry, the heaviest in the window")
        print_table(_entry_columns(heaviest))


def _entry_columns(entries: "Sequence[WindowEntry]") -> list[Column]:
    return [
        Column("line", [str(one.line) if one.line else "" for one in entries]),
        Column("turn", [str(one.turn) for one in entries]),
        Column("kind", [human.joined(one.kind, safe_text(one.tool)) for one in entries], right=False, least=10),
        Column("tokens", [f"{one.tokens:,}" for one in entries]),
        Column("", output.bar_texts([one.tokens for one in entries], _BAR // 2), right=False, rank=3),
        Column("begins", [safe_text(one.words) for one in entries], right=False, rank=1, least=12),
    ]


@click.command("requests")
@click.argument("session", default="latest")
@click.argument("request", default="")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="The last request of a turn.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; of one request, what went to the provider.")
@options.sources
def requests_command(session: str, request: str, turn: int | None, as_json: bool, library: "Library") -> None:
    """List the requests that a log keeps whole, or show one of them exactly.

    \b
    unspool requests                     those of the session you used last
    unspool requests 4f2a 9c31           one of them: system prompt, tools and every message
    unspool requests 4f2a --turn 3       the last request of turn 3
    unspool requests 4f2a 9c31 --json | jq '.tools[].name'

    Claude Code keeps its requests since 2.1.28x. A request is put together from several lines of the log, each
    message proven by its hash.
    """
    from unspool.figures.context_window import request_windows

    log = library.resolve(session)
    recorded = library.requests(log)
    if not recorded:
        raise NotFound("The log of this session keeps no requests.")
    found = library.open(log)
    answers = {one.request: one.id for one in found.messages if one.request}
    by_message = {one.message: one for one in request_windows(found, recorded)}
    windows = {name: by_message[message] for name, message in answers.items() if message in by_message}
    if turn is not None and not request:
        request = next((name for name in reversed(list(windows)) if windows[name].turn == turn), "")
        if not request:
            raise NotFound(f"No request of turn {turn} is in the log.")
    if request:
        _show(recorded, request, as_json=as_json)
    else:
        _list(recorded, windows, as_json=as_json)


def _show(recorded: "RecordedRequests", name: str, *, as_json: bool) -> None:
    from unspool.render.transcript import request_nodes

    request = recorded.get(name)
    if request is None:
        raise NotFound(f"The log keeps no request whose id begins with “{name}”.")
    if as_json:
        print_json(request.body)
        return
    print_nodes(request_nodes(request))


def _list(recorded: "RecordedRequests", windows: "dict[str, RequestWindow]", *, as_json: bool) -> None:
    rows = [request for name in recorded if (request := recorded.get(name)) is not None]
    found = [windows.get(request.id) for request in rows]
    if as_json:
        print_json({"requests": [_data(request, window) for request, window in zip(rows, found, strict=True)]})
        return
    columns = [
        Column("id", [request.id[:8] for request in rows], right=False),
        Column("when", [human.moment(request.time, None) for request in rows], right=False, rank=2),
        Column("turn", [str(one.turn) if one is not None else "" for one in found]),
        Column("for", [request.purpose for request in rows], right=False, rank=3, least=6),
        Column("model", [request.model for request in rows], right=False, rank=1, least=8),
        Column("messages", [f"{len(request.messages):,}" for request in rows]),
        Column("tools", [f"{len(request.tools):,}" for request in rows], rank=3),
        Column("tokens", [f"{one.total:,}" if one is not None else "" for one in found]),
        Column("", ["" if request.complete else "not whole" for request in rows], right=False),
    ]
    print_table(columns)


def _data(request: "SentRequest", window: "RequestWindow | None") -> dict[str, object]:
    turn, tokens, kinds = (window.turn, window.total, window.kinds) if window is not None else (None, None, None)
    about = {"id": request.id, "time": request.time, "turn": turn, "for": request.purpose, "model": request.model}
    counts = {"messages": len(request.messages), "tools": len(request.tools), "tokens": tokens, "kinds": kinds}
    return {**about, **counts, "complete": request.complete}
