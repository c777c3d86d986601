"""The story as pi logs it."""

import json
from pathlib import Path
from typing import Any

SESSION = "019da981-7187-77bd-8cb8-16eb9c62c712"


def entry(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    """A line of the tree: each follows the one before it."""
    parent = f"{number - 1:08x}" if number else None
    return {
        "type": kind,
        "id": f"{number:08x}",
        "parentId": parent,
        "timestamp": f"2026-04-20T06:08:{number:02}.000Z",
    } | fields


def message(number: int, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return entry(number, "message", message={"role": role, "content": content, **fields})


def answer(number: int, *content: dict[str, Any], usage: dict[str, int], stop: str = "toolUse") -> dict[str, Any]:
    facts = {"provider": "anthropic", "model": "claude-sonnet-4-5", "usage": usage, "stopReason": stop}
    return message(number, "assistant", list(content), **facts)


def call(name: str, identity: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}


def result(number: int, identity: str, words: str, *, error: bool = False) -> dict[str, Any]:
    return message(
        number, "toolResult", [{"type": "text", "text": words}], toolCallId=identity, toolName="bash", isError=error
    )


LINES: list[dict[str, Any]] = [
    {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-04-20T06:08:00.000Z", "cwd": "/home/ada/quay"},
    entry(0, "model_change", provider="anthropic", modelId="claude-sonnet-4-5"),
    message(1, "user", [{"type": "text", "text": "Mend the quay"}]),
    answer(
        2,
        {"type": "thinking", "thinking": "Stones first", "thinkingSignature": "x"},
        call("bash", "c1", command="ls"),
        usage={"input": 40, "output": 10, "cacheRead": 60, "cacheWrite": 5},
    ),
    result(3, "c1", "quay.py"),
    answer(4, call("bash", "c2", command="make"), usage={}),
    result(5, "c2", "no rule", error=True),
    message(6, "user", "And the lighthouse"),
    answer(7, call("edit", "c3", path="/home/ada/quay/light.py", oldText="off", newText="on"), usage={}),
    result(8, "c3", "Edited."),
    entry(9, "hologram", shape="ship"),
    answer(
        10,
        {"type": "text", "text": "Lit since dusk."},
        usage={"input": 20, "output": 10, "cacheRead": 100},
        stop="stop",
    ),
]  # fmt: skip


def write(home: Path) -> Path:
    path = home / "sessions" / "--home-ada-quay--" / f"2026-04-20T06-08-00-000Z_{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path
