"""The story as the editor of Cursor keeps it: rows of a database."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SESSION = "7d2c6f0a-f02f-435c-9673-0c8d7c7d6bef"
_START = 1776066329000


def tool(call: str, name: str, given: dict[str, Any], result: dict[str, Any], status: str = "completed") -> Any:
    data = {"toolCallId": call, "name": name, "params": json.dumps(given), "result": json.dumps(result)}
    return {"type": 2, "capabilityType": 15, "text": "", "toolFormerData": data | {"status": status}}


EDIT = {"file_path": "/home/ada/quay/light.py", "old_string": "off", "new_string": "on"}
BUBBLES: list[dict[str, Any]] = [
    {"type": 1, "text": "Mend the quay"},
    {"type": 2, "text": "", "thinking": {"text": "Stones first"}},
    tool("c1", "run_terminal_cmd", {"command": "ls"}, {"output": "quay.py", "exitCodeV2": 0}),
    tool("c2", "run_terminal_cmd", {"command": "make"}, {"output": "no rule", "exitCodeV2": 2}),
    {"type": 1, "text": "And the lighthouse"},
    tool("c3", "search_replace", EDIT, {"diff": {}}),
    {"type": "hologram", "shape": "ship"},
    {"type": 2, "text": "Lit since dusk.", "tokenCount": {"inputTokens": 0, "outputTokens": 0}},
]


def write_rows(path: Path, rows: dict[str, Any], table: str = "cursorDiskKV") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key, value in rows.items():
            db.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, value if value is None else json.dumps(value)))  # noqa: S608
    return path


def composer(session: str = SESSION, bubbles: list[dict[str, Any]] = BUBBLES, **more: Any) -> dict[str, Any]:
    """The rows of a chat, its headers naming all bubbles."""
    named = {
        f"b{number}": {"_v": 3, "bubbleId": f"b{number}", "createdAt": f"2026-04-13T08:00:{number:02}.000Z", **one}
        for number, one in enumerate(bubbles)
    }
    head = {
        "_v": 10, "composerId": session, "createdAt": _START, "lastUpdatedAt": _START + 9000, "unifiedMode": "agent",
        "fullConversationHeadersOnly": [{"bubbleId": name, "type": one["type"]} for name, one in named.items()],
        "workspaceIdentifier": {"id": "x", "uri": {"fsPath": "/home/ada/quay"}}, **more,
    }  # fmt: skip
    return {f"composerData:{session}": head} | {f"bubbleId:{session}:{name}": one for name, one in named.items()}


def write(home: Path) -> Path:
    return write_rows(home / "globalStorage" / "state.vscdb", composer())
