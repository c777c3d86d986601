"""What fills a session's window, request by request, turn by turn and by kind, with the compactions that empty it.

Every piece is estimated (see `tokens`). Where the log tells what a request measured, the estimates are held against
it: what they leave open is `unaccounted` (the system prompt, the tools' definitions, instructions that no log holds),
and where they come to more than was measured they are made smaller alike. Where the log keeps the request itself,
nothing is left open: what was in the window is known exactly, and what was measured is shared out among it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import msgspec

from unspool.figures.tokens import (
    THINKING,
    TOOL_INPUT,
    RecordedWindows,
    WindowPiece,
    block_pieces,
    input_piece,
    prompt_pieces,
)
from unspool.model import Block, Message, Notice, Session, Text, Thinking, ToolCall, Turn
from unspool.model.request import RecordedRequests
from unspool.model.usage import KINDS, SYSTEM_PROMPT, TOOL_DEFINITIONS
from unspool.prices.table import token_density, window_size

_COMPACTION = "compaction"
_PARTLY = "micro-compaction"
_WORDS = 120
"""Characters that an entry is told by."""


class ToolTokens(msgspec.Struct, frozen=True):
    """What a tool has put into the window that is in it still."""

    name: str
    input: int
    output: int

    @property
    def tokens(self) -> int:
        return self.input + self.output


class RequestWindow(msgspec.Struct, frozen=True):
    """The window as a request found it."""

    turn: int
    message: str
    model: str
    kinds: dict[str, int]
    """Tokens of each kind."""
    measured: int
    """What the request measured; 0 where the log does not tell."""
    unaccounted: int
    exact: bool = False
    """Whether the log keeps the request itself, so that all that was in the window is known."""

    @property
    def total(self) -> int:
        return sum(self.kinds.values()) + self.unaccounted

    @property
    def beside(self) -> int:
        """Tokens besides the conversation: what every request sends again."""
        return self.unaccounted + sum(self.kinds.get(name, 0) for name in (SYSTEM_PROMPT, TOOL_DEFINITIONS))


class TurnWindow(msgspec.Struct, frozen=True):
    """What a turn put into the window, and how full it was at the turn's last request."""

    number: int
    added: dict[str, int]
    window: RequestWindow | None
    compactions: int = 0

    @property
    def tokens(self) -> int:
        return sum(self.added.values())


class WindowEntry(msgspec.Struct, frozen=True):
    """One entry of the log that is in the window, with what it takes of it."""

    line: int
    """Of the log; 0 where the entry stands in another log."""
    turn: int
    kind: str
    """What most of it is."""
    tool: str
    tokens: int
    words: str
    """How it begins."""


class ContextWindow(msgspec.Struct, frozen=True):
    """What fills the window of a session's own conversation, along its live path."""

    model: str
    window: int | None
    """Tokens that the model's window holds; None where that is not known."""
    now: RequestWindow | None
    """The window at the last request; None where there was none."""
    peak: int
    """The most that a request measured; that was estimated, where none did."""
    turns: tuple[TurnWindow, ...]
    tools: tuple[ToolTokens, ...]
    """What is of tools in the window now, the most first."""
    compactions: int
    added: dict[str, int]
    """All that was put into the window over the session, whatever was taken out again."""
    scale: float = 1.0
    """What an estimate has to be multiplied by to come to what the last request measured, where that is kept whole."""
    entries: tuple[WindowEntry, ...] = ()
    """What is in the window now, entry by entry in the order of the log; subagents and other logs left out."""
    measured: Literal["by request", "by session", ""] = ""
    """What the log tells figures of: every request, or only the session together; nothing where it tells none."""

    @property
    def unmeasured(self) -> str:
        """Why the windows are only estimated, in words; empty where requests were measured."""
        if self.measured == "by session":
            return "tokens are logged for the session, not by turn"
        return "" if self.measured else "the log tells no figures"

    @property
    def share(self) -> float | None:
        """How much of the window is full; None where it is not known."""
        return self.now.total / self.window if self.now is not None and self.window else None


def context_window(session: Session, recorded: RecordedRequests | None = None) -> ContextWindow:
    """What fills the window of a session; `recorded` are the requests that its log keeps whole."""
    fill = _Fill(session, recorded)
    turns = tuple(fill.turn(turn) for turn in session.turns)
    now = next((turn.window for turn in reversed(turns) if turn.window is not None), None)
    peak = max((request.total for request in fill.requests), default=0)
    model = now.model if now is not None else ""
    added: Counter[str] = Counter()
    for turn in turns:
        added.update(turn.added)
    size = window_limit(session, model, max((request.measured for request in fill.requests), default=0))
    tools = tuple(sorted(fill.tools(), key=lambda tool: (-tool.tokens, tool.name)))
    compactions = sum(turn.compactions for turn in turns)
    told = _measured(session, fill.requests)
    entries = tuple(_entries(session, fill))
    return ContextWindow(model, size, now, peak, turns, tools, compactions, dict(added), fill.scale, entries, told)


