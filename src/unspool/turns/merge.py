"""One message from its lines: every block once, in order, whichever way the lines carried it.

Most writers put one block on a line; those lines add up. Some repeat the message as it grows; there the
fuller state wins. Lines without an id of their own are early snapshots of either kind.
"""

from collections.abc import Sequence

from unspool.model import Block, Call, Event, Image, Notice, Result, Text, Thinking, ToolCall, Unknown, Usage

_NEAR = 64
"""How far back a snapshot is compared with the blocks before it."""

Piece = Block | Result


class Merged:
    """Blocks joined so far, and the line each was taken from."""

    def __init__(self) -> None:
        self.blocks: list[Piece] = []
        self._lines: list[Event] = []
        self._givers: list[Event] = []
        self._from: list[tuple[int, bool]] = []
        self._known: dict[object, int] = {}

    def add(self, event: Event, *, snapshot: bool) -> None:
        """Take in the blocks of one line."""
        several = len(event.blocks) > 1
        self._lines.append(event)
        for index, block in enumerate(event.blocks):
            loose = snapshot or several
            at = self._find(block, index, event, loose=loose)
            if at is None:
                self._known[block_key(block, event)] = len(self.blocks)
                self.blocks.append(block)
                self._from.append((index, loose))
                self._givers.append(event)
            elif _fuller(block, self.blocks[at]):
                self.blocks[at] = block
                self._givers[at] = event

    @property
    def superseded(self) -> int:
        """How many lines hold nothing but what another line holds as well or better."""
        givers = {id(event) for event in self._givers}
        return sum(bool(event.blocks) and id(event) not in givers for event in self._lines)

    def _find(self, block: Piece, index: int, event: Event, *, loose: bool) -> int | None:
        """Where the same block already stands, in this or an earlier state."""
        at = self._known.get(block_key(block, event))
        if at is not None:
            return at
        if not isinstance(block, Text | Thinking):
            return None
        for at in range(len(self.blocks) - 1, max(-1, len(self.blocks) - 1 - _NEAR), -1):
            where, was_loose = self._from[at]
            if (loose or was_loose) and where == index and _grows(self.blocks[at], block):
                return at
        return None


def _grows(before: Piece, after: Text | Thinking) -> bool:
    if isinstance(before, Text) and isinstance(after, Text):
        return after.text.startswith(before.text) or before.text.startswith(after.text)
    if isinstance(before, Thinking) and isinstance(after, Thinking):
        one_signed = not (before.signature and after.signature)
        return one_signed and (after.text.startswith(before.text) or before.text.startswith(after.text))
    return False


def block_key(block: Piece, event: Event) -> object:
    """Equal for blocks that are the same block. Lines that number their blocks differ by that number."""
    index = event.part.index if event.part is not None and len(event.blocks) == 1 else -1
    match block:
        case ToolCall(call_id=call_id) if call_id:
            return ("call", call_id)
        case Thinking(signature=signature) if signature:
            return ("thinking", signature, index)
        case Text(text=text) | Thinking(text=text):
            return (type(block), text, index)
        case Result(call_id=call_id, text=text):
            return ("result", call_id, text)
        case Image(data=data, url=url, path=path):
            return ("image", data, url, path, index)
        case Unknown(what=what, data=data):
            return ("unknown", what, repr(data), index)
        case Notice(kind=kind, text=text):
            return ("notice", kind, text, index)
        case _:
            return ("block", id(block))


def _fuller(after: Piece, before: Piece) -> bool:
    if isinstance(after, ToolCall) and isinstance(before, ToolCall):
        return bool(after.input) or not before.input
    if isinstance(after, Text | Thinking) and isinstance(before, Text | Thinking):
        return len(after.text) > len(before.text) or bool(
            getattr(after, "signature", "") > getattr(before, "signature", "")
        )
    return False


def merge(events: Sequence[Event], snapshots: frozenset[int] | set[int]) -> Merged:
    """Join the lines of one message; `snapshots` holds the `id()`s of those that only repeat a state."""
    merged = Merged()
    ordered: Sequence[Event] = events
    if len(events) > 1 and all(event.part is not None and event.part.index >= 0 for event in events):
        ordered = sorted(events, key=lambda event: event.part.index if event.part else 0)
    for event in ordered:
        merged.add(event, snapshot=id(event) in snapshots)
    return merged


def calls(events: Sequence[Event]) -> tuple[Call, ...]:
    """What the message was billed: each request once, with the largest figures any of its lines held."""
    first = next((event.part.request for event in events if event.part and event.part.request), "")
    by_request: dict[str, list[Event]] = {}
    for event in events:
        if event.part is not None and event.part.usage is not None and not event.part.synthetic:
            by_request.setdefault(event.part.request or first, []).append(event)
    return tuple(_call(request, group) for request, group in by_request.items())


def _call(request: str, events: list[Event]) -> Call:
    best, final = None, False
    for event in events:
        part = event.part
        if part is None or part.usage is None:
            continue
        best = part.usage if best is None else larger(best, part.usage)
        final = final or bool(part.stop)
        last = part
    usage = best or Usage()
    if not final:
        usage = Usage(
            usage.input, usage.output, usage.cache_read, usage.cache_write,
            usage.cache_write_1h, usage.web_searches, usage.web_fetches, floor=True,
        )  # fmt: skip
    return Call(f"{last.message}:{request}", last.model, usage, events[0].time, last.speed, last.tier, last.geo)


def larger(one: Usage, other: Usage) -> Usage:
    """The larger of each figure."""
    if one == other:
        return one
    return Usage(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cache_read, other.cache_read),
        max(one.cache_write, other.cache_write),
        max(one.cache_write_1h, other.cache_write_1h),
        max(one.web_searches, other.web_searches),
        max(one.web_fetches, other.web_fetches),
        one.floor and other.floor,
    )
