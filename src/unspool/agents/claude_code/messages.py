"""Assistant lines and tool results: content blocks, usage, roles of tools, pictures."""

import json
import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from unspool.agents.claude_code.values import items, mapping, text, whole
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


def parse_usage(record: Json) -> Usage | None:
    """Tokens of one request; None where the line has no record."""
    if not isinstance(record, dict):
        return None
    lifetimes = record.get("cache_creation")
    written = whole(record.get("cache_creation_input_tokens"))
    hour = 0
    if isinstance(lifetimes, dict):
        hour = whole(lifetimes.get("ephemeral_1h_input_tokens"))
        # Versions before 2.1.152 left the flat figure at 0 where the API filled only the nested one.
        written = max(written, hour + whole(lifetimes.get("ephemeral_5m_input_tokens")))
    server = record.get("server_tool_use")
    searches, fetches = 0, 0
    if isinstance(server, dict):
        searches, fetches = whole(server.get("web_search_requests")), whole(server.get("web_fetch_requests"))
    return Usage(
        whole(record.get("input_tokens")),
        whole(record.get("output_tokens")),
        whole(record.get("cache_read_input_tokens")),
        written,
        hour,
        searches,
        fetches,
    )


def billing_terms(record: Json) -> tuple[str, str, str]:
    """(speed, tier, geography) where they change the price; empty for the standard."""
    if not isinstance(record, dict):
        return "", "", ""
    speed, tier, geo = record.get("speed"), record.get("service_tier"), record.get("inference_geo")
    return (
        "" if speed is None or speed == "standard" else text(speed),
        "" if tier is None or tier == "standard" else text(tier),
        "" if geo is None or geo in ("not_available", "global") else text(geo),
    )


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


def parse_result(block: dict[str, Json], line: dict[str, Json], event: Event, spills: Spills) -> Result:
    """A tool_result block; `line` is the whole entry, which carries the structured twin and the denial."""
    words, images, parts = result_content(block.get("content"), event.place)
    detail = line.get("toolUseResult")
    error = block.get("is_error") is True
    denial = text(line.get("toolDenialKind")) or (_denial(words) if error else "")
    spilled, words, missing = _spill(words, detail, spills)
    return Result(
        event.place,
        text(block.get("tool_use_id")),
        words,
        error,
        images,
        detail,
        parts,
        denial,
        text(line.get("userFeedback")) or (_feedback(words) if denial else ""),
        spilled,
        missing,
        _permission(mapping(line.get("permissionDecision"))),
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


SYNTHETIC = "<synthetic>"
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def parse_assistant(event: Event, data: dict[str, Json]) -> None:
    """Fill an event from an assistant line."""
    message = mapping(data.get("message"))
    model = text(message.get("model"))
    synthetic = model == SYNTHETIC
    identity = text(message.get("id"))
    record = message.get("usage")
    index = data.get("apiBlockIndex")
    event.kind = "message"
    event.part = Part(
        identity if identity and not synthetic else event.id,
        text(data.get("requestId")),
        model,
        parse_usage(record),
        text(message.get("stop_reason")),
        index if isinstance(index, int) else -1,
        synthetic,
        data.get("isAbortedMidStream") is True,
        text(data.get("effort")),
        *billing_terms(record),
        text(data.get("requestRef")),
    )
    if synthetic or data.get("isApiErrorMessage") is True:
        event.blocks = (_failure(event, data, message),)
        return
    superseded = data.get("supersedesUuids")
    event.retracts = tuple(text(line) for line in superseded) if isinstance(superseded, list) else ()
    said = message.get("content")
    if isinstance(said, str):
        event.blocks = (Text(event.place, said, event.part.message, event.id, event.time),)
    else:
        event.blocks = tuple(_block(block, event, event.part.message) for block in items(said))
    took = whole(data.get("thinkingDurationMs"))
    if took and len(event.blocks) == 1 and isinstance(event.blocks[0], Thinking):
        event.blocks = (replace(event.blocks[0], milliseconds=took),)


def _failure(event: Event, data: dict[str, Json], message: dict[str, Json]) -> Notice:
    words, _, _ = result_content(message.get("content"), event.place)
    facts = {key: data[key] for key in ("error", "errorDetails", "apiErrorStatus") if data.get(key) is not None}
    kind = "api-error" if data.get("isApiErrorMessage") is True else "agent"
    return Notice(event.place, kind, words, facts, event.id, event.time)


def _block(block: Json, event: Event, message: str) -> Block | Result:
    kind = text(block.get("type")) if isinstance(block, dict) else ""
    place, line, time = event.place, event.id, event.time
    if kind in _CALLS:
        return _call(block, event, message)
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(place, block["text"], message, line, time)
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        return Thinking(place, block["thinking"], message, line, time, text(block.get("signature")))
    if kind == "redacted_thinking":
        return Thinking(place, "", message, line, time, text(block.get("data")), redacted=True)
    if kind.endswith("_tool_result") and isinstance(block.get("tool_use_id"), str):
        return _server_result(block, event)
    if kind == "fallback":
        return Notice(place, "model-switch", _switch(block), dict(block), line, time)
    if kind in KINDS:
        return parse_image(block, place)
    return Unknown(place, kind or "content", block, message, line, time)


def _call(block: dict[str, Json], event: Event, message: str) -> ToolCall:
    given = block.get("input")
    if isinstance(given, str):
        given = _decoded(given)
    name = text(block.get("name"))
    return ToolCall(
        event.place,
        text(block.get("id")),
        name,
        given,
        "unanswered",
        tool_role(name),
        message=message,
        id=event.id,
        time=event.time,
        server=block.get("type") != "tool_use",
    )


def _decoded(given: str) -> Json:
    """Versions before 2.1.92 wrote some inputs as JSON in a string."""
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value if isinstance(value, dict) else given


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
