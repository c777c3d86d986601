"""The story as Qwen Code logs it."""

import json
from pathlib import Path
from typing import Any

SESSION = "7b1d3c52-0c67-4e17-8954-0b6e2b3322f0"
EDIT = {"file_path": "/home/ada/quay/light.py", "old_string": "off", "new_string": "on"}
_USES = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")


def record(number: int, kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    place = {"uuid": f"q{number}", "parentUuid": f"q{number - 1}" if number > 1 else None, "sessionId": SESSION}
    time = f"2026-06-21T05:56:{number:02}.000Z"
    message = {"role": "model" if kind == "assistant" else "user", "parts": list(parts)}
    return {
        **place,
        "timestamp": time,
        "type": kind,
        "cwd": "/home/ada/quay",
        "version": "0.24.4",
        "message": message,
        **more,
    }


def used(*counts: int) -> dict[str, Any]:
    return {"model": "qwen3-coder-plus", "usageMetadata": dict(zip(_USES, counts, strict=True))}


def call(identity: str, name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": identity, "name": name, "args": args}}


def done(identity: str, words: str, key: str = "output") -> dict[str, Any]:
    return {"functionResponse": {"id": identity, "name": "x", "response": {key: words}}}


THOUGHT = {"text": "Stones first", "thought": True}
LINES: list[dict[str, Any]] = [
    record(1, "user", {"text": "Mend the quay"}),
    record(2, "assistant", THOUGHT, call("c1", "run_shell_command", command="ls"), **used(100, 8, 2, 60)),
    record(3, "tool_result", done("c1", "quay.py"), toolCallResult={"callId": "c1", "status": "success"}),
    record(4, "assistant", call("c2", "run_shell_command", command="make"), model="qwen3-coder-plus"),
    record(5, "tool_result", done("c2", "no rule", "error"), toolCallResult={"callId": "c2", "status": "error"}),
    record(6, "user", {"text": "And the lighthouse"}),
    record(7, "assistant", call("c3", "edit", **EDIT), model="qwen3-coder-plus"),
    record(8, "tool_result", done("c3", "Edited."), toolCallResult={"callId": "c3", "status": "success"}),
    record(9, "hologram"),
    record(10, "assistant", {"text": "Lit since dusk."}, **used(120, 10, 0, 100)),
]  # fmt: skip


def write(home: Path) -> Path:
    path = home / "projects" / "-home-ada-quay" / "chats" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path
