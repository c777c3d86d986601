"""The story as Zed keeps it: a packed document in a row."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import zstandard

THREAD = "8a3d6f1c-f02f-435c-9673-0c8d7c7d6bef"
EDIT = {"path": "/home/ada/quay/light.py", "mode": "edit", "edits": [{"old_text": "off", "new_text": "on"}]}


def use(call: str, name: str, **given: Any) -> dict[str, Any]:
    made = {"id": call, "name": name, "raw_input": json.dumps(given), "input": given, "is_input_complete": True}
    return {"ToolUse": made}


def result(call: str, words: str, *, error: bool = False) -> dict[str, Any]:
    told = {"tool_use_id": call, "tool_name": "x", "is_error": error, "content": {"Text": words}, "output": None}
    return {call: told}


def used(sent: int, output: int, read: int, written: int) -> dict[str, int]:
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return dict(zip(names, (sent, output, read, written), strict=True))


MESSAGES: list[Any] = [
    {"User": {"id": "u1", "content": [{"Text": "Mend the quay"}]}},
    {
        "Agent": {
            "content": [
                {"Thinking": {"text": "Stones first", "signature": "x"}},
                use("c1", "terminal", command="ls"),
                use("c2", "terminal", command="make"),
            ],
            "tool_results": result("c1", "quay.py") | result("c2", "no rule", error=True),
        }
    },
    {"User": {"id": "u2", "content": [{"Text": "And the lighthouse"}]}},
    {"Agent": {"content": [use("c3", "edit_file", **EDIT)], "tool_results": result("c3", "Edited.")}},
    {"hologram": {"shape": "ship"}},
    {"Agent": {"content": [{"Text": "Lit since dusk."}], "tool_results": {}}},
]


def thread(messages: list[Any] = MESSAGES, **more: Any) -> dict[str, Any]:
    return {
        "title": "Quay", "messages": messages, "updated_at": "2026-04-13T08:01:00Z", "version": "0.3.0",
        "model": {"provider": "anthropic", "model": "claude-sonnet-4-5"},
        "request_token_usage": {"u1": used(40, 10, 60, 5)},
        "cumulative_token_usage": used(60, 20, 160, 5), **more,
    }  # fmt: skip


def write_thread(home: Path, name: str, data: Any, kind: str = "zstd", parent: str | None = None) -> Path:
    path = home / "threads" / "threads.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = json.dumps(data).encode()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, "
            "data BLOB, parent_id TEXT, folder_paths TEXT, created_at TEXT)"
        )
        packed = zstandard.ZstdCompressor().compress(raw) if kind == "zstd" else raw
        times = ("2026-04-13T08:01:00Z", "2026-04-13T08:00:00Z")
        row = (name, "Quay", times[0], kind, packed, parent, "/home/ada/quay\n/home/ada/pier", times[1])
        db.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    return path


def write(home: Path) -> Path:
    return write_thread(home, THREAD, thread())
