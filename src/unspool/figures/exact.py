"""The windows of requests that a log keeps whole, piece by piece: nothing is missing, each piece is estimated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from unspool.figures.pieces import THINKING, Piece, of_block, of_prompt, of_result
from unspool.figures.tokens import estimate
from unspool.model import Result, Thinking, ToolCall
from unspool.model.request import RecordedRequests
from unspool.model.window import KINDS

_Sums = tuple[int, ...]


class SentWindows:
    """Tokens by kind (KINDS, then system prompt and tool definitions) in the window of each request."""

    def __init__(self, recorded: RecordedRequests, thoughts: Mapping[str, int]) -> None:
        self._recorded = recorded
        self._thoughts = thoughts
        """Tokens of a block of thinking whose words are not in the log, by answer."""
        self._ids = frozenset(recorded)
        self._pieces: dict[str, tuple[Piece, ...]] = {}
        self._callers: dict[str, tuple[str, str]] = {}
        """Name and role of the tool that a call is of."""
        self._keys: tuple[str, ...] = ()
        self._running: list[_Sums] = [(0,) * len(KINDS)]
        """Sums of the first messages of the request asked for last: one more message each."""

    def sums(self, request: str) -> _Sums | None:
        """What was in the window of a request; None where the log does not hold all of it."""
        frame = self._recorded.frame(request) if request in self._ids else None
        if frame is None:
            return None
        keys = self._recorded.message_keys(request)
        if not all(self._recorded.message(key).known for key in keys):
            return None
        same = 0
        for before, now in zip(self._keys, keys, strict=False):
            if before != now:
                break
            same += 1
        del self._running[same + 1 :]
        for key in keys[same:]:
            self._running.append(_plus(self._running[-1], self._of(key)))
        self._keys = keys
        system, tools = sum(map(estimate, frame[0])), sum(map(_size, frame[1]))
        return (*self._running[-1], system, tools)

    def pieces(self, request: str) -> Sequence[Piece]:
        """What the messages of a request put into its window."""
        return [piece for key in self._recorded.message_keys(request) for piece in self._of(key)]

    def _of(self, key: str) -> tuple[Piece, ...]:
        if key not in self._pieces:
            self._pieces[key] = tuple(self._measured(key))
        return self._pieces[key]

    def _measured(self, key: str) -> Iterator[Piece]:
        message = self._recorded.message(key)
        if message.prompt is not None:
            yield from of_prompt(message.prompt)
        for block in message.blocks:
            if isinstance(block, ToolCall):
                self._callers[block.call_id] = block.name, block.role
            if isinstance(block, Result):
                yield from of_result(block, *self._callers.get(block.call_id, ("", "")))
            elif isinstance(block, Thinking) and not block.text:
                yield Piece(THINKING, self._thoughts.get(message.answer, 0))
            else:
                yield from of_block(block)


def _plus(sums: _Sums, pieces: Sequence[Piece]) -> _Sums:
    found = list(sums)
    for piece in pieces:
        found[piece.kind] += piece.tokens
    return tuple(found)


def _size(tool: dict[str, Any]) -> int:
    """Tokens of the definition of a tool."""
    try:
        return estimate(msgspec.json.encode(tool).decode())
    except (ValueError, TypeError, OverflowError, RecursionError):
        return 0  # numbers and halves of characters that no writer takes
