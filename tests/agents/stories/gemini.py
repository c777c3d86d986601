"""The story as Gemini CLI logs it: lines that replace earlier ones."""

import json
from pathlib import Path
from typing import Any

SESSION = "be8dae6d-a75a-41e3-9252-18c79073c608"
EDIT = {"file_path": "/home/ada/quay/light.py", "old_string": "off", "new_string": "on"}
_CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /home/ada/quay\n</session_context>"


def message(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "timestamp": f"2026-06-11T21:05:{number:02}.000Z",
        "type": kind,
        "content": content,
        **more,
    }


def call(name: str, identity: str, args: dict[str, Any], output: str, status: str = "success") -> dict[str, Any]:
    key = "error" if status == "error" else "output"
    response = {"functionResponse": {"id": identity, "name": name, "response": {key: output}}}
    return {"id": identity, "name": name, "args": args, "status": status, "result": [response]}


def tokens(sent: int, output: int, cached: int, thoughts: int = 0) -> dict[str, int]:
    return {"input": sent, "output": output, "cached": cached, "thoughts": thoughts, "tool": 0}


CALLS = [
    call("run_shell_command", "c1", {"command": "ls"}, "quay.py"),
    call("run_shell_command", "c2", {"command": "make"}, "no rule", "error"),
]
THOUGHTS = [{"subject": "Stones first", "description": "Then mortar."}]
LINES: list[dict[str, Any]] = [
    {"sessionId": SESSION, "projectHash": "8255", "startTime": "2026-06-11T21:05:00.000Z", "kind": "main"},
    {"$set": {"messages": [message(0, "user", [{"text": _CONTEXT}])]}},
    message(1, "user", [{"text": "Mend the quay"}]),
    message(2, "gemini", "", thoughts=THOUGHTS, model="gemini-3.5-flash"),
    message(
        2, "gemini", "", thoughts=THOUGHTS, model="gemini-3.5-flash", toolCalls=CALLS, tokens=tokens(100, 8, 60, 2)
    ),
    message(3, "user", [CALLS[0]["result"][0], CALLS[1]["result"][0]]),
    message(4, "user", "And the lighthouse"),
    message(5, "gemini", "", model="gemini-3.5-flash", toolCalls=[call("replace", "c3", EDIT, "Edited.")]),
    message(6, "hologram", "ship"),
    message(7, "gemini", "Lit since dusk.", model="gemini-3.5-flash", tokens=tokens(120, 10, 100)),
    {"$set": {"lastUpdated": "2026-06-11T21:06:00.000Z"}},
]


def write(home: Path) -> Path:
    path = home / "tmp" / "quay" / "chats" / "session-2026-06-11T21-05-be8dae6d.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path
