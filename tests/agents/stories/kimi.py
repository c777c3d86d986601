"""The story as Kimi CLI logs it."""

import hashlib
import json
from pathlib import Path
from typing import Any

SESSION = "0d3f6c1e-f02f-435c-9673-0c8d7c7d6bef"
FOLDER = hashlib.md5(b"/home/ada/quay", usedforsecurity=False).hexdigest()
EDIT = {"path": "/home/ada/quay/light.py", "edit": {"old": "off", "new": "on"}}


def call(name: str, tool: str, **given: Any) -> tuple[str, dict[str, Any]]:
    return "ToolCall", {"type": "function", "id": name, "function": {"name": tool, "arguments": json.dumps(given)}}


def result(name: str, words: str, *, error: bool = False) -> tuple[str, dict[str, Any]]:
    return "ToolResult", {"tool_call_id": name, "return_value": {"is_error": error, "output": words, "message": ""}}


def used(sent: int, output: int, read: int, written: int) -> tuple[str, dict[str, Any]]:
    names = ("input_other", "output", "input_cache_read", "input_cache_creation")
    return "StatusUpdate", {"token_usage": dict(zip(names, (sent, output, read, written), strict=True))}


EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("TurnBegin", {"user_input": "Mend the quay"}),
    ("StepBegin", {"n": 1}),
    ("ContentPart", {"type": "think", "think": "Stones first", "encrypted": None}),
    call("c1", "Shell", command="ls"),
    call("c2", "Shell", command="make"),
    used(40, 10, 60, 5),
    result("c1", "quay.py"),
    result("c2", "no rule", error=True),
    ("TurnEnd", {}),
    ("TurnBegin", {"user_input": [{"type": "text", "text": "And the lighthouse"}]}),
    ("StepBegin", {"n": 1}),
    call("c3", "StrReplaceFile", **EDIT),
    result("c3", "Edited."),
    ("hologram", {"shape": "ship"}),
    ("StepBegin", {"n": 2}),
    ("ContentPart", {"type": "text", "text": "Lit since dusk."}),
    used(20, 10, 100, 0),
]


def lines(events: list[tuple[str, dict[str, Any]]] = EVENTS) -> str:
    told = [
        {"timestamp": 1772241173.5 + number, "message": {"type": kind, "payload": payload}}
        for number, (kind, payload) in enumerate(events)
    ]
    return "".join(json.dumps(line) + "\n" for line in [{"type": "metadata", "protocol_version": "1.3"}, *told])


def write(home: Path) -> Path:
    (home / "kimi.json").write_text(json.dumps({"work_dirs": [{"path": "/home/ada"}, {"path": "/home/ada/quay"}]}))
    path = home / "sessions" / FOLDER / SESSION / "wire.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines())
    return path