def _entries(session: Session, fill: "_Fill") -> Iterator[WindowEntry]:
    """The entries that the last request found in the window, each once."""
    weights: dict[str, Counter[tuple[int, str]]] = {}
    for piece in fill.logged_pieces():
        if piece.line:
            weights.setdefault(piece.line, Counter())[piece.kind, piece.tool] += piece.tokens
    begun = {name: (line, turn, words) for name, line, turn, words in _beginnings(session)}
    for name, weight in weights.items():
        line, turn, words = begun.get(name, (0, 0, ""))
        (kind, tool), _ = weight.most_common(1)[0]
        tokens = round(weight.total() * fill.scale)
        yield WindowEntry(line, turn, KINDS[kind], tool, tokens, words)


def _beginnings(session: Session) -> Iterator[tuple[str, int, int, str]]:
    """Id, line and turn of every entry of the live conversation, and how it begins."""
    for turn in session.turns:
        if turn.prompt is not None:
            yield turn.prompt.id, turn.prompt.place.line, turn.number, _begun(turn.prompt.words)
        for block in turn.blocks:
            if isinstance(block, ToolCall):
                yield block.id, block.place.line, turn.number, _begun(" ".join(_texts(block.input)))
                if block.result is not None:
                    yield block.result.id, block.result.place.line, turn.number, _begun(block.result.text)
            elif isinstance(block, Notice):
                words = block.text or " ".join(islice(_texts(block.facts), 3))
                yield block.id, block.place.line, turn.number, _begun(words)
            elif isinstance(block, Text | Thinking):
                yield block.id, block.place.line, turn.number, _begun(block.text)
            else:
                yield block.id, block.place.line, turn.number, ""


def _begun(text: str) -> str:
    return " ".join(text[: 2 * _WORDS].split())[:_WORDS]


def _measured(session: Session, requests: Sequence[RequestWindow]) -> Literal["by request", "by session", ""]:
    if any(request.measured for request in requests):
        return "by request"
    return "by session" if any(call.usage.context for one in session.messages for call in one.calls) else ""


def window_limit(session: Session, model: str, sent: int) -> int | None:
    """Tokens that a model's window holds: what the log says, where no request sent more; else what is known."""
    return session.window if session.window >= max(1, sent) else window_size(model, sent)


def request_windows(session: Session, recorded: RecordedRequests | None = None) -> Sequence[RequestWindow]:
    """The window as every request of the live path found it."""
    fill = _Fill(session, recorded)
    for turn in session.turns:
        fill.turn(turn)
    return fill.requests


