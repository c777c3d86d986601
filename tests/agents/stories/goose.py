"""The story as Goose keeps it: rows of a database."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SESSION = "20260413_1"
_START = 1776066329
_SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, user_set_name BOOLEAN, session_type TEXT,
    working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, extension_data TEXT, total_tokens INTEGER,
    input_tokens INTEGER, output_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
    accumulated_output_tokens INTEGER, provider_name TEXT, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT,
    content_json TEXT, created_timestamp INTEGER, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);
"""


def call(name: str, tool: str, **given: Any) -> dict[str, Any]:
    return {
        "type": "toolRequest",
        "id": name,
        "toolCall": {"status": "success", "value": {"name": tool, "arguments": given}},
    }


def result(name: str, words: str, *, error: bool = False) -> dict[str, Any]:
    told = {"content": [{"type": "text", "text": words}], "isError": error}
    return {"type": "toolResponse", "id": name, "toolResult": {"status": "success", "value": told}}


EDIT = {"command": "str_replace", "path": "/home/ada/quay/light.py", "old_str": "off", "new_str": "on"}
MESSAGES: list[tuple[str, list[dict[str, Any]]]] = [
    ("user", [{"type": "text", "text": "Mend the quay"}]),
    (
        "assistant",
        [
            {"type": "thinking", "thinking": "Stones first", "signature": "x"},
            call("c1", "developer__shell", command="ls"),
            call("c2", "developer__shell", command="make"),
        ],
    ),
    ("user", [result("c1", "quay.py"), result("c2", "no rule", error=True)]),
    ("user", [{"type": "text", "text": "And the lighthouse"}]),
    ("assistant", [call("c3", "developer__text_editor", **EDIT)]),
    ("user", [result("c3", "Edited.")]),
    ("assistant", [{"type": "hologram", "shape": "ship"}, {"type": "text", "text": "Lit since dusk."}]),
]


def write(home: Path, metadata: dict[int, dict[str, Any]] | None = None) -> Path:
    path = home / "sessions.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(_SCHEMA)
        row = (SESSION, "Quay", "", 0, "user", "/home/ada/quay", "2026-04-13 07:45:29", "2026-04-13 07:46:29", "{}")
        tokens = (80, 20, 10, 80, 60, 20)
        model = json.dumps({"model_name": "claude-sonnet-4-5"})
        marks = ", ".join("?" * 17)
        db.execute(f"INSERT INTO sessions VALUES ({marks})", (*row, *tokens, "anthropic", model))  # noqa: S608
        for number, (role, content) in enumerate(MESSAGES):
            told = json.dumps((metadata or {}).get(number, {"userVisible": True, "agentVisible": True}))
            values = (None, f"m{number}", SESSION, role, json.dumps(content), _START + number, None, None, told)
            db.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    return path
