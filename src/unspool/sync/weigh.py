"""What is put into the windows of a session, weighed as its events come by: quickly, so long texts by samples."""

from collections import Counter
from collections.abc import Iterable, Iterator

from unspool.figures.pieces import ANSWERS, THINKING, TOOL_INPUT, Piece, of_block, of_prompt, of_result
from unspool.figures.tokens import estimate
from unspool.model import Event, Result, Thinking, ToolCall
from unspool.model.window import KINDS
from unspool.prices.windows import density

UNACCOUNTED = len(KINDS)
"""What the first request measured beyond what the log holds: the system prompt, the tools."""
_BELIEVED, _WRITTEN = 10**8, 10**12
"""Tokens that a window may measure and a session may write; more is a damaged log's."""
_WHOLE = 480
_SAMPLE = 120


class Weighed:
    """Tokens by kind and tool of one log. A call is heard before its result."""

    def __init__(self) -> None:
        self._sums: Counter[tuple[int, str]] = Counter()
        self._calls: dict[str, tuple[str, str]] = {}
        self._lines: set[str] = set()
        self._model = ""
        self._measured = 0
        """What the first request sent that tells."""
        self._before = 0
        """What had been weighed by then."""
        self.silent = False
        """Whether there was thinking without its words."""

    def take(self, event: Event) -> None:
        """Weigh what an event brings; a copy of a line brings nothing."""
        if event.id in self._lines:
            return
        self._lines.add(event.id)
        if event.part is not None and event.part.usage is not None and not self._measured:
            self._model = event.part.model
            self._measured = min(event.part.usage.context, _BELIEVED)
            self._before = self._sums.total()
        if event.prompt is not None:
            self._add(of_prompt(event.prompt, rough))
        for block in event.blocks:
            if isinstance(block, Result):
                name, role = self._calls.get(block.call_id, ("", ""))
                self._add(of_result(block, name, role, rough))
                continue
            if isinstance(block, ToolCall):
                if block.call_id in self._calls:
                    continue  # an early state of the message
                self._calls[block.call_id] = block.name, block.role
            elif isinstance(block, Thinking) and not block.text:
                self.silent = True
            self._add(of_block(block, rough))

    def sums(self) -> Counter[tuple[int, str]]:
        """All that was put into the window, in tokens of its model."""
        part = density(self._model)
        found = Counter({key: round(tokens * part) for key, tokens in self._sums.items()})
        found[UNACCOUNTED, ""] = max(0, self._measured - round(self._before * part))
        return found

    def _add(self, pieces: Iterator[Piece]) -> None:
        for piece in pieces:
            self._sums[piece.kind, piece.tool] += piece.tokens


def together(logs: Iterable[Weighed], output: int) -> Counter[tuple[int, str]]:
    """What all logs of a session tell; thinking whose words they do not hold is what is left of the output."""
    found: Counter[tuple[int, str]] = Counter()
    silent = False
    for log in logs:
        found.update(log.sums())
        silent = silent or log.silent
    if silent:
        written = sum(tokens for (kind, _), tokens in found.items() if kind in (ANSWERS, TOOL_INPUT))
        found[THINKING, ""] = max(found[THINKING, ""], min(output, _WRITTEN) - written)
    return +found


def rough(text: str) -> int:
    """An estimate that takes no longer for a long text than for a short one."""
    size = len(text)
    if size <= _WHOLE:
        return estimate(text)
    middle = size // 2
    some = text[:_SAMPLE] + text[middle : middle + _SAMPLE] + text[-_SAMPLE:]
    return estimate(some) * size // len(some)
