"""Assistant lines and tool results: content blocks, usage, roles of tools, pictures."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from unspool.agents.claude_code.billed import advisor_calls, billing_terms, parse_usage
from unspool.agents.claude_code.line import (
    SYNTHETIC,
    ContentBlock,
    Line,
    MessageRecord,
    UsageRecord,
    changed_lines,
    plain,
)
from unspool.agents.records import Detail
from unspool.agents.values import decode_object, items, mapping, text
from unspool.model import (
    Block,
    Event,
    Image,
    Json,
    Notice,
    Part,
    Place,
    Result,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)

KINDS = frozenset({"image", "document"})


def parse_image(block: dict[str, Json], place: Place) -> Image:
    """An image or document block, whichever of the known shapes it has."""
    source = mapping(block.get("source"))
    kind = text(source.get("type"))
    media = text(source.get("media_type")) or ("application/pdf" if block.get("type") == "document" else "image/png")
    label = text(block.get("title")) or text(block.get("label"))
    path = text(block.get("path")) or text(source.get("path")) or text(source.get("file_id"))
    url = text(source.get("url")) or text(block.get("url"))
    if kind == "text":
        return Image(place, text(source.get("media_type")) or "text/plain", data=text(source.get("data")), label=label)
    return Image(place, media, data=text(source.get("data")), url=url, path=path, label=label)


Pictures = Callable[[str], tuple[str, bytes] | None]
"""Gives media type and bytes of a picture by the path that a log names; None where it is gone or not the session's."""


def show_pictures(event: Event, pictures: Pictures) -> None:
    """Put in the pictures that an event only names."""

    def shown(image: Image) -> Image:
        found = pictures(image.path) if image.path and not image.data else None
        if found is None:
            return image
        return replace(image, media_type=found[0], data=b64encode(found[1]).decode())

    if event.prompt is not None and event.prompt.images:
        event.prompt = replace(event.prompt, images=tuple(map(shown, event.prompt.images)))
    for block in event.blocks:
        if isinstance(block, Image) or (isinstance(block, Result | Notice) and block.images):
            break
    else:
        return  # as of nearly all lines
    event.blocks = tuple(
        shown(block) if isinstance(block, Image)
        else replace(block, images=tuple(map(shown, block.images))) if isinstance(block, Result | Notice)
        else block
        for block in event.blocks
    )  # fmt: skip


ROLES = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Read": "read",
    "NotebookRead": "read",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Task": "agent",
    "Agent": "agent",
    "Workflow": "agent",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "AskUserQuestion": "question",
    "TodoWrite": "todos",
    "TaskCreate": "todos",
    "TaskUpdate": "todos",
    "TaskList": "todos",
    "TaskGet": "todos",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "web_search": "web",
    "web_fetch": "web",
    "Skill": "skill",
    "SlashCommand": "skill",
}


def tool_role(name: str) -> str:
    """The role of a tool: one of the above, `mcp` for a server's tool, else empty."""
    return ROLES.get(name) or ("mcp" if name.startswith("mcp__") else "")


Spills = Callable[[str], str | None]
"""Gives the text of a spilled output by its file name, or None where the file is gone."""

_SPILL = b"persistedOutputPath"
_PLANS = b"/plans/"
_SPILLED = re.compile(r"Full output saved to: (\S[^\n]*)")
_SAID = "the user said:"
_DENIALS = (
    ("The user doesn't want to proceed with this tool use", "user-rejected"),
    ("The user doesn't want to take this action right now", "user-rejected"),
    ("[Request interrupted by user", "interrupted"),
    ("<tool_use_error>Sibling tool call errored", "cancelled"),
    ("<tool_use_error>Cancelled: parallel tool call", "cancelled"),
    ("Cancelled: parallel tool call", "cancelled"),
    ("Permission to use", "permission-rule"),
)


class CallMemory:
    """The calls met so far, as far as their results matter: which were made, and which have a meaning."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.meant: set[str] = set()
        """Calls that put forward a plan or changed a todo list: what became of them is in the result's record."""
        self.changing: set[str] = set()
        """Calls that change files: the result's record tells which lines."""


