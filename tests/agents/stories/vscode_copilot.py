"""The story as Copilot Chat of VS Code keeps it: a log of changes, and traces of its requests."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SESSION = "7de89a80-6d93-43e7-be0a-0a9afe980198"
_START = 1770580242000
EDIT = {"filePath": "/home/ada/quay/light.py", "oldString": "off", "newString": "on"}


def shown(call: str, tool: str, **more: Any) -> dict[str, Any]:
    return {"kind": "toolInvocationSerialized", "toolCallId": call, "toolId": tool, "isComplete": True, **more}


def made(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"id": f"{call}__vscode-1", "name": name, "arguments": json.dumps(given)}


def request(number: int, words: str, response: list[Any], calls: list[Any] = [], **answers: str) -> dict[str, Any]:  # noqa: B006
    told = {f"{call}__vscode-1": {"content": [{"value": answer}]} for call, answer in answers.items()}
    details = {"toolCallRounds": [{"response": "", "toolCalls": calls}], "toolCallResults": told}
    return {
        "requestId": f"request_{number}", "timestamp": _START + number * 10_000, "message": {"text": words},
        "variableData": {"variables": []}, "response": response, "modelId": "copilot/gpt-5",
        "result": {"timings": {}, "metadata": details},
    }  # fmt: skip


FIRST = request(
    1, "Mend the quay",
    [{"kind": "thinking", "value": "Stones first"}, shown("c1", "run_in_terminal"), shown("c2", "run_in_terminal")],
    [made("c1", "run_in_terminal", command="ls"), made("c2", "run_in_terminal", command="make")],
    c1="quay.py", c2="ERROR while calling tool: no rule",
)  # fmt: skip
SECOND = request(
    2, "And the lighthouse",
    [shown("x", "copilot_replaceString"), {"kind": "hologram", "shape": "ship"}, {"value": "Lit since "}],
    [made("c3", "replace_string_in_file", **EDIT)], c3="Edited.",
)  # fmt: skip
CHANGES: list[dict[str, Any]] = [
    {"kind": 0, "v": {"version": 3, "sessionId": SESSION, "creationDate": _START, "responderUsername": "x",
                      "requests": [FIRST]}},
    {"kind": 2, "k": ["requests"], "v": [SECOND]},
    {"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "dusk."}]},
    {"kind": 1, "k": ["inputState", "inputText"], "v": ""},
]  # fmt: skip
SPANS = [("s1", 1, 100, 10, 60), ("s2", 2, 120, 10, 100)]


def write_spans(path: Path, spans: list[tuple[str, int, int, int, int]], session: str = SESSION) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE spans (span_id TEXT PRIMARY KEY, start_time_ms INTEGER, operation_name TEXT, "
            "conversation_id TEXT, request_model TEXT, response_model TEXT, input_tokens INTEGER, "
            "output_tokens INTEGER, cached_tokens INTEGER, chat_session_id TEXT)"
        )
        for name, number, sent, output, cached in spans:
            row = (name, _START + number * 10_000 + 5, "chat", None, "gpt-5", "gpt-5", sent, output, cached, session)
            db.execute("INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def write_chat(home: Path, changes: list[dict[str, Any]] = CHANGES, name: str = f"{SESSION}.jsonl") -> Path:
    path = home / "workspaceStorage" / "0123abcd" / "chatSessions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(change) + "\n" for change in changes))
    (path.parent.parent / "workspace.json").write_text('{"folder": "file:///home/ada/quay"}')
    return path


def write(home: Path) -> Path:
    write_spans(home / "globalStorage" / "github.copilot-chat" / "agent-traces.db", SPANS)
    return write_chat(home)
