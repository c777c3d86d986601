"""The story as Copilot CLI logs it."""

import json
from pathlib import Path
from typing import Any

SESSION = "378ab881-f02f-435c-9673-0c8d7c7d6bef"
EDIT = {"path": "/home/ada/quay/light.py", "old_str": "off", "new_str": "on"}


def asked(call: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"toolCallId": call, "name": name, "arguments": arguments}


def answer(message: str, words: str, *requests: dict[str, Any], output: int = 0, **more: Any) -> dict[str, Any]:
    return {"messageId": message, "content": words, "toolRequests": list(requests), "outputTokens": output, **more}


def done(call: str, words: str, code: int | None = None) -> dict[str, Any]:
    ended = f"\n<shellId: 0 completed with exit code {code}>" if code is not None else ""
    return {"toolCallId": call, "success": True, "result": {"content": words + ended}}


RECORD = {"model": "claude-sonnet-4.5", "apiCallId": "r4", "inputTokens": 120, "outputTokens": 10}
USED = {"inputTokens": 225, "outputTokens": 20, "cacheReadTokens": 160, "cacheWriteTokens": 5}
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("session.start", {"sessionId": SESSION, "copilotVersion": "1.0.64", "context": {"cwd": "/home/ada/quay"}}),
    ("session.model_change", {"newModel": "claude-sonnet-4.5"}),
    ("user.message", {"content": "Mend the quay"}),
    ("assistant.turn_start", {"turnId": "0"}),
    ("assistant.message", answer("m1", "", asked("c1", "bash", command="ls"), output=8, reasoningText="Stones first")),
    ("tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}}),
    ("tool.execution_complete", done("c1", "quay.py", 0)),
    ("assistant.message", answer("m2", "", asked("c2", "bash", command="make"))),
    ("tool.execution_complete", done("c2", "no rule", 2)),
    ("user.message", {"content": "And the lighthouse"}),
    ("assistant.message", answer("m3", "", asked("c3", "edit", **EDIT))),
    ("tool.execution_complete", done("c3", "Edited.")),
    ("hologram", {"shape": "ship"}),
    ("session.usage_record", {"usage": {**RECORD, "cacheReadTokens": 100, "cacheWriteTokens": 5}}),
    ("assistant.message", answer("m4", "Lit since dusk.", output=10, apiCallId="r4")),
    ("session.shutdown", {"shutdownType": "routine", "modelMetrics": {"claude-sonnet-4.5": {"usage": USED}}}),
]


def write(home: Path) -> Path:
    path = home / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines, before = [], None
    for number, (kind, data) in enumerate(EVENTS):
        name = f"5a7f9870-d353-4c15-8fd8-0000000000{number:02}"
        time = f"2026-06-25T02:02:{number:02}.000Z"
        lines.append({"type": kind, "data": data, "id": name, "timestamp": time, "parentId": before})
        before = name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
