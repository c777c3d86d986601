"""The story as Amp keeps it: one document."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.blocks import ANSWER, HOLOGRAM, THOUGHT, use

SESSION = "T-019ca1f6-7f21-77b5-a308-65416ebbdf48"


def result(call: str, words: str, status: str = "done") -> dict[str, Any]:
    run = {"status": status, "result": words} if status == "done" else {"status": status, "error": {"message": words}}
    return {"type": "tool_result", "toolUseID": call, "run": run}


def used(sent: int, output: int, read: int, written: int) -> dict[str, Any]:
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return {"model": "claude-opus-4-6", **dict(zip(names, (sent, output, read, written), strict=True))}


EDIT = {"path": "/home/ada/quay/light.py", "old_str": "off", "new_str": "on"}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Mend the quay"}], "meta": {"sentAt": 1772241201792}},
    {
        "role": "assistant",
        "content": [THOUGHT, use("c1", "Bash", cmd="ls"), use("c2", "Bash", cmd="make")],
        "usage": used(40, 10, 60, 5),
    },
    {"role": "user", "content": [result("c1", "quay.py"), result("c2", "no rule", "error")]},
    {"role": "user", "content": [{"type": "text", "text": "And the lighthouse"}]},
    {"role": "assistant", "content": [use("c3", "edit_file", **EDIT)]},
    {"role": "user", "content": [result("c3", "Edited.")]},
    {"role": "assistant", "content": [HOLOGRAM, ANSWER], "usage": used(20, 10, 100, 0)},
]


def write(home: Path) -> Path:
    path = home / "threads" / f"{SESSION}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    trees = [{"displayName": "quay", "uri": "file:///home/ada/quay"}]
    messages = [{"messageId": number, **message} for number, message in enumerate(MESSAGES)]
    head = {"v": 7, "id": SESSION, "created": 1772241173221, "env": {"initial": {"trees": trees}}}
    path.write_text(json.dumps({**head, "messages": messages}, indent=2))
    return path
