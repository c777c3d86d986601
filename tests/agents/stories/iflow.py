"""The story as iFlow CLI logs it: lines that answer together repeat each other's calls."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.blocks import ANSWER, HOLOGRAM, THOUGHT, use

SESSION = "session-5de701fc-7454-4858-a249-95cac4fd3b51"
EDIT = {"file_path": "/home/ada/quay/light.py", "old_string": "off", "new_string": "on"}


def line(number: int, kind: str, content: Any, **message: Any) -> dict[str, Any]:
    time = f"2026-01-21T05:56:{number:02}.000Z"
    place = {"uuid": f"26ce631f-b136-4829-83af-0000000000{number:02}", "parentUuid": None, "sessionId": SESSION}
    said = {"role": kind, "content": content, **message}
    return {**place, "timestamp": time, "type": kind, "cwd": "/home/ada/quay", "version": "1.0.0", "message": said}


def result(call: str, words: str, key: str = "output") -> list[dict[str, Any]]:
    parts = {"functionResponse": {"id": call, "name": "x", "response": {key: words}}}
    return [{"tool_use_id": call, "type": "tool_result", "content": {"callId": call, "responseParts": parts}}]


FIRST, SECOND = use("c1", "run_shell_command", command="ls"), use("c2", "run_shell_command", command="make")
LINES: list[dict[str, Any]] = [
    line(1, "user", "Mend the quay"),
    line(2, "assistant", [THOUGHT, FIRST], id="m1", model="glm-4.7", usage={"input_tokens": 40, "output_tokens": 10}),
    line(3, "assistant", [FIRST, SECOND], id="m2", model="glm-4.7", usage={"input_tokens": 0, "output_tokens": 0}),
    line(4, "user", result("c1", "quay.py")),
    line(5, "user", result("c2", "no rule", "error")),
    line(6, "user", "And the lighthouse"),
    line(7, "assistant", [use("c3", "replace", **EDIT)], id="m3", model="glm-4.7"),
    line(8, "user", result("c3", "Edited.")),
    line(9, "assistant", [HOLOGRAM, ANSWER], id="m4", model="glm-4.7", usage={"input_tokens": 20, "output_tokens": 10}),
]


def write(home: Path) -> Path:
    path = home / "projects" / "-home-ada-quay" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in LINES))
    return path
