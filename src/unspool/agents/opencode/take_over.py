"""Takes a session of another agent over: as a file that is imported, for the database is the agent's own."""

import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents.handed import HandedAnswer, HandedCall, NewSession, Step, texts
from unspool.model import Json

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VERSION = "1.18.0"
_MAKERS = {"claude": "anthropic", "gpt": "openai", "gemini": "google"}
"""The provider of a model, by how the model's name begins."""


def _id(prefix: str, moment: int, *, descending: bool = False) -> str:
    """An id that sorts by its time, as the agent's do; those of sessions sort the other way."""
    number = moment * 0x1000 & (1 << 48) - 1
    number = (1 << 48) - 1 - number if descending else number
    return f"{prefix}_{number:012x}{''.join(_LETTERS[byte % 62] for byte in os.urandom(14))}"


def new_id() -> str:
    return _id("ses", int(time.time() * 1000), descending=True)


def tool(role: str, given: dict[str, Json]) -> tuple[str, dict[str, Json]] | None:
    """The tool of OpenCode that does the same."""
    match role:
        case "shell" if asked := texts(given, "command"):
            return "bash", {**asked, "description": str(given.get("description") or "")}
        case "read" if asked := texts(given, "file_path"):
            return "read", {"filePath": asked["file_path"]}
        case "write" if asked := texts(given, "file_path", "content"):
            return "write", {"filePath": asked["file_path"], "content": asked["content"]}
        case "edit" if asked := texts(given, "file_path", "old_string", "new_string"):
            pieces = {"oldString": asked["old_string"], "newString": asked["new_string"]}
            return "edit", {"filePath": asked["file_path"], **pieces}
        case "search" if asked := texts(given, "pattern"):
            return "grep", {**asked, **(texts(given, "path") or {})}
        case "web" if asked := texts(given, "url"):
            return "webfetch", {**asked, "format": "markdown"}
        case "todos" if isinstance(given.get("todos"), list):
            return "todowrite", {"todos": given["todos"]}
    return None


def lines(new: NewSession, steps: list[Step]) -> Iterator[bytes]:
    """One document, as `opencode export` prints it."""
    messages: list[dict[str, Any]] = []
    user = ""
    # the agent goes on with the model of the last prompt, unless it is told another
    model = _model(next((step.model for step in reversed(steps) if isinstance(step, HandedAnswer) and step.model), ""))
    moment = first = int(new.started.timestamp() * 1000)
    for step in steps:
        moment = max(moment + 1, int(step.time.timestamp() * 1000))  # messages are ordered by their time
        name = _id("msg", moment)
        whose = {"id": name, "sessionID": new.id}
        if isinstance(step, HandedAnswer):
            info = _answer_info(whose, user, step, new, moment)
            parts = _parts(step, moment)
        else:
            user = name
            info = {**whose, "role": "user", "time": {"created": moment}, "agent": "build", "model": model}
            parts = [{"type": "text", "text": step.words}]
            parts += [
                {"type": "file", "mime": one.media_type, "url": f"data:{one.media_type};base64,{one.data}"}
                for one in step.images
            ]
        held = [
            {"id": _id("prt", moment + at), "sessionID": new.id, "messageID": name, **one}
            for at, one in enumerate(parts)
        ]
        messages.append({"info": info, "parts": held})
    about = {
        "id": new.id, "slug": "handed-over", "projectID": "global", "directory": new.cwd or "/", "title": new.title,
        "version": _VERSION, "time": {"created": first, "updated": first},
    }  # fmt: skip
    yield msgspec.json.format(msgspec.json.encode({"info": about, "messages": messages}), indent=2)


def _model(name: str) -> dict[str, str]:
    provider = _MAKERS.get(name.partition("-")[0], "unknown")
    return {"providerID": provider, "modelID": name or "unknown"}


def _answer_info(whose: dict[str, str], user: str, step: HandedAnswer, new: NewSession, moment: int) -> dict[str, Any]:
    tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return {
        **whose, "role": "assistant", "parentID": user, **_model(step.model),
        "mode": "build", "agent": "build", "path": {"cwd": new.cwd or "/", "root": new.cwd or "/"}, "cost": 0,
        "time": {"created": moment, "completed": moment}, "tokens": tokens,
        "finish": "tool-calls" if step.calls else "stop",
    }  # fmt: skip


def _parts(step: HandedAnswer, moment: int) -> list[dict[str, Any]]:
    words = [{"type": "text", "text": step.words}] if step.words.strip() else []
    return [
        *words,
        *({"type": "tool", "callID": one.id, "tool": one.name, "state": _state(one, moment)} for one in step.calls),
    ]


def _state(call: HandedCall, moment: int) -> dict[str, Any]:
    spent = {"start": moment, "end": moment}
    if call.failed:
        return {"status": "error", "input": call.given, "error": call.answer, "time": spent}
    told = {"input": call.given, "output": call.answer, "title": "", "metadata": {}, "time": spent}
    return {"status": "completed", **told}


def place(home: Path, new: NewSession) -> Path:
    return Path.cwd() / f"{new.id}.json"


def command(new: NewSession, path: Path) -> str:
    where = f"cd {shlex.quote(new.cwd)} && " if new.cwd else ""
    return f"{where}opencode import {shlex.quote(str(path))} && opencode --session {shlex.quote(new.id)}"