class ResultParser:
    """Understands results of tools: as much of each as `detail` asks for."""

    def __init__(self, spills: Spills, detail: Detail, calls: CallMemory) -> None:
        self._spills, self._detail, self._calls = spills, detail, calls

    def parse(self, block: ContentBlock, line: Line, event: Event) -> Result:
        """A tool_result block; `line` carries the structured twin and the denial."""
        call_id, error = block.tool_use_id or "", bool(block.is_error)
        calls, here = self._calls, not isinstance(line.tool_use_result, Raw)
        if here or self._detail is Detail.ALL or call_id in calls.meant or call_id not in calls.known:
            text_wanted = twin_wanted = True
        else:
            text_wanted = error or self._detail is Detail.TEXTS
            twin_wanted = text_wanted and _SPILL in bytes(line.tool_use_result)
        words, images, parts = result_content(plain(block.content), event.place) if text_wanted else ("", (), ())
        twin = plain(line.tool_use_result) if twin_wanted else None
        if self._detail is Detail.TEXTS and not twin_wanted and call_id in calls.changing:
            twin = changed_lines(line.tool_use_result)
        denial = line.tool_denial_kind or (_denial(words) if error else "")
        spilled, words, missing = _spill(words, twin, self._spills)
        return Result(
            event.place,
            call_id,
            words,
            error,
            images,
            twin,
            parts,
            denial,
            line.user_feedback or (_feedback(words) if denial else ""),
            spilled,
            missing,
            _permission(line.permission_decision) if line.permission_decision else "",
            event.id,
            event.time,
        )


def _permission(decision: dict[str, Json]) -> str:
    if text(decision.get("source")).startswith("user"):
        return "user for the session" if decision.get("grantScope") == "session" else "user"
    return text(decision.get("reasonType"))


def result_content(value: Json, place: Place) -> tuple[str, tuple[Image, ...], tuple[Json, ...]]:
    """Content of a result as (text, images, everything else)."""
    if isinstance(value, str):
        return value, (), ()
    if value is None:
        return "", (), ()
    if not isinstance(value, list):
        return "", (), (value,)
    words: list[str] = []
    images: list[Image] = []
    parts: list[Any] = []
    for block in value:
        if isinstance(block, str):
            words.append(block)
        elif isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            words.append(block["text"])
        elif isinstance(block, dict) and text(block.get("type")) in KINDS:
            images.append(parse_image(block, place))
        else:
            parts.append(block)
    return "\n".join(words), tuple(images), tuple(parts)


def _denial(words: str) -> str:
    for prefix, kind in _DENIALS:
        if words.startswith(prefix):
            return kind
    return ""


def _feedback(words: str) -> str:
    _, said, rest = words.partition(_SAID)
    return rest.strip() if said else ""


def _spill(words: str, detail: Json, spills: Spills) -> tuple[str, str, bool]:
    """(file name, text, missing): the text read back where the result only points to a file."""
    path = text(detail.get("persistedOutputPath")) if isinstance(detail, dict) else ""
    if not path and words.startswith("<persisted-output>"):
        found = _SPILLED.search(words[:2000])
        path = found[1].strip() if found else ""
    if not path:
        return "", words, False
    name = re.split(r"[\\/]", path)[-1]
    whole = spills(name)
    if whole is None:
        return path, words, True
    return path, _spilled_text(name, whole), False


def _spilled_text(name: str, whole: str) -> str:
    """Output spilled as JSON holds content blocks; any other is the text itself."""
    if not name.endswith(".json"):
        return whole
    try:
        value = json.loads(whole)
    except (ValueError, RecursionError):
        return whole
    words = [text(mapping(block).get("text")) for block in items(value)]
    return "\n".join(words) if words and all(words) else whole


