"""The billed requests of a log, read as quickly as can be.

A line without the word "usage" as a key is never looked at; of one with it, only what is billed is decoded. A line
that does not have the usual shape is understood by the parser.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, BinaryIO, TypedDict

import msgspec

from unspool.agents import lines as documents
from unspool.agents.claude_code.messages import ROLES, SYNTHETIC, billing_terms
from unspool.agents.claude_code.parse import ClaudeParser
from unspool.agents.claude_code.values import LARGEST, moment
from unspool.agents.lines import Cursor, Lines, recover_entries
from unspool.model import Call, Entry, Place, Usage


class _Block(TypedDict, total=False):
    type: Any
    id: Any
    name: Any
    text: Any
    tool_use_id: Any
    is_error: Any
    signature: Any


class _Message(TypedDict, total=False):
    id: Any
    role: Any
    model: Any
    stop_reason: Any
    usage: Any
    content: str | list[_Block] | None


class _Attachment(TypedDict, total=False):
    type: Any
    prompt: Any
    commandMode: Any
    isMeta: Any
    origin: Any


class _Progress(TypedDict, total=False):
    type: Any
    agentId: Any


class _Line(TypedDict, total=False):
    type: Any
    subtype: Any
    uuid: Any
    parentUuid: Any
    sessionId: Any
    session_id: Any
    timestamp: Any
    isSidechain: Any
    agentId: Any
    isMeta: Any
    isCompactSummary: Any
    teamName: Any
    cwd: Any
    gitBranch: Any
    version: Any
    slug: Any
    entrypoint: Any
    sessionKind: Any
    forkedFrom: Any
    permissionMode: Any
    promptSource: Any
    origin: Any
    planContent: Any
    requestId: Any
    isApiErrorMessage: Any
    parent_tool_use_id: Any
    parentToolUseID: Any
    sourceToolUseID: Any
    message: _Message | None
    attachment: _Attachment | None
    data: _Progress | None
    content: Any
    operation: Any
    summary: Any
    leafUuid: Any
    customTitle: Any
    aiTitle: Any
    agentName: Any
    prNumber: Any
    prUrl: Any
    prRepository: Any
    worktreeSession: Any
    relocatedCwd: Any
    continuedInSessionId: Any
    totalCostUSD: Any
    total_cost_usd: Any


class LightDecoder:
    """Decodes like a msgspec decoder, without the bulk. Plans and what became of them come whole, for titles."""

    def __init__(self, plans: frozenset[str] = frozenset()) -> None:
        self._light = msgspec.json.Decoder(_Line)
        self._whole = msgspec.json.Decoder()
        self._plans = set(plans)

    def decode(self, raw: bytes) -> Any:
        try:
            line = self._light.decode(raw)
        except msgspec.ValidationError:
            return self._whole.decode(raw)
        return self._whole.decode(raw) if self._tells_of_plan(line) else line

    def _tells_of_plan(self, line: _Line) -> bool:
        message = line.get("message")
        content = message.get("content") if message else None
        if not isinstance(content, list):
            return False
        for block in content:
            name, answered = block.get("name"), block.get("tool_use_id")
            if isinstance(name, str) and ROLES.get(name) == "plan":
                self._plans.add(str(block.get("id")))
                return True
            if self._plans and isinstance(answered, str) and answered in self._plans:
                return True
        return False


_BLOCK = 4 * 1024 * 1024
_HEAD = 4096
_KEY = b'"usage"'
_BY_PLACE = "line-"
"""How the id of a message begins that has none of its own, so that its place in the log is one."""


_Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)] | None


class _Lifetimes(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: _Count = 0
    ephemeral_5m_input_tokens: _Count = 0


class _Server(msgspec.Struct, gc=False):
    web_search_requests: _Count = 0
    web_fetch_requests: _Count = 0


class _Usage(msgspec.Struct):
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0
    cache_creation: _Lifetimes | None = None
    server_tool_use: _Server | None = None
    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None


class _BilledMessage(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    stop_reason: str | None = None


class _BilledLine(msgspec.Struct):
    type: str | None = None
    uuid: str | None = None
    requestId: str | None = None  # noqa: N815  the log's own name
    timestamp: str | None = None
    message: _BilledMessage | None = None


_decode = msgspec.json.Decoder(_BilledLine).decode


class _Restart(Exception):
    """A message is told by its place only, and its place is not known here."""


def billed_calls(stream: BinaryIO) -> Iterator[Call]:
    """A call for each line that was billed, as `Ledger.add` takes them; copies of one request may follow one another.

    The key is the message's id and the request's, with a colon between. The stream must stand at its start.
    """
    block = stream.read(_BLOCK)
    if documents.starts_document(block[:_HEAD]):
        block += stream.read()
        entries = documents.document_entries(block)
        if entries is not None:
            yield from _understood(entries)
            return
    try:
        yield from _quickly(block, stream)
    except _Restart:
        stream.seek(0)
        yield from _understood(Lines(LightDecoder()).entries(stream, Cursor()))


def _quickly(block: bytes, stream: BinaryIO) -> Iterator[Call]:
    last: _BilledLine | None = None
    for lines in _whole_lines(block, stream):
        for raw in _with_usage(lines):
            try:
                line = _decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield from _unusual(bytes(raw))
                continue
            if line.type != "assistant" or _repeats(line, last):
                continue
            last = line
            yield from _calls(line, raw)


def _whole_lines(block: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """The log in pieces that end with a line."""
    begun: list[bytes] = []
    while block:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join((*begun, block[:end])) if begun else block[:end]
            begun.clear()
        begun.append(block[end:])
        block = stream.read(_BLOCK)
    yield b"".join(begun)


def _with_usage(lines: bytes) -> Iterator[memoryview]:
    view, end = memoryview(lines), 0
    found = lines.find(_KEY)
    while found >= 0:
        start = lines.rfind(b"\n", end, found) + 1 or end
        end = lines.find(b"\n", found)
        end = end if end >= 0 else len(lines)
        yield view[start:end]
        found = lines.find(_KEY, end)


def _repeats(line: _BilledLine, last: _BilledLine | None) -> bool:
    """Whether a line says nothing of its request that the line before has not said earlier."""
    if last is None or line.message != last.message or line.requestId != last.requestId:
        return False
    now, before = line.timestamp or "", last.timestamp or ""
    alike = len(now) == len(before) and now.endswith("Z") and before.endswith("Z")
    return alike and now >= before and line.message is not None and bool(line.message.id)


def _calls(line: _BilledLine, raw: memoryview) -> Iterable[Call]:
    """The call of a line, if it was billed."""
    message = line.message
    if message is None or message.usage is None or message.model == SYNTHETIC:
        return ()
    identity = message.id or line.uuid
    if not identity:
        return _unusual(bytes(raw))
    used = message.usage
    figures = _figures(used, floor=not message.stop_reason)
    key = f"{identity}:{line.requestId or ''}"
    terms = _terms(used) if used.speed or used.service_tier or used.inference_geo else ("", "", "")
    return (Call(key, message.model or "", figures, moment(line.timestamp), *terms),)


def _figures(used: _Usage, *, floor: bool) -> Usage:
    lives, server = used.cache_creation, used.server_tool_use
    written, hour = used.cache_creation_input_tokens or 0, 0
    if lives is not None:
        hour = lives.ephemeral_1h_input_tokens or 0
        written = max(written, hour + (lives.ephemeral_5m_input_tokens or 0))
    return Usage(
        used.input_tokens or 0,
        used.output_tokens or 0,
        used.cache_read_input_tokens or 0,
        written,
        hour,
        server.web_search_requests or 0 if server is not None else 0,
        server.web_fetch_requests or 0 if server is not None else 0,
        floor,
    )


def _terms(used: _Usage) -> tuple[str, str, str]:
    said = {"speed": used.speed, "service_tier": used.service_tier, "inference_geo": used.inference_geo}
    return billing_terms(said)


def _unusual(raw: bytes) -> Iterator[Call]:
    """What the parser makes of a line of which only its bytes are known."""
    for call in _understood(_entries(raw)):
        if call.key.startswith(_BY_PLACE):
            raise _Restart
        yield call


def _entries(raw: bytes) -> Iterator[Entry]:
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        data = None
    if isinstance(data, dict):
        yield Entry(Place(0, 0, len(raw)), raw, data)
    else:
        yield from recover_entries(raw, 0, 0)


def _understood(entries: Iterable[Entry]) -> Iterator[Call]:
    parser = ClaudeParser()
    for entry in entries:
        event = parser.event(entry)
        part = event.part
        if part is None or part.usage is None or part.synthetic:
            continue
        used = msgspec.structs.replace(part.usage, floor=not part.stop)
        yield Call(f"{part.message}:{part.request}", part.model, used, event.time, part.speed, part.tier, part.geo)
