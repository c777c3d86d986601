"""A tool nobody has seen, or a call of a shape nobody has seen: its fields, and its output as printed."""

from unspool import human
from unspool.doc import Node, Raw
from unspool.model import Json, Result, ToolCall
from unspool.tools import fields, nodes, summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ()

_TELLING = ("description", "title", "query", "name", "path", "file_path", "url", "command", "message", "prompt", "id")


def describe(call: ToolCall) -> CallDescription:
    """A call that nobody else describes, or a result whose call is not in the log."""
    result = nodes.good_result(call)
    named = f"{call.name or 'Unnamed tool'} {subject(call.input)}"
    return CallDescription(
        "Result without its call" if call.state == "orphan" else named,
        human.count(summary.count_lines(result.text), "line") if result and result.text else "",
        (*input_nodes(call.input), *(output_nodes(result) if result else ())),
    )


def subject(value: Json) -> str:
    """The field that tells most of what the call is about, where one looks like it."""
    found = (value.get(key) for key in _TELLING) if isinstance(value, dict) else (value,)
    return next((text for text in found if isinstance(text, str) and text.strip()), "")


def input_nodes(value: Json) -> tuple[Node, ...]:
    if isinstance(value, dict):
        return ToolFields(value).rest()
    return () if value is None else (Raw(fields.json_text(value), "input"),)


def output_nodes(result: Result) -> tuple[Node, ...]:
    """The text of an answer; its structured twin where there is nothing else to see."""
    if result.text.strip() or result.images or result.parts or result.detail is None:
        return nodes.printed_nodes(result.text)
    return (Raw(fields.json_text(result.detail), "result"),)
