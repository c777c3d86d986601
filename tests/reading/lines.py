"""Lines of a log written by hand, for shapes that the builder does not write."""

from typing import Any

Fields = dict[str, Any]


def asked(uuid: str, words: Any, parent: str | None = None, **extra: Any) -> Fields:
    """A user line."""
    message = {"role": "user", "content": words}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message, **extra}


def said(uuid: str | None, message: str, content: list[Fields], parent: str | None = None, **extra: Any) -> Fields:
    """An assistant line; `output`, `stop`, `request`, `usage` and `model` go where they belong."""
    usage = extra.pop("usage", {"input_tokens": 10, "output_tokens": extra.pop("output", 5)})
    inner = {"id": message, "role": "assistant", "model": extra.pop("model", "claude-opus-4-8"), "content": content}
    inner |= {"stop_reason": extra.pop("stop", None), "usage": usage}
    line = {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": inner}
    return {**line, "requestId": extra.pop("request", "req_1"), **extra}


def text(words: str) -> Fields:
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "") -> Fields:
    return {"type": "thinking", "thinking": words, "signature": signature}


def use(identity: str, name: str = "Bash", **given: Any) -> Fields:
    return {"type": "tool_use", "id": identity, "name": name, "input": given}


def answer(identity: str, words: Any = "done", *, error: bool = False) -> Fields:
    return {"type": "tool_result", "tool_use_id": identity, "content": words, "is_error": error}
