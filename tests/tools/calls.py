"""Tool calls for tests, made by function, and what can be seen of nodes."""

from typing import Any

import msgspec

from unspool.doc import Terminal
from unspool.model import Image, Place, Result, ToolCall

PLACE = Place(1, 0, 1)


def called(name: str, given: Any = None, answer: str | None = "", /, detail: Any = None, **more: Any) -> ToolCall:
    """A call and its answer (None: none yet); `error`, `images`, ... are the answer's, the rest is the call's."""
    of_result = {key: more.pop(key) for key in tuple(more) if key in Result.__struct_fields__}
    result = None if answer is None else Result(PLACE, "call-1", answer, detail=detail, **of_result)
    more.setdefault("state", "unanswered" if result is None else "error" if result.error else "ok")
    return ToolCall(PLACE, "call-1", name, {} if given is None else given, result=result, **more)


def image(data: str = "aGk=", media_type: str = "image/png") -> Image:
    return Image(PLACE, media_type, data)


def text_of(node: object) -> str:
    """All that a reader can see of nodes, one piece a line."""
    match node:
        case str():
            return node
        case Terminal():
            return node.text
        case tuple():
            return "\n".join(text_of(part) for part in node)
        case msgspec.Struct():
            return "\n".join(text_of(getattr(node, name)) for name in node.__struct_fields__)
    return ""
