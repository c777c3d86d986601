"""Takes a session of another agent over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspool.agents.handed import HandedAnswer, NewSession, Step, id_by_time, json_line, stamp, texts
from unspool.agents.pi.writing import log_place
from unspool.model import Json

new_id = id_by_time
_NOTHING = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


def tool(role: str, given: dict[str, Json]) -> tuple[str, dict[str, Json]] | None:
    """The tool of pi that does the same."""
    match role:
        case "shell" if asked := texts(given, "command"):
            return "bash", asked
        case "read" if asked := texts(given, "file_path"):
            numbers = {name: given[name] for name in ("offset", "limit") if isinstance(given.get(name), int)}
            return "read", {"path": asked["file_path"], **numbers}
        case "write" if asked := texts(given, "file_path", "content"):
            return "write", {"path": asked["file_path"], "content": asked["content"]}
        case "edit" if asked := texts(given, "file_path", "old_string", "new_string"):
            edits = {"oldText": asked["old_string"], "newText": asked["new_string"]}
            return "edit", {"path": asked["file_path"], "edits": [edits]}
        case "search" if asked := texts(given, "pattern"):
            return "grep", {**asked, **(texts(given, "path") or {})}
    return None


def lines(new: NewSession, steps: list[Step]) -> Iterator[bytes]:
    head = {"type": "session", "version": 3, "id": new.id, "timestamp": stamp(new.started), "cwd": new.cwd or "/"}
    yield json_line(head)
    number = 0
    for step in steps:
        for message in _messages(step):
            parent = f"{number:08x}" if number else None
            number += 1
            place = {"id": f"{number:08x}", "parentId": parent, "timestamp": stamp(step.time)}
            yield json_line({"type": "message", **place, "message": message})
    if new.title:
        last = {"id": f"{number + 1:08x}", "parentId": f"{number:08x}" if number else None}
        yield json_line({"type": "session_info", **last, "timestamp": stamp(new.started), "name": new.title})


def _messages(step: Step) -> Iterator[dict[str, Any]]:
    moment = int(step.time.timestamp() * 1000)
    if not isinstance(step, HandedAnswer):
        pictures = [{"type": "image", "data": one.data, "mimeType": one.media_type} for one in step.images]
        yield {"role": "user", "content": [{"type": "text", "text": step.words}, *pictures], "timestamp": moment}
        return
    words = [{"type": "text", "text": step.words}] if step.words.strip() else []
    asked = [{"type": "toolCall", "id": one.id, "name": one.name, "arguments": one.given} for one in step.calls]
    used = {**{name: 0 for name in _NOTHING if name != "total"}, "totalTokens": 0, "cost": _NOTHING}
    yield {
        "role": "assistant", "content": [*words, *asked], "api": "anthropic-messages", "provider": "anthropic",
        "model": step.model or "unknown", "usage": used, "stopReason": "toolUse" if asked else "stop",
        "timestamp": moment,
    }  # fmt: skip
    for one in step.calls:
        said = [{"type": "text", "text": one.answer}]
        result = {"toolCallId": one.id, "toolName": one.name, "content": said, "isError": one.failed}
        yield {"role": "toolResult", **result, "timestamp": moment}


def place(home: Path, new: NewSession) -> Path:
    return log_place(home, new.cwd or "/", new.id)


def command(new: NewSession, path: Path) -> str:
    return ""
