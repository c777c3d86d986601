"""The lines of `unspool context`."""

from collections.abc import Iterator, Sequence

from unspool import human
from unspool.cli import chart
from unspool.cli.grid import Column, lines, safe
from unspool.figures.filling import Filling, KindCost, Request, TurnFilling
from unspool.model import Prompt, Session

UNACCOUNTED = "unaccounted"
_BAR = 30
_TOOLS = 15
_WORDS = 200
"""Characters of a prompt that a table may need."""


def heading(filled: Filling) -> Iterator[str]:
    """What is to be known before the tables: how full, of what, and how that is known."""
    now = filled.now
    if now is None:
        yield "No model was asked anything, so there is no window to fill."
        return
    of = f" of {filled.window:,}" if filled.window else ""
    share = f", {filled.share:.1%}" if filled.share is not None else ""
    how = "measured" if now.measured else "estimated: the log tells no figures"
    how = f"exact: the log keeps the request; {how}" if now.exact else how
    yield f"{safe(now.model) or 'unknown model'}: {now.total:,} tokens{of} at the last request ({how}{share})"
    if filled.share is not None:
        yield f"▕{chart.bar(filled.share, _BAR):<{_BAR}}▏"
    if not filled.window:
        yield "How many tokens this model's window holds is not known."
    yield human.joined(f"most {filled.peak:,}", human.count(filled.compactions, "compaction"))


def sections(
    session: Session, filled: Filling, costs: Sequence[KindCost], sizes: tuple[int, int]
) -> Iterator[tuple[str, list[str], str]]:
    """Title, table and note of every section that has something to say; `sizes` are turns and columns at most."""
    turns, wide = sizes
    if filled.now is None:
        return
    yield "By kind", lines(_kinds(filled.now, filled.window), wide), ""
    chosen = _chosen(filled.turns, turns)
    if chosen:
        left = sum(1 for turn in filled.turns if turn.tokens) - len(chosen)
        note = f"{human.count(left, 'turn')} that added less left out." if left > 0 else ""
        yield "By turn", lines(_turns(session, chosen), wide), note
    if costs:
        yield "What each kind cost as input, over all requests", lines(_costs(costs), wide), ""
    if filled.tools:
        note = f"{len(filled.tools) - _TOOLS} more tools." if len(filled.tools) > _TOOLS else ""
        yield "By tool, of what is in the window", lines(_tools(filled), wide), note


def _kinds(now: Request, window: int | None) -> list[Column]:
    rows = sorted(now.kinds.items(), key=lambda row: -row[1])
    if now.measured and not now.exact:
        rows.append((UNACCOUNTED, now.unaccounted))
    whole = window or now.total
    return [
        Column("kind", [name for name, _ in rows], right=False),
        Column("tokens", [f"{tokens:,}" for _, tokens in rows]),
        Column("of window" if window else "of all", [f"{tokens / whole:.1%}" if whole else "" for _, tokens in rows]),
        Column("", chart.bars([tokens for _, tokens in rows], _BAR), right=False, rank=1),
    ]


def _costs(costs: Sequence[KindCost]) -> list[Column]:
    return [
        Column("kind", [one.name for one in costs], right=False),
        Column("tokens sent", [f"{one.tokens:,}" for one in costs]),
        Column("cost", [human.money(one.cost) for one in costs]),
        Column("", chart.bars([int(one.cost * 10**9) for one in costs], _BAR), right=False, rank=1),
    ]


def _chosen(turns: Sequence[TurnFilling], most: int) -> list[TurnFilling]:
    """The turns that added most, in order."""
    adding = sorted((turn for turn in turns if turn.tokens), key=lambda turn: -turn.tokens)[:most]
    return sorted(adding, key=lambda turn: turn.number)


def _turns(session: Session, chosen: Sequence[TurnFilling]) -> list[Column]:
    prompts = {turn.number: turn.prompt for turn in session.turns}
    most = [max(turn.added.items(), key=lambda one: one[1])[0] for turn in chosen]
    full = ["" if turn.window is None else f"{turn.window.total:,}" for turn in chosen]
    return [
        Column("turn", [str(turn.number) for turn in chosen]),
        Column("added", [f"{turn.tokens:,}" for turn in chosen]),
        Column("mostly", most, right=False, rank=2),
        Column("window then", full, rank=1),
        Column("", chart.bars([turn.tokens for turn in chosen], _BAR // 2), right=False, rank=3),
        Column("prompt", [_words(prompts[turn.number], turn) for turn in chosen], right=False, least=12),
    ]


def _words(prompt: Prompt | None, turn: TurnFilling) -> str:
    said = "before the first prompt" if prompt is None else f"{prompt.command} {prompt.text}"[:_WORDS].strip()
    return f"[compacted] {said}" if turn.compactions else said


def _tools(filled: Filling) -> list[Column]:
    tools = filled.tools[:_TOOLS]
    return [
        Column("tool", [tool.name for tool in tools], right=False, least=12),
        Column("asked", [f"{tool.input:,}" for tool in tools], rank=2),
        Column("answered", [f"{tool.output:,}" for tool in tools], rank=2),
        Column("tokens", [f"{tool.tokens:,}" for tool in tools]),
        Column("", chart.bars([tool.tokens for tool in tools], _BAR), right=False, rank=1),
    ]
