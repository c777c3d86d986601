"""The story as Kiro CLI logs it."""

import json
from pathlib import Path
from typing import Any

SESSION = "e36d6e16-bf0a-4982-91e1-68e63be0fa60"
EDIT = {"command": "strReplace", "path": "/home/ada/quay/light.py", "oldStr": "off", "newStr": "on"}


def use(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"kind": "toolUse", "data": {"toolUseId": call, "name": name, "input": given}}


def result(call: str, words: str, code: int = 0) -> dict[str, Any]:
    told = {"exit_status": f"exit status: {code}", "stdout": words, "stderr": ""}
    inner = {"toolUseId": call, "content": [{"kind": "json", "data": told}], "status": "success"}
    return {"kind": "toolResult", "data": inner}


def text(words: str) -> dict[str, Any]:
    return {"kind": "text", "data": words}


LINES: list[tuple[str, list[dict[str, Any]]]] = [
    ("Prompt", [text("Mend the quay")]),
    (
        "AssistantMessage",
        [
            {"kind": "thinking", "data": "Stones first"},
            use("c1", "shell", command="ls"),
            use("c2", "shell", command="make"),
        ],
    ),
    ("ToolResults", [result("c1", "quay.py"), result("c2", "no rule", 2)]),
    ("Prompt", [text("And the lighthouse")]),
    ("AssistantMessage", [text(""), use("c3", "write", **EDIT)]),
    ("ToolResults", [result("c3", "Edited.")]),
    ("hologram", []),
    ("AssistantMessage", [text("Lit since dusk.")]),
]


def write(home: Path) -> Path:
    path = home / "sessions" / "cli" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "version": "v1",
            "kind": kind,
            "data": {"message_id": f"m{number}", "content": content, "meta": {"timestamp": 1780617523 + number}},
        }
        for number, (kind, content) in enumerate(LINES)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    model = {"rts_model_state": {"model_info": {"model_id": "qwen3-coder-next"}}}
    beside = {"session_id": SESSION, "cwd": "/home/ada/quay", "title": "Mend the quay", "session_state": model}
    path.with_suffix(".json").write_text(json.dumps(beside))
    return path
