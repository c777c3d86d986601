"""The story as Continue keeps it: one document."""

import json
from pathlib import Path
from typing import Any

SESSION = "2dbfd673-096d-4773-b5f3-9023894a7355"
EDIT = {"filepath": "/home/ada/quay/light.py", "edits": [{"old_string": "off", "new_string": "on"}]}


def made(call: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}


def state(call: str, given: dict[str, Any], words: str, status: str = "done") -> dict[str, Any]:
    return {"toolCallId": call, "status": status, "parsedArgs": given, "output": [{"content": words, "name": "Result"}]}


def item(role: str, content: Any, **more: Any) -> dict[str, Any]:
    calls = {"toolCalls": more.pop("calls")} if "calls" in more else {}
    return {"message": {"role": role, "content": content, **calls}, "contextItems": [], **more}


HISTORY: list[dict[str, Any]] = [
    item("user", "Mend the quay"),
    item("thinking", "Stones first"),
    item(
        "assistant", "",
        calls=[made("c1", "Bash", {"command": "ls"}), made("c2", "Bash", {"command": "make"})],
        toolCallStates=[state("c1", {"command": "ls"}, "quay.py"), state("c2", {"command": "make"}, "no", "errored")],
    ),
    item("user", [{"type": "text", "text": "And the lighthouse"}]),
    item("assistant", "", calls=[made("c3", "MultiEdit", EDIT)], toolCallStates=[state("c3", EDIT, "Edited.")]),
    item("hologram", "ship"),
    item("assistant", "Lit since dusk."),
]  # fmt: skip
USED = {"promptTokens": 60, "completionTokens": 20, "promptTokensDetails": {"cachedTokens": 160, "cacheWriteTokens": 5}}


def write(home: Path) -> Path:
    path = home / "sessions" / f"{SESSION}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"sessionId": SESSION, "title": "Quay", "workspaceDirectory": "/home/ada/quay"}
    path.write_text(json.dumps({**head, "history": HISTORY, "usage": USED}, indent=2))
    return path
