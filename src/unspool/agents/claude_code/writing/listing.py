"""Copies entered where versions of Claude Code up to 2.1.30 look a session up: the list of a project's sessions, its
empty todo list and its folder for the environment. Newer versions keep no such list, and then nothing is made."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from unspool.agents.values import is_small_file, read_small_json
from unspool.agents.writing import ListedCopy
from unspool.files import write_atomically

_INDEX = "sessions-index.json"
_NOTHING = b"[]"


def register_copy(log: Path, copy: ListedCopy) -> None:
    """Enter a copy; the list is a hint for the agent, so that one that cannot be read or written stays as it is."""
    index = _read(log)
    if index is None:
        return
    with suppress(OSError):
        index["entries"].append(_entry(log, copy))
        _write(log, index)
        todos, environment = _places(log)
        if todos.parent.is_dir() and not todos.exists():
            write_atomically(todos, [_NOTHING])
        if environment.parent.is_dir():
            environment.mkdir(mode=0o700, exist_ok=True)


def unregister_copy(log: Path) -> None:
    """Take the entry of a copy back, with what was made for it and is still empty."""
    index = _read(log)
    if index is None:
        return
    with suppress(OSError):
        left = [one for one in index["entries"] if not (isinstance(one, dict) and one.get("sessionId") == log.stem)]
        if len(left) < len(index["entries"]):
            _write(log, {**index, "entries": left})
        todos, environment = _places(log)
        if is_small_file(todos) and todos.read_bytes() == _NOTHING:
            todos.unlink()
        if environment.is_dir():
            environment.rmdir()


def _entry(log: Path, copy: ListedCopy) -> dict[str, Any]:
    written = log.stat().st_mtime_ns // 1_000_000
    return {
        "sessionId": log.stem,
        "fullPath": str(log),
        "fileMtime": written,
        "firstPrompt": copy.first_prompt,
        "summary": copy.title,
        "messageCount": copy.messages,
        "created": copy.started or copy.made,
        "modified": copy.made,
        "gitBranch": copy.branch,
        "projectPath": copy.cwd,
        "isSidechain": False,
    }


def _read(log: Path) -> dict[str, Any] | None:
    """The list of the sessions in a log's folder; None where there is none that we understand."""
    path = log.with_name(_INDEX)
    index = read_small_json(path) if is_small_file(path) else None
    return index if index is not None and isinstance(index.get("entries"), list) else None


def _write(log: Path, index: dict[str, Any]) -> None:
    write_atomically(log.with_name(_INDEX), [msgspec.json.format(msgspec.json.encode(index))])


def _places(log: Path) -> tuple[Path, Path]:
    """Where the todo list and the environment of a session lie."""
    home = log.parents[2]
    return home / "todos" / f"{log.stem}-agent-{log.stem}.json", home / "session-env" / log.stem
