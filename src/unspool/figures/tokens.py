"""Tokens in a model's window: estimates, pieces of a conversation, windows of recorded requests."""

from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from unspool.agents.pixels import HEAD, size_of
from unspool.model import Block, Image, Json, Notice, Prompt, Result, Text, Thinking, ToolCall, Unknown
from unspool.model.request import RecordedRequests
from unspool.model.usage import CAUSES, KINDS
from unspool.prices import CallFigures

_KINDS = {"l": "abcdefghijklmnopqrstuvwxyz", "n": "\n\r", "b": " \t"}
_TABLE = bytes(
    ord(next((kind for kind, some in _KINDS.items() if chr(code) in some), "s" if code < 128 else "x"))
    for code in range(256)
)
"""Each byte by its kind: small letter, line break, blank, sign (capitals and digits too), beyond ASCII."""
_LETTER, _SIGN, _BREAK, _BLANK, _BEYOND = 32, 86, 130, 7, 30
"""Hundredths of a token that a byte of each kind takes."""

IMAGE_EDGE, IMAGE_MOST, _PIXELS = 1568, 1600, 750
"""Pixels of the longer edge and tokens at which a picture is made smaller, and the pixels of a token."""
RESULT = 13
"""What the frame around a tool's answer takes."""
CALL = 40
"""What the frame around a tool call takes."""


def estimate_tokens(text: str) -> int:
    """Tokens of a text. A piece never has more than the whole, nor the whole more than its pieces together."""
    kinds = text.encode("utf-8", "surrogatepass").translate(_TABLE)
    count = kinds.count
    signs, breaks, blanks = count(b"s"), count(b"n"), count(b"b")
    beyond = 0 if text.isascii() else count(b"x")
    letters = len(kinds) - signs - breaks - blanks - beyond
    return (
        letters * _LETTER + signs * _SIGN + breaks * _BREAK + blanks * _BLANK + beyond * _BEYOND + 99
    ) // 100  # fmt: skip


