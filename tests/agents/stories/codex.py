"""The story as Codex logs it."""

import json
from pathlib import Path
from typing import Any

SESSION = "019ddaf2-047a-7a63-839e-79f4476f3b44"
_PATCH = "*** Begin Patch\n*** Update File: /home/ada/quay/light.py\n@@\n-off\n+on\n*** End Patch\n"


def record(kind: str, payload: dict[str, Any], second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-04-29T20:33:{second:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return record("response_item", {"type": kind, **payload})


def count(total: int, **last: int) -> dict[str, Any]:
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return record("event_msg", {"type": "token_count", "info": info})


def prompt(words: str) -> dict[str, Any]:
    return record("event_msg", {"type": "user_message", "message": words, "images": []}, 1)


LINES: list[dict[str, Any]] = [
    record("session_meta", {"id": SESSION, "cwd": "/home/ada/quay", "cli_version": "0.126.0"}),
    record("turn_context", {"model": "gpt-5.5", "turn_id": "t1"}),
    prompt("Mend the quay"),
    item("reasoning", summary=[{"type": "summary_text", "text": "Stones first"}], encrypted_content="x"),
    item("function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="c1"),
    item("function_call_output", call_id="c1", output="Process exited with code 0\nOutput:\nquay.py"),
    count(110, input_tokens=100, cached_input_tokens=60, output_tokens=10),
    item("function_call", name="exec_command", arguments='{"cmd":"make"}', call_id="c2"),
    item("function_call_output", call_id="c2", output="Process exited with code 2\nOutput:\nno rule"),
    prompt("And the lighthouse"),
    item("custom_tool_call", name="apply_patch", input=_PATCH, call_id="c3"),
    item("custom_tool_call_output", call_id="c3", output="Exit code: 0\nOutput:\nSuccess."),
    item("hologram", shape="ship"),
    item("message", role="assistant", content=[{"type": "output_text", "text": "Lit since dusk."}]),
    count(240, input_tokens=120, cached_input_tokens=100, output_tokens=10),
]


def write(home: Path) -> Path:
    path = home / "sessions/2026/04/29" / f"rollout-2026-04-29T22-33-39-{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path
