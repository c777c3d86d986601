"""What fills a session's window, request by request, turn by turn and by kind, with the compactions that empty it.

Every piece is estimated (see `tokens`). Where the log tells what a request measured, the estimates are held against
it: what they leave open is `unaccounted` (the system prompt, the tools' definitions, instructions that no log holds),
and where they come to more than was measured they are made smaller alike.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from unspool.figures.pieces import THINKING, TOOL_INPUT, Piece, of_block, of_input, of_prompt
from unspool.model import Block, Message, Notice, Session, Text, Thinking, ToolCall, Turn
from unspool.model.window import KINDS
from unspool.prices.windows import density, window

_COMPACTION = "compaction"
_PARTLY = "micro-compaction"


class Tool(msgspec.Struct, frozen=True):
    """What a tool has put into the window that is in it still."""

    name: str
    input: int
    output: int

    @property
    def tokens(self) -> int:
        return self.input + self.output


class Request(msgspec.Struct, frozen=True):
    """The window as a request found it."""

    turn: int
    message: str
    model: str
    kinds: dict[str, int]
    """Tokens of each kind."""
    measured: int
    """What the request measured; 0 where the log does not tell."""
    unaccounted: int

    @property
    def total(self) -> int:
        return sum(self.kinds.values()) + self.unaccounted


class TurnFilling(msgspec.Struct, frozen=True):
    """What a turn put into the window, and how full it was at the turn's last request."""

    number: int
    added: dict[str, int]
    window: Request | None
    compactions: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that it added."""
        return sum(self.added.values())


class Filling(msgspec.Struct, frozen=True):
    """What fills the window of a session's own conversation, along its live path."""

    model: str
    window: int | None
    """Tokens that the model's window holds; None where that is not known."""
    now: Request | None
    """The window at the last request; None where there was none."""
    peak: int
    """The most that a request measured; that was estimated, where none did."""
    turns: tuple[TurnFilling, ...]
    tools: tuple[Tool, ...]
    """What is of tools in the window now, the most first."""
    compactions: int
    added: dict[str, int]
    """All that was put into the window over the session, whatever was taken out again."""

    @property
    def share(self) -> float | None:
        """How much of the window is full; None where it is not known."""
        return self.now.total / self.window if self.now is not None and self.window else None


def filling(session: Session) -> Filling:
    """What fills the window of a session."""
    fill = _Fill(session)
    turns = tuple(fill.turn(turn) for turn in session.turns)
    now = next((turn.window for turn in reversed(turns) if turn.window is not None), None)
    peak = max((request.total for request in fill.requests), default=0)
    model = now.model if now is not None else ""
    added: Counter[str] = Counter()
    for turn in turns:
        added.update(turn.added)
    size = window(model, max((request.measured for request in fill.requests), default=0))
    tools = tuple(sorted(fill.tools(), key=lambda tool: (-tool.tokens, tool.name)))
    return Filling(model, size, now, peak, turns, tools, sum(turn.compactions for turn in turns), dict(added))


def requests(session: Session) -> Sequence[Request]:
    """The window as every request of the live path found it."""
    fill = _Fill(session)
    for turn in session.turns:
        fill.turn(turn)
    return fill.requests