def image_tokens(width: int, height: int) -> int:
    """Tokens of a picture by its size in pixels; one of unknown size (zero) is taken for the dearest."""
    if width <= 0 or height <= 0:
        return IMAGE_MOST
    longer = max(width, height)
    if longer > IMAGE_EDGE:
        width, height = width * IMAGE_EDGE // longer, height * IMAGE_EDGE // longer
    return max(1, min(IMAGE_MOST, -(-width * height // _PIXELS)))


def picture_size(data: str) -> tuple[int, int]:
    """Width and height of a picture in base64; zeros where its data does not tell."""
    try:
        return size_of(b64decode(data[:HEAD].encode("ascii")))
    except (Error, ValueError):
        return 0, 0


(
    INSTRUCTIONS, PROMPTS, ANSWERS, THINKING, TOOL_INPUT, FILES, TOOL_OUTPUT, IMAGES, SUMMARIES, OTHER,
) = range(len(KINDS))  # fmt: skip

_UNSENT = frozenset(
    {
        "progress", "duration", "retry", "info", "recap", "compaction", "micro-compaction", "denied", "refusal",
        "model-switch", "api-error", "system-prompt", "synopsis",
    }
)  # fmt: skip
"""Notices for the person alone: no model is told."""
_INSTRUCTING = ("memory", "reminder", "plan-mode", "skill", "caveat", "attachment", "environment", "offer", "meta")
_NOTICES = {
    **dict.fromkeys(_INSTRUCTING, INSTRUCTIONS),
    "summary": SUMMARIES,
    "bash-output": TOOL_OUTPUT,
    "command-output": TOOL_OUTPUT,
}
_WORDS_ALONE = frozenset({"hook", "environment", "offer", "reminder", "plan-mode"})
"""Notices of which only the words go on to the model."""
_PREVIEW = 2000
"""Characters that a model is shown of an output that was put into a file."""

Measure = Callable[[str], int]


class WindowPiece(NamedTuple):
    """Something that was put into the window."""

    kind: int
    """Its place in KINDS."""
    tokens: int
    tool: str = ""
    line: str = ""
    """The id of the line it came with."""
    call: str = ""
    """The id of the tool call that it is a side of."""


def prompt_pieces(prompt: Prompt, measure: Measure = estimate_tokens) -> list[WindowPiece]:
    """A prompt's words and pictures; of a command, what it was expanded to."""
    words = f"{prompt.command} {prompt.arguments}\n{prompt.text}" if prompt.command else prompt.text
    return [WindowPiece(PROMPTS, measure(words), "", prompt.id), *_pictures(prompt.images, prompt.id)]


def block_pieces(block: Block | Result, measure: Measure = estimate_tokens) -> list[WindowPiece]:
    """What one block put into the window: of a call both sides. Thinking without its words counts for nothing."""
    match block:
        case Text():
            return [WindowPiece(ANSWERS, measure(block.text), "", block.id)]
        case Thinking():
            return [WindowPiece(THINKING, measure(block.text), "", block.id)]
        case ToolCall():
            given = [input_piece(block, measure)] if block.state != "orphan" else []
            if block.result is not None:
                given += result_pieces(block.result, block.name, block.role, measure)
            return given
        case Result():
            return result_pieces(block, measure=measure)
        case Image():
            return _pictures((block,), block.id)
        case Notice() if block.kind not in _UNSENT:
            return _of_notice(block, measure)
        case Unknown():
            return [WindowPiece(OTHER, measure(_words(block.data)), "", block.id)]
    return []


def input_piece(call: ToolCall, measure: Measure = estimate_tokens) -> WindowPiece:
    return WindowPiece(TOOL_INPUT, input_tokens(call, measure), call.name, call.id, call.call_id)


def input_tokens(call: ToolCall, measure: Measure) -> int:
    """Tokens of a call as a model writes it."""
    return CALL + measure(call.name) + written_tokens(call, measure)


def written_tokens(call: ToolCall, measure: Measure) -> int:
    """Tokens of what a call is given."""
    return measure(_written(call.input))


def result_pieces(
    result: Result, tool: str = "", role: str = "", measure: Measure = estimate_tokens
) -> list[WindowPiece]:
    """What a tool answered, as far as the model saw it."""
    kind, tokens = result_tokens(result, role, measure)
    pictures = [one._replace(tool=tool, call=result.call_id) for one in _pictures(result.images, result.id)]
    return [WindowPiece(kind, tokens, tool, result.id, result.call_id), *pictures]


def result_tokens(result: Result, role: str, measure: Measure) -> tuple[int, int]:
    """The kind and the tokens of what a tool answered, without pictures."""
    tokens = RESULT + measure(result.text[:_PREVIEW] if result.spilled else result.text)
    for part in result.parts:
        tokens += measure(_words(part))
    return FILES if role == "read" and not result.error else TOOL_OUTPUT, tokens


def _of_notice(notice: Notice, measure: Measure) -> list[WindowPiece]:
    kind = FILES if "filename" in notice.facts else _NOTICES.get(notice.kind, OTHER)
    tokens = measure(notice.text)
    if notice.kind not in _WORDS_ALONE and not (notice.kind == "memory" and notice.text):
        tokens += measure(_words(notice.facts))
    told = [WindowPiece(kind, tokens, "", notice.id)] if tokens else []
    return [*told, *_pictures(notice.images, notice.id)]


def _pictures(images: tuple[Image, ...], line: str) -> list[WindowPiece]:
    return [
        WindowPiece(FILES, estimate_tokens(one.data), "", line)
        if one.media_type.startswith("text/")
        else WindowPiece(IMAGES, image_tokens(*picture_size(one.data)), "", line)
        for one in images
    ]


def _written(data: Json) -> str:
    """Data as a model writes it."""
    try:
        return msgspec.json.encode(data).decode()
    except (ValueError, TypeError, OverflowError, RecursionError):
        return _words(data)  # numbers and halves of characters that no writer takes


def _words(data: Json) -> str:
    """Every string in data, each on its line."""
    found: list[str] = []
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return "\n".join(found)


_Sums = tuple[int, ...]


class RecordedWindows:
    """Tokens by kind (KINDS, then system prompt and tool definitions) in the window of each request."""

    def __init__(self, recorded: RecordedRequests, thoughts: Mapping[str, int]) -> None:
        self._recorded = recorded
        self._thoughts = thoughts
        """Tokens of a block of thinking whose words are not in the log, by answer."""
        self._ids = frozenset(recorded)
        self._pieces: dict[str, tuple[WindowPiece, ...]] = {}
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
        pairs = enumerate(zip(self._keys, keys, strict=False))
        same = next((at for at, (before, now) in pairs if before != now), min(len(self._keys), len(keys)))
        del self._running[same + 1 :]
        for key in keys[same:]:
            self._running.append(_plus(self._running[-1], self._of(key)))
        self._keys = keys
        system, tools = sum(map(estimate_tokens, frame[0])), sum(map(_size, frame[1]))
        return (*self._running[-1], system, tools)

    def pieces(self, request: str) -> Sequence[WindowPiece]:
        """What the messages of a request put into its window."""
        return [piece for key in self._recorded.message_keys(request) for piece in self._of(key)]

    def _of(self, key: str) -> tuple[WindowPiece, ...]:
        if key not in self._pieces:
            self._pieces[key] = tuple(self._measured(key))
        return self._pieces[key]

    def _measured(self, key: str) -> Iterator[WindowPiece]:
        message = self._recorded.message(key)
        if message.prompt is not None:
            yield from prompt_pieces(message.prompt)
        for block in message.blocks:
            if isinstance(block, ToolCall):
                self._callers[block.call_id] = block.name, block.role
            if isinstance(block, Result):
                yield from result_pieces(block, *self._callers.get(block.call_id, ("", "")))
            elif isinstance(block, Thinking) and not block.text:
                yield WindowPiece(THINKING, self._thoughts.get(message.answer, 0))
            else:
                yield from block_pieces(block)


def _plus(sums: _Sums, pieces: Sequence[WindowPiece]) -> _Sums:
    found = list(sums)
    for piece in pieces:
        found[piece.kind] += piece.tokens
    return tuple(found)


def _size(tool: dict[str, Any]) -> int:
    """Tokens of the definition of a tool."""
    try:
        return estimate_tokens(msgspec.json.encode(tool).decode())
    except (ValueError, TypeError, OverflowError, RecursionError):
        return 0  # numbers and halves of characters that no writer takes


EXPIRED, SWITCHED, COMPACTED, UNEXPLAINED = range(len(CAUSES))
LEAST, _MOST = 1024, 10**8
"""Tokens that are worth telling of: less is not cached at all, and more is no window's but a damaged log's."""
_MINUTES, _HOUR = 300.0, 3600.0
"""How long the cache holds, in seconds."""
_SHRUNK = 0.9
"""A window that fell below this part of what it was was cut: what is written then is not the same again."""


class CachedRequest(NamedTuple):
    """A request, as far as the cache is concerned."""

    model: str
    time: float | None
    input: int
    read: int
    write: int
    hour: int
    """The part of `write` that is kept for an hour."""
    compacted: bool = False
    """True where a compaction came just before it."""


class RewrittenTokens(NamedTuple):
    """Tokens that a request wrote again, and why."""

    cause: int
    """Its place in CAUSES."""
    tokens: int
    hour: int
    """The part that is kept for an hour."""


def find_rewrites(requests: Iterable[CachedRequest]) -> Iterator[RewrittenTokens | None]:
    """For each request of one conversation, in order, what it wrote again; None where that is nothing."""
    before: CachedRequest | None = None
    kept = _MINUTES
    for now in requests:
        yield _again(before, now, kept) if before is not None else None
        if now.write:
            kept = _HOUR if now.hour * 2 > now.write else _MINUTES
        if now.read or now.write or now.input:
            before = now


def cached_instead(figures: Sequence[int], again: RewrittenTokens) -> CallFigures:
    """The figures of a request, had the cache held: what it wrote again is read."""
    input_, output, read, write, hour, *rest = figures
    return (input_, output, read + again.tokens, write - again.tokens, hour - again.hour, *rest)  # type: ignore[return-value]


def _again(before: CachedRequest, now: CachedRequest, kept: float) -> RewrittenTokens | None:
    cached = before.read + before.write
    tokens = min(now.write, cached - now.read)
    cut = now.input + now.read + now.write < cached * _SHRUNK
    if not LEAST <= tokens <= _MOST or (cut and not now.compacted):
        return None
    return RewrittenTokens(_cause(before, now, kept), tokens, tokens * min(now.hour, now.write) // now.write)


def _cause(before: CachedRequest, now: CachedRequest, kept: float) -> int:
    if now.compacted:
        return COMPACTED
    if now.model != before.model:
        return SWITCHED
    paused = before.time is not None and now.time is not None and now.time - before.time > kept
    return EXPIRED if paused else UNEXPLAINED
