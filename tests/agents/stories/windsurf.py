"""The story as a hook of Windsurf writes it."""

import json
from pathlib import Path
from typing import Any

SESSION = "3f1c2d1e-0000-4000-8000-000000000001"
CHANGE = {"path": "file:///home/ada/quay/light.py", "original_content": "off\n", "new_content": "on\n"}


def line(kind: str, status: str = "done", **inner: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, kind: inner}


LINES: list[dict[str, Any]] = [
    line("user_input", user_response="Mend the quay"),
    line("run_command", command="ls", cwd="/home/ada/quay", exit_code=0, output="quay.py", user_rejected=False),
    line("run_command", command="make", cwd="/home/ada/quay", exit_code=2, output="no rule", user_rejected=False),
    line("user_input", user_response="And the lighthouse"),
    line("code_action", acknowledgement_type="ACKNOWLEDGEMENT_TYPE_ACCEPT", **CHANGE),
    line("hologram", shape="ship"),
    line("planner_response", response="Lit since dusk."),
]


def write(home: Path) -> Path:
    path = home / "transcripts" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in LINES))
    return path
