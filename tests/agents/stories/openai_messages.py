"""The story as OpenAI messages with tools: one conversation on a line."""

import json
from pathlib import Path
from typing import Any

EDIT = {"file_path": "/home/ada/quay/light.py", "old_string": "off", "new_string": "on"}


def called(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": tool, "arguments": given}}


def answered(call: str, tool: str, words: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "name": tool, "content": words}


MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Mend the quay"},
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "Stones first",
        "tool_calls": [called("c1", "Bash", command="ls"), called("c2", "Bash", command="make")],
    },
    answered("c1", "Bash", "quay.py"),
    answered("c2", "Bash", "no rule"),
    {"role": "user", "content": [{"type": "text", "text": "And the lighthouse"}]},
    {"role": "assistant", "content": None, "tool_calls": [called("c3", "Edit", **EDIT)]},
    answered("c3", "Edit", "Edited."),
    {"role": "hologram", "content": "a ship"},
    {"role": "assistant", "content": "Lit since dusk."},
]
REQUESTS = [
    {"model": "claude-opus-4-6", "input": 40, "output": 10, "cache_read": 60, "cache_write": 5},
    {"model": "claude-opus-4-6", "input": 20, "output": 10, "cache_read": 100},
]


def write(home: Path) -> Path:
    path = home / "quay.messages.jsonl"
    about = {"session": "quay", "agent": "claude-code", "models": ["claude-opus-4-6"], "requests": REQUESTS}
    row = {"messages": MESSAGES, "tools": [], "metadata": {**about, "cwd": "/home/ada/quay"}}
    path.write_text(json.dumps(row) + "\n")
    return path
