"""A tool nobody has seen, or a call of a shape nobody has seen: its fields, and its output as printed."""

from unspool.doc import Node, Raw
from unspool.model import Json, Result, ToolCall
from unspool.tools import data, reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

NAMES: tuple[str, ...] = ()

_TELLING = ("description", "title", "query", "name", "path", "file_path", "url", "command", "message", "prompt", "id")


def describe(call: ToolCall) -> Shown:
    result = reply.good(call)
    return Shown(
        f"{call.name or 'Unnamed tool'} {subject(call.input)}",
        words.count(words.lines(result.text), "line") if result and result.text else "",
        (*given(call.input), *(output(result) if result else ())),
    )


def orphan(call: ToolCall) -> Shown:
    """A result whose call is not in the log."""
    result = reply.good(call)
    return Shown(
        "Result without its call",
        words.count(words.lines(result.text), "line") if result and result.text else "",
        (*given(call.input), *(output(result) if result else ())),
    )


def subject(value: Json) -> str:
    """The field that tells most of what the call is about, where one looks like it."""
    found = (value.get(key) for key in _TELLING) if isinstance(value, dict) else (value,)
    return next((text for text in found if isinstance(text, str) and text.strip()), "")


def given(value: Json) -> tuple[Node, ...]:
    """Any input at all."""
    if isinstance(value, dict):
        return Given(value).rest()
    return () if value is None else (Raw(data.text(value), "input"),)


def output(result: Result) -> tuple[Node, ...]:
    """The text of an answer; its structured twin where there is nothing else to see."""
    if result.text.strip() or result.images or result.parts or result.detail is None:
        return reply.printed(result.text)
    return (Raw(data.text(result.detail), "result"),)
