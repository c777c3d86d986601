"""The story in content blocks, as many agents log it."""

from typing import Any

THOUGHT = {"type": "thinking", "thinking": "Stones first", "signature": "x"}
ANSWER = {"type": "text", "text": "Lit since dusk."}
HOLOGRAM = {"type": "hologram", "shape": "ship"}


def use(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call: str, words: str, *, error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": words, "is_error": error}
