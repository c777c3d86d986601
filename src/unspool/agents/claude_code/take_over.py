"""Takes a session of another agent over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from unspool.agents.claude_code.writing import ClaudeWriter
from unspool.agents.handed import HandedAnswer, NewSession, Step, json_line, listed_todos, stamp, texts
from unspool.model import Json, Usage

_VERSION = "2.1.0"


def new_id() -> str:
    return str(uuid4())


def tool(role: str, given: dict[str, Json]) -> tuple[str, dict[str, Json]] | None:
    """The tool of Claude Code that does the same."""
    match role:
        case "shell" if asked := texts(given, "command"):
            return "Bash", asked
        case "read" if asked := texts(given, "file_path"):
            numbers = {name: given[name] for name in ("offset", "limit") if isinstance(given.get(name), int)}
            return "Read", {**asked, **numbers}
        case "write" if asked := texts(given, "file_path", "content"):
            return "Write", asked
        case "edit" if asked := texts(given, "file_path", "old_string", "new_string"):
            return "Edit", {**asked, "replace_all": given.get("replace_all") is True}
        case "search" if asked := texts(given, "pattern"):
            return "Grep", {**asked, **(texts(given, "path") or {})}
        case "web" if asked := texts(given, "url"):
            return "WebFetch", {**asked, "prompt": str(given.get("prompt") or "What does it say?")}
        case "web" if asked := texts(given, "query"):
            return "WebSearch", asked
        case "todos" if (listed := listed_todos(given)) is not None:
            todos = [{"content": words, "status": state, "activeForm": words} for words, state in listed]
            return "TodoWrite", {"todos": todos}
        case "agent" if asked := texts(given, "prompt"):
            kind = str(given.get("subagent_type") or "general-purpose")
            return "Task", {**asked, "description": str(given.get("description") or "Task"), "subagent_type": kind}
    return None


def lines(new: NewSession, steps: list[Step]) -> Iterator[bytes]:
    before: str | None = None
    for number, step in enumerate(steps):
        for kind, message in _messages(step, number):
            name = str(uuid4())
            place: dict[str, Any] = {
                "parentUuid": before, "isSidechain": False, "userType": "external", "cwd": new.cwd or "/",
                "sessionId": new.id, "version": _VERSION, "gitBranch": new.branch, "type": kind, "message": message,
                "uuid": name, "timestamp": stamp(step.time),
            }  # fmt: skip
            yield json_line(place)
            before = name
    if new.title:
        yield json_line({"type": "custom-title", "customTitle": new.title, "sessionId": new.id})


def _messages(step: Step, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(step, HandedAnswer):
        pictures = [_picture(image.media_type, image.data) for image in step.images]
        said: Any = [{"type": "text", "text": step.words or "…"}, *pictures] if pictures else step.words or "…"
        yield "user", {"role": "user", "content": said}
        return
    words: list[dict[str, Any]] = [{"type": "thinking", "thinking": one, "signature": ""} for one in step.thoughts]
    words += [{"type": "text", "text": step.words}] if step.words.strip() else []
    asked = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.given} for one in step.calls]
    usage = step.usage or Usage()
    used = {
        "input_tokens": usage.input, "output_tokens": usage.output, "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }  # fmt: skip
    stop = "tool_use" if asked else "end_turn"
    yield (
        "assistant",
        {
            "id": f"msg_handed_{number:06}", "type": "message", "role": "assistant", "model": step.model or "<unknown>",
            "content": [*words, *asked] or [{"type": "text", "text": "…"}], "stop_reason": stop, "stop_sequence": None,
            "usage": used,
        },
    )  # fmt: skip
    if step.calls:
        results = [
            {"type": "tool_result", "tool_use_id": one.id, "content": one.answer or "(nothing)", "is_error": one.failed}
            for one in step.calls
        ]
        yield "user", {"role": "user", "content": results}


def _picture(kind: str, data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def place(home: Path, new: NewSession) -> Path:
    return ClaudeWriter().place(home, new.cwd or "/", new.id)


def command(new: NewSession, path: Path) -> str:
    return ""
