"""The story as Droid logs it, with what it used beside it."""

import json
from pathlib import Path
from typing import Any

from tests.agents.stories.blocks import ANSWER, THOUGHT, result, use

SESSION = "052cb8d0-4616-488a-99fe-bfbbbe9429b3"
_PATCH = "*** Begin Patch\n*** Update File: /home/ada/quay/light.py\n@@\n-off\n+on\n*** End Patch"
_USED = {"inputTokens": 60, "outputTokens": 20, "cacheReadTokens": 160, "cacheCreationTokens": 5}


def said(number: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    message = {"role": role, "content": list(content)}
    return {
        "type": "message",
        "id": f"m{number}",
        "timestamp": f"2026-01-28T16:57:{number:02}.000Z",
        "message": message,
    }


LINES: list[dict[str, Any]] = [
    {"type": "session_start", "id": SESSION, "title": "Mend the quay", "version": 2, "cwd": "/home/ada/quay"},
    said(1, "user", {"type": "text", "text": "Mend the quay"}),
    said(2, "assistant", THOUGHT, use("c1", "Execute", command="ls"), use("c2", "Execute", command="make")),
    said(3, "user", result("c1", "quay.py"), result("c2", "no rule", error=True)),
    said(4, "user", {"type": "text", "text": "And the lighthouse"}),
    said(5, "assistant", use("c3", "ApplyPatch", input=_PATCH)),
    said(6, "user", result("c3", "Edited.")),
    {"type": "hologram", "id": "h", "timestamp": "2026-01-28T16:57:07.000Z", "shape": "ship"},
    said(8, "assistant", ANSWER),
]


def write(home: Path) -> Path:
    path = home / "sessions" / "-home-ada-quay" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    path.with_suffix(".settings.json").write_text(json.dumps({"model": "gpt-5-mini", "tokenUsage": _USED}))
    return path