_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class MessageParser:
    """Understands assistant lines. Of inputs, `detail` may want only those that plans are known by."""

    def __init__(self, detail: Detail, calls: CallMemory) -> None:
        self._detail, self._calls = detail, calls
        self._record: UsageRecord | None = None
        self._billed: tuple[Usage, tuple[str, str, str]] = Usage(), ("", "", "")

    def parse(self, event: Event, line: Line) -> None:
        """Fill an event from an assistant line."""
        message = line.message or MessageRecord()
        model = message.model or ""
        synthetic = model == SYNTHETIC
        record = message.usage
        if record is not None and record != self._record:  # lines of one message repeat it
            self._record, self._billed = record, (parse_usage(record), billing_terms(record))
        usage, terms = self._billed if record is not None else (None, ("", "", ""))
        event.kind = "message"
        name, request = message.id if message.id and not synthetic else event.id, line.request_id or ""
        event.part = Part(
            name,
            request,
            model,
            usage,
            message.stop_reason or "",
            -1 if line.api_block_index is None else line.api_block_index,
            synthetic,
            line.is_aborted_mid_stream is True,
            line.effort or "",
            *terms,
            line.request_ref or "",
            ()
            if record is None or record.iterations is None or synthetic
            else advisor_calls(record, name, request, event.time),
        )
        if synthetic or line.is_api_error_message:
            event.blocks = (_failure(event, line, message),)
            return
        if line.supersedes_uuids:
            event.retracts = tuple(line.supersedes_uuids)
        said = message.content
        if isinstance(said, str):
            event.blocks = (Text(event.place, said, event.part.message, event.id, event.time),)
        else:
            event.blocks = tuple([self._block(block, event, event.part.message) for block in said or ()])
        took = line.thinking_duration_ms
        if took and len(event.blocks) == 1 and isinstance(event.blocks[0], Thinking):
            event.blocks = (replace(event.blocks[0], milliseconds=took),)

    def _block(self, block: ContentBlock, event: Event, message: str) -> Block | Result:
        kind, place, line, time = block.type, event.place, event.id, event.time
        if kind in _CALLS:
            return self._call(block, event, message)
        if kind == "text" and block.text is not None:
            return Text(place, block.text, message, line, time)
        if kind == "thinking" and block.thinking is not None:
            return Thinking(place, block.thinking, message, line, time, block.signature or "")
        data = block.whole
        if kind == "redacted_thinking":
            return Thinking(place, "", message, line, time, text(data.get("data")), redacted=True)
        if kind.endswith("_tool_result") and block.tool_use_id is not None:
            return _server_result(data, event)
        if kind == "fallback":
            return Notice(place, "model-switch", _switch(data), dict(data), line, time)
        if kind in KINDS:
            return parse_image(data, place)
        return Unknown(place, kind or "content", data, message, line, time)

    def _call(self, block: ContentBlock, event: Event, message: str) -> ToolCall:
        call_id, name = block.id or "", block.name or ""
        role = tool_role(name)
        self._calls.known.add(call_id)
        if role in ("plan", "todos"):
            self._calls.meant.add(call_id)
        elif role in ("edit", "write"):
            self._calls.changing.add(call_id)
        given = plain(block.input) if self._wants_input(block, role) else None
        given = decode_object(given)  # versions before 2.1.92 wrote some inputs as JSON in a string
        return ToolCall(
            event.place,
            call_id,
            name,
            given,
            "unanswered",
            role,
            message=message,
            id=event.id,
            time=event.time,
            server=block.type != "tool_use",
        )

    def _wants_input(self, block: ContentBlock, role: str) -> bool:
        if self._detail is not Detail.FIGURES or role == "plan":
            return True
        return role in ("write", "edit") and (block.whole is not None or _PLANS in bytes(block.input))


def _failure(event: Event, line: Line, message: MessageRecord) -> Notice:
    data = mapping(line.whole)
    said = mapping(data.get("message")).get("content") if data else message.content
    words, _, _ = result_content(said, event.place)
    facts = {key: data[key] for key in ("error", "errorDetails", "apiErrorStatus") if data.get(key) is not None}
    return Notice(
        event.place, "api-error" if line.is_api_error_message else "agent", words, facts, event.id, event.time
    )


def _server_result(block: dict[str, Json], event: Event) -> Result:
    content = block.get("content")
    words, images, parts = result_content(content, event.place)
    kind = text(mapping(content).get("type"))
    error = kind.endswith("_error") or block.get("is_error") is True
    return Result(
        event.place,
        block["tool_use_id"],
        words or text(mapping(content).get("text")),
        error,
        images,
        content if not isinstance(content, str) else None,
        parts if isinstance(content, list) else (),
        id=event.id,
        time=event.time,
    )


def _switch(block: dict[str, Json]) -> str:
    before, after = (text(mapping(block.get(key)).get("model")) for key in ("from", "to"))
    return f"{before} → {after}"


def unknown_line(place: Place, data: dict[str, Json]) -> Unknown:
    """A line of a type nobody has met."""
    return Unknown(place, text(data.get("type")) or "line", data)