class _Fill:
    """The window while the conversation goes by."""

    def __init__(self, session: Session, recorded: RecordedRequests | None) -> None:
        self.scale = 1.0
        self._messages = {one.id: one for one in session.messages if not one.synthetic and not one.retracted}
        self._thoughts = _thoughts(session.turns, self._messages)
        self._windows = RecordedWindows(recorded, self._thoughts) if recorded else None
        self._density = token_density(next((one.model for one in self._messages.values()), ""))
        self._inside: list[WindowPiece] = []
        self._sums = [0] * len(KINDS)
        self._seen: set[str] = set()
        self._found = 0
        """How many of the pieces inside the last request found there."""
        self._left: list[WindowPiece] | None = None
        """What it found there, where that was taken out since."""
        self.requests: list[RequestWindow] = []

    def turn(self, turn: Turn) -> TurnWindow:
        added, before, compactions = [0] * len(KINDS), len(self.requests), 0
        if turn.prompt is not None:
            self._put(prompt_pieces(turn.prompt), added)
        for block in turn.blocks:
            self._request(block, turn.number)
            if isinstance(block, Notice) and block.kind in (_COMPACTION, _PARTLY):
                compactions += block.kind == _COMPACTION
                self._leave(_preserved if block.kind == _COMPACTION else _uncleared, block)
            self._put(self._pieces(block), added)
        last = self.requests[-1] if len(self.requests) > before else None
        if last is not None and last.exact:
            added = [round(tokens * self.scale / self._density) for tokens in added]
        return TurnWindow(turn.number, _named(added), last, compactions)

    def tools(self) -> Iterator[ToolTokens]:
        """What tools have in the window that the last request found."""
        given: Counter[str] = Counter()
        got: Counter[str] = Counter()
        for piece in self._found_pieces():
            if piece.tool:
                (given if piece.kind == TOOL_INPUT else got)[piece.tool] += round(piece.tokens * self.scale)
        for name in {**given, **got}:
            yield ToolTokens(name, given[name], got[name])

    def _found_pieces(self) -> Sequence[WindowPiece]:
        """What the last request found in the window."""
        if self._windows is not None and self.requests and self.requests[-1].exact:
            return self._windows.pieces(self._messages[self.requests[-1].message].request)
        return self.logged_pieces()

    def logged_pieces(self) -> Sequence[WindowPiece]:
        """The same as far as the entries of the log tell, without what only a request that is kept whole holds."""
        return self._left if self._left is not None else self._inside[: self._found]

    def _pieces(self, block: Block) -> Iterator[WindowPiece]:
        if isinstance(block, Thinking) and not block.text:
            yield WindowPiece(THINKING, self._thoughts.get(block.message, 0), "", block.id)
            return
        yield from block_pieces(block)

    def _put(self, pieces: Iterable[WindowPiece], added: list[int]) -> None:
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
        self._density = token_density(message.model)
        self._found, self._left = len(self._inside), None
        sums = self._windows.sums(message.request) if self._windows is not None and message.request else None
        if sums is None:
            self.scale = 1.0
            self.requests.append(_request(turn, message, self._sums))
            return
        request = _exact_request(turn, message, sums)
        self.scale = request.measured / sum(sums) if request.measured and sum(sums) else token_density(message.model)
        self.requests.append(request)

    def _leave(self, stay: Callable[[list[WindowPiece], frozenset[str]], list[WindowPiece]], block: Notice) -> None:
        """Take pieces out of the window; the notice names those that it is about."""
        if self._left is None:
            self._left = self._inside[: self._found]
        self._inside = stay(self._inside, frozenset(_texts(block.facts)))
        self._sums = [0] * len(KINDS)
        for piece in self._inside:
            self._sums[piece.kind] += piece.tokens


def _request(turn: int, message: Message, sums: Sequence[int]) -> RequestWindow:
    """The window that a request found, with the estimates held against what it measured."""
    measured, estimated = max((call.usage.context for call in message.own_calls), default=0), sum(sums)
    if measured and estimated > measured:
        sums = [tokens * measured // estimated for tokens in sums]
    unaccounted = measured - sum(sums) if measured else 0
    return RequestWindow(turn, message.id, message.model, _named(sums), measured, unaccounted)


def _exact_request(turn: int, message: Message, sums: Sequence[int]) -> RequestWindow:
    """The window of a request that is kept whole: what it measured, shared out by the estimates."""
    measured = max((call.usage.context for call in message.own_calls), default=0)
    estimated = sum(sums) or 1
    shared = [tokens * measured // estimated for tokens in sums] if measured else list(sums)
    if measured:
        shared[max(range(len(sums)), key=sums.__getitem__)] += measured - sum(shared)  # what rounding left
    names = (*KINDS, SYSTEM_PROMPT, TOOL_DEFINITIONS)
    kinds = {name: tokens for name, tokens in zip(names, shared, strict=True) if tokens}
    return RequestWindow(turn, message.id, message.model, kinds, measured, 0, exact=True)


def _named(sums: Sequence[int]) -> dict[str, int]:
    return {name: tokens for name, tokens in zip(KINDS, sums, strict=True) if tokens}


def _preserved(pieces: list[WindowPiece], named: frozenset[str]) -> list[WindowPiece]:
    """A compaction leaves the lines that it names, and what lies between the first and the last of them."""
    places = [place for place, piece in enumerate(pieces) if piece.line in named]
    return pieces[places[0] : places[-1] + 1] if places else []


def _uncleared(pieces: list[WindowPiece], named: frozenset[str]) -> list[WindowPiece]:
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
                piece = input_piece(block) if isinstance(block, ToolCall) else block_pieces(block)[0]
                written[block.message] += piece.tokens  # what the model itself wrote of it
    return {name: _left_over(messages.get(name), written[name]) // number for name, number in blank.items()}


def _left_over(message: Message | None, written: int) -> int:
    """Output of a message that its blocks do not hold, in tokens of the newest models, as all estimates are."""
    if message is None or message.usage.floor:
        return 0
    part = token_density(message.model)
    return max(0, round(message.usage.output / part) - written)
