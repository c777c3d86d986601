"""The story as Harbor's converters write it: a trajectory of ATIF, with nothing of unspool's own in it."""

import json
from pathlib import Path
from typing import Any


def called(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"tool_call_id": call, "function_name": tool, "arguments": given}


def answered(call: str, words: str) -> dict[str, Any]:
    return {"source_call_id": call, "content": words}


def used(sent: int, output: int, read: int, written: int) -> dict[str, Any]:
    counts = {"prompt_tokens": sent + read + written, "completion_tokens": output, "cached_tokens": read}
    return {**counts, "extra": {"cache_creation_input_tokens": written}}


EDIT = {"file_path": "/home/ada/quay/light.py", "old_string": "off", "new_string": "on"}
STEPS: list[dict[str, Any]] = [
    {"source": "user", "message": "Mend the quay", "timestamp": "2026-02-28T01:13:21Z"},
    {
        "source": "agent",
        "message": "",
        "reasoning_content": "Stones first",
        "tool_calls": [called("c1", "Bash", command="ls"), called("c2", "Bash", command="make")],
        "observation": {
            "results": [answered("c1", "quay.py"), answered("c2", "no rule\n\n[error] tool reported failure")]
        },
        "metrics": used(40, 10, 60, 5),
    },
    {"source": "user", "message": "And the lighthouse"},
    {
        "source": "agent",
        "message": "",
        "tool_calls": [called("c3", "Edit", **EDIT)],
        "observation": {"results": [answered("c3", "Edited.")]},
    },
    {"source": "hologram", "message": "a ship"},
    {"source": "agent", "message": "Lit since dusk.", "metrics": used(20, 10, 100, 0)},
]


def document() -> dict[str, Any]:
    """The trajectory, as data."""
    steps = [{"step_id": number, **step} for number, step in enumerate(STEPS, 1)]
    agent: dict[str, Any] = {"name": "claude-code", "version": "2.1.300", "model_name": "claude-opus-4-6"}
    agent |= {"extra": {"cwds": ["/home/ada/quay"]}}
    return {"schema_version": "ATIF-v1.7", "session_id": "mend-the-quay__Xy12", "agent": agent, "steps": steps}


def write(home: Path) -> Path:
    path = home / "mend-the-quay__Xy12" / "agent" / "trajectory.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document(), indent=2))
    return path