class _Fill:
    """The window while the conversation goes by."""

    def __init__(self, session: Session) -> None:
        self._messages = {one.id: one for one in session.messages if not one.synthetic and not one.retracted}
        self._thoughts = _thoughts(session.turns, self._messages)
        self._density = density(next((one.model for one in self._messages.values()), ""))
        self._inside: list[Piece] = []
        self._sums = [0] * len(KINDS)
        self._seen: set[str] = set()
        self._found = 0
        """How many of the pieces inside the last request found there."""
        self._left: list[Piece] | None = None
        """What it found there, where that was taken out since."""
        self.requests: list[Request] = []

    def turn(self, turn: Turn) -> TurnFilling:
        """Take in a turn."""
        added, before, compactions = [0] * len(KINDS), len(self.requests), 0
        if turn.prompt is not None:
            self._put(of_prompt(turn.prompt), added)
        for block in turn.blocks:
            self._request(block, turn.number)
            if isinstance(block, Notice) and block.kind in (_COMPACTION, _PARTLY):
                compactions += block.kind == _COMPACTION
                self._leave(_preserved if block.kind == _COMPACTION else _uncleared, block)
            self._put(self._pieces(block), added)
        last = self.requests[-1] if len(self.requests) > before else None
        return TurnFilling(turn.number, _named(added), last, compactions)

    def tools(self) -> Iterator[Tool]:
        """What tools have in the window that the last request found."""
        given: Counter[str] = Counter()
        got: Counter[str] = Counter()
        for piece in self._left if self._left is not None else self._inside[: self._found]:
            if piece.tool:
                (given if piece.kind == TOOL_INPUT else got)[piece.tool] += piece.tokens
        for name in {**given, **got}:
            yield Tool(name, given[name], got[name])

    def _pieces(self, block: Block) -> Iterator[Piece]:
        if isinstance(block, Thinking) and not block.text:
            yield Piece(THINKING, self._thoughts.get(block.message, 0), "", block.id)
            return
        yield from of_block(block)

    def _put(self, pieces: Iterator[Piece], added: list[int]) -> None:
        for piece in pieces:
            tokens = round(piece.tokens * self._density)
            self._inside.append(piece._replace(tokens=tokens))
            self._sums[piece.kind] += tokens
            added[piece.kind] += tokens

    def _request(self, block: Block, turn: int) -> None:
        """A block of a message that was not met yet tells of a request, which found the window as it is."""
        if not isinstance(block, Text | Thinking | ToolCall) or block.message in self._seen:
            return
        message = self._messages.get(block.message)
        if message is None:
            return
        self._seen.add(block.message)
        self._density = density(message.model)
        self._found, self._left = len(self._inside), None
        self.requests.append(_request(turn, message, self._sums))

    def _leave(self, stay: Callable[[list[Piece], frozenset[str]], list[Piece]], block: Notice) -> None:
        """Take pieces out of the window; the notice names those that it is about."""
        if self._left is None:
            self._left = self._inside[: self._found]
        self._inside = stay(self._inside, frozenset(_texts(block.facts)))
        self._sums = [0] * len(KINDS)
        for piece in self._inside:
            self._sums[piece.kind] += piece.tokens


def _request(turn: int, message: Message, sums: Sequence[int]) -> Request:
    """The window that a request found, with the estimates held against what it measured."""
    measured, estimated = max((call.usage.context for call in message.calls), default=0), sum(sums)
    if measured and estimated > measured:
        sums = [tokens * measured // estimated for tokens in sums]
    unaccounted = measured - sum(sums) if measured else 0
    return Request(turn, message.id, message.model, _named(sums), measured, unaccounted)


def _named(sums: Sequence[int]) -> dict[str, int]:
    return {name: tokens for name, tokens in zip(KINDS, sums, strict=True) if tokens}


def _preserved(pieces: list[Piece], named: frozenset[str]) -> list[Piece]:
    """A compaction leaves the lines that it names, and what lies between the first and the last of them."""
    places = [place for place, piece in enumerate(pieces) if piece.line in named]
    return pieces[places[0] : places[-1] + 1] if places else []


def _uncleared(pieces: list[Piece], named: frozenset[str]) -> list[Piece]:
    """A smaller one takes the answers of the calls that it names."""
    return [piece for piece in pieces if piece.kind == TOOL_INPUT or piece.call not in named]


def _texts(data: Any, depth: int = 5) -> Iterator[str]:
    """Strings in data, as deep as a notice has them."""
    if isinstance(data, str) and data:
        yield data
    elif depth and isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value, depth - 1)


def _thoughts(turns: Sequence[Turn], messages: Mapping[str, Message]) -> dict[str, int]:
    """Tokens of a block of thinking whose words are not in the log, by message: what is left of its output."""
    blank: Counter[str] = Counter()
    written: Counter[str] = Counter()
    for turn in turns:
        for block in turn.blocks:
            if isinstance(block, Thinking) and not block.text:
                blank[block.message] += 1
    for turn in turns if blank else ():
        for block in turn.blocks:
            if isinstance(block, Text | Thinking | ToolCall) and block.message in blank:
                written[block.message] += _said(block)
    return {name: _left_over(messages.get(name), written[name]) // number for name, number in blank.items()}


def _said(block: Text | Thinking | ToolCall) -> int:
    """Tokens that the model itself wrote of a block."""
    if isinstance(block, ToolCall):
        return of_input(block).tokens
    return next(of_block(block)).tokens


def _left_over(message: Message | None, written: int) -> int:
    """Output of a message that its blocks do not hold, in tokens of the newest models, as all estimates are."""
    if message is None or message.usage.floor:
        return 0
    part = density(message.model)
    return max(0, round(message.usage.output / part) - written)
