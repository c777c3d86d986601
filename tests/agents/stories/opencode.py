"""The story as OpenCode keeps it: rows of a database."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SESSION = "ses_27a3283eeffe2okXvUQaxKJ0Nw"
_START = 1776066329000
_SCHEMA = """
CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT,
                      revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
"""


def tool(name: str, call: str, given: dict[str, Any], output: str, **metadata: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": given, "output": output, "metadata": metadata, "time": {"start": _START}}
    return {"type": "tool", "callID": call, "tool": name, "state": state}


def answer(
    number: int, *parts: dict[str, Any], **tokens: Any
) -> tuple[int, dict[str, Any], tuple[dict[str, Any], ...]]:
    info = {"role": "assistant", "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "tokens": tokens}
    return number, info | {"finish": "stop"}, parts


def prompt(number: int, words: str) -> tuple[int, dict[str, Any], tuple[dict[str, Any], ...]]:
    return number, {"role": "user", "agent": "build"}, ({"type": "text", "text": words},)


EDIT = {"filePath": "/home/ada/quay/light.py", "oldString": "off", "newString": "on"}
MESSAGES = [
    prompt(1, "Mend the quay"),
    answer(
        2,
        {"type": "step-start"},
        {"type": "reasoning", "text": "Stones first"},
        tool("bash", "c1", {"command": "ls"}, "quay.py", exit=0),
        tool("bash", "c2", {"command": "make"}, "no rule", exit=2),
        input=40,
        output=8,
        reasoning=2,
        cache={"read": 60, "write": 5},
    ),
    prompt(3, "And the lighthouse"),
    answer(
        4,
        tool("edit", "c3", EDIT, "Edited."),
        {"type": "hologram", "shape": "ship"},
        {"type": "text", "text": "Lit since dusk."},
        input=20,
        output=10,
        cache={"read": 100},
    ),
]


def write(home: Path, session: str = SESSION, parent: str | None = None) -> Path:
    path = home / "opencode.db"
    with closing(sqlite3.connect(path)) as db, db:
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            db.executescript(_SCHEMA)
        place = (session, "global", parent, "calm-sea", "/home/ada/quay", "New session - x", "1.18.33", None)
        db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*place, _START, _START + 9000))
        for number, info, parts in MESSAGES:
            name, time = f"msg_{session}_{number:03}", _START + number * 1000
            data = json.dumps(info | {"time": {"created": time}})
            db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (name, session, time, time, data))
            for index, part in enumerate(parts):
                row = (f"prt_{session}_{number:03}_{index}", name, session, time, time, json.dumps(part))
                db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    return path
