"""The mildest treatment under which a session fits into a number of tokens."""

from collections.abc import Iterator

from msgspec.structs import replace

from unspool.clone.draught import Wish, drawn
from unspool.clone.material import Material
from unspool.clone.treatment import Treatment
from unspool.errors import Unsound
from unspool.figures.filling import Filling


def room(tokens: int, filled: Filling) -> int:
    """What of so many tokens of a window is left for the conversation, as estimates count it.

    Where the log keeps its last request, system prompt and tools are known to take their part; else all is left.
    """
    if filled.now is None or not filled.now.exact:
        return tokens
    left = tokens - filled.now.beside
    if left <= 0:
        raise Unsound(f"System prompt and tools alone take {filled.now.beside:,} tokens.")
    return max(1, int(left / filled.scale))


def fitted(log: Material, treatment: Treatment, tokens: int) -> Treatment:
    """The first treatment that fits, from doing nothing to doing all, the oldest turns first."""
    steps = list(_steps(log, treatment))
    low, high = 0, len(steps) - 1
    least = _tokens(log, steps[high])
    if least > tokens:
        raise Unsound(
            f"It does not fit into {tokens:,} tokens: without tools, reasoning and images, {least:,} are left."
        )
    while low < high:
        middle = (low + high) // 2
        if _tokens(log, steps[middle]) <= tokens:
            high = middle
        else:
            low = middle + 1
    fits = (step for step in steps[high:] if drawn(log, step, Wish()).after.tokens <= tokens)
    return next(fits, steps[-1])


def _steps(log: Material, treatment: Treatment) -> Iterator[Treatment]:
    """Treatments, each a little harder than the one before: turn by turn cut short, then turn by turn gone."""
    plain = replace(treatment, keep_tool_turns=None, truncate=0, strip_tools=0, strip_thinking=0)
    yield plain
    bare = replace(plain, strip_thinking=100)
    yield bare
    turns = range(len(log.conversation.forgotten().turns()), -1, -1)
    for keep in turns:
        yield replace(bare, keep_tool_turns=keep, mode="truncate")
    for keep in turns:
        yield replace(bare, keep_tool_turns=keep, truncate=100, mode="remove")
    yield replace(bare, keep_tool_turns=0, mode="remove", drop_images=True)


def _tokens(log: Material, treatment: Treatment) -> int:
    """What the agent would load: that does not hang on what compactions have closed, which is quicker left out."""
    return drawn(log, replace(treatment, drop_compacted=True), Wish()).after.tokens
