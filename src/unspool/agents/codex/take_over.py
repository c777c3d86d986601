"""Takes a session of another agent over."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents.codex.writing import CodexWriter
from unspool.agents.handed import (
    HandedAnswer,
    HandedCall,
    NewSession,
    Step,
    id_by_time,
    json_line,
    listed_todos,
    stamp,
    texts,
)
from unspool.model import Json

_VERSION = "0.147.0"


new_id = id_by_time


def tool(role: str, given: dict[str, Json]) -> tuple[str, dict[str, Json]] | None:
    """The tool of Codex that does the same; files are changed by patches."""
    match role:
        case "shell" if asked := texts(given, "command"):
            return "exec_command", {"cmd": asked["command"]}
        case "edit" if isinstance(given.get("patch"), str):
            return "apply_patch", {"patch": given["patch"]}
        case "edit" if asked := texts(given, "file_path", "old_string", "new_string"):
            return "apply_patch", {"patch": _patch("Update", *asked.values())}
        case "write" if asked := texts(given, "file_path", "content"):
            return "apply_patch", {"patch": _patch("Add", asked["file_path"], "", asked["content"])}
        case "todos" if (listed := listed_todos(given)) is not None:
            return "update_plan", {"plan": [{"step": words, "status": state} for words, state in listed]}
    return None


def _patch(deed: str, path: Json, old: Json, new: Json) -> str:
    before = [f"-{one}" for one in str(old).splitlines()]
    after = [f"+{one}" for one in str(new).splitlines()]
    head = ["*** Begin Patch", f"*** {deed} File: {path}", *(["@@"] if deed == "Update" else [])]
    return "\n".join([*head, *before, *after, "*** End Patch"])


def lines(new: NewSession, steps: list[Step]) -> Iterator[bytes]:
    def record(kind: str, payload: dict[str, Any], when: datetime) -> bytes:
        return json_line({"timestamp": stamp(when), "type": kind, "payload": payload})

    head: dict[str, Any] = {
        "id": new.id, "session_id": new.id, "timestamp": stamp(new.started), "cwd": new.cwd or "/",
        "originator": "unspool", "cli_version": _VERSION, "source": "cli",
    }  # fmt: skip
    if new.branch:
        head["git"] = {"branch": new.branch}
    yield record("session_meta", head, new.started)
    for step in steps:
        if not isinstance(step, HandedAnswer):
            shown = [f"data:{image.media_type};base64,{image.data}" for image in step.images]
            parts = [
                {"type": "input_text", "text": step.words},
                *({"type": "input_image", "image_url": one} for one in shown),
            ]
            yield record("response_item", {"type": "message", "role": "user", "content": parts}, step.time)
            told = {"message": step.words, "images": shown, "local_images": [], "text_elements": []}
            yield record("event_msg", {"type": "user_message", **told}, step.time)
            continue
        if step.words:
            said = [{"type": "output_text", "text": step.words}]
            yield record("response_item", {"type": "message", "role": "assistant", "content": said}, step.time)
            yield record("event_msg", {"type": "agent_message", "message": step.words}, step.time)
        for call in step.calls:
            for payload in _call(call):
                yield record("response_item", payload, step.time)


def _call(call: HandedCall) -> Iterator[dict[str, Any]]:
    if call.name == "apply_patch":
        given, kind = {"input": call.given["patch"], "status": "completed"}, "custom_tool_call"
    else:
        given, kind = {"arguments": msgspec.json.encode(call.given).decode()}, "function_call"
    yield {"type": kind, "name": call.name, "call_id": call.id, **given}
    code = 1 if call.failed else 0
    yield {"type": f"{kind}_output", "call_id": call.id, "output": f"Exit code: {code}\nOutput:\n{call.answer}"}


def place(home: Path, new: NewSession) -> Path:
    return CodexWriter.place(home, new.cwd, new.id)


def command(new: NewSession, path: Path) -> str:
    return ""
