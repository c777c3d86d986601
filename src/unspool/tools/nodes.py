"""What a renderer returns for a call, and the nodes that every tool's result has in common."""

import re
from collections.abc import Mapping
from typing import Final, Protocol

import msgspec

from unspool import human
from unspool.doc import Code, Fields, Fold, Link, Node, Picture, Prose, Raw, Terminal, Tone
from unspool.model import Image, Plan, Questionnaire, Result, Todos, ToolCall
from unspool.tools import fields, summary
from unspool.tools.ansi import styled_spans
from unspool.tools.fields import ToolFields

_FAILED = re.compile(r"\A(?:Error: )?Exit code (\d{1,9})(?:\n|\Z)")
_WRAPPED = re.compile(r"\A\s*<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)


def good_result(call: ToolCall) -> Result | None:
    """The result of a call that ran and did not fail."""
    result = call.result
    return result if result is not None and call.state in {"ok", "orphan"} and not result.error else None


def result_text(call: ToolCall) -> str:
    """The text of a good result, else nothing."""
    result = good_result(call)
    return result.text if result else ""


def result_fields(call: ToolCall) -> ToolFields:
    """The fields of a good result's structured twin, else none."""
    result = good_result(call)
    return ToolFields.maybe(result.detail if result else None)


def terminal_nodes(output: str, code: int | None = None) -> tuple[Node, ...]:
    """Output as a terminal shows it; nothing where there is neither output nor an exit code."""
    return (Terminal(styled_spans(output), exit_code=code),) if output.strip() or code is not None else ()


def printed_nodes(output: str) -> tuple[Node, ...]:
    """An answer meant for reading: JSON laid out, anything else as a terminal shows it."""
    layout = fields.indent_json(output)
    return terminal_nodes(output) if layout is None else (Code(layout, "json"),)


def answer_nodes(call: ToolCall) -> tuple[Node, ...]:
    """The text of a good result, for reading."""
    return printed_nodes(result_text(call))


def link_nodes(url: str, text: str = "") -> tuple[Node, ...]:
    """A web address that can be followed; any other is only told."""
    if url.startswith(("https://", "http://")):
        return (Link(url, text or url),)
    return field_nodes((text or "address", url))


def prose_nodes(markdown: str) -> tuple[Node, ...]:
    """Markdown, or nothing where there is none."""
    return (Prose(markdown),) if markdown.strip() else ()


def field_nodes(*items: tuple[str, str]) -> tuple[Node, ...]:
    """The fields that have a value."""
    kept = tuple(item for item in items if item[1])
    return (Fields(kept),) if kept else ()


def exit_code(call: ToolCall) -> int | None:
    """The number a failed command ended with, where the text says it."""
    found = _FAILED.match(call.result.text) if call.result and call.result.error else None
    return int(found[1]) if found else None


def failure_nodes(call: ToolCall) -> tuple[Node, ...]:
    """What a result says that is an error or a refusal, and what the user said to it."""
    result = call.result
    if result is None or result is good_result(call):
        return ()
    wrapped = _WRAPPED.match(result.text)
    said = wrapped[1] if wrapped else _FAILED.sub("", result.text) if result.error else result.text
    if result.feedback and said.rstrip().endswith(result.feedback):
        said = said.rstrip()[: -len(result.feedback)]
    return (*terminal_nodes(said, exit_code(call)), *prose_nodes(result.feedback))


def picture_nodes(images: tuple[Image, ...]) -> tuple[Node, ...]:
    """Images and documents of an answer."""
    return tuple(Picture(image.media_type, image.data, image.url, image.label or image.path) for image in images)


def unknown_nodes(result: Result) -> tuple[Node, ...]:
    """Pieces of an answer that are neither text nor image, as their data."""
    return tuple(Raw(fields.json_text(part), _kind(part)) for part in result.parts)


def surrounding_nodes(call: ToolCall) -> tuple[Node, ...]:
    """Where the full output went, whether a person let it run, and the answers that the last one replaced."""
    result = call.result
    if not call.earlier and (result is None or not (result.spilled or result.permission)):
        return ()
    spilled = result.spilled if result else ""
    output = f"{spilled} (missing)" if result and spilled and result.missing else spilled
    earlier = (
        Fold("tool", "Earlier answer", human.count(summary.count_lines(old.text), "line"), "quiet",
             children=(*printed_nodes(old.text), *picture_nodes(old.images), *unknown_nodes(old)))
        for old in call.earlier
    )  # fmt: skip
    spoken = call.role in ("question", "plan")  # words between agent and user, which only a user answers
    asked = result.permission if result and result.permission.startswith("user") and not spoken else ""
    return (*field_nodes(("full output", output), ("permission", asked and f"decided by the {asked}")), *earlier)


def _kind(part: object) -> str:
    kind = part.get("type") if isinstance(part, dict) else ""
    return summary.short_line(kind) if isinstance(kind, str) else ""


class CallDescription(msgspec.Struct, frozen=True):
    """One call, as its renderer shows it."""

    summary: str
    outcome: str = ""
    nodes: tuple[Node, ...] = ()
    tone: Tone | None = None
    """Where the state of the call does not tell how it went."""
    settled: bool = False
    """True where outcome and nodes already say what became of the call, a failure or a refusal included."""
    parts: bool = False
    """True where the nodes already show the pieces of the answer that are neither text nor image."""


class ToolRenderer(Protocol):
    """A module or object that shows the tools it names; a name that ends in `*` stands for all that begin so."""

    NAMES: tuple[str, ...]

    def describe(self, call: ToolCall) -> CallDescription:
        """What is shown of the call. KeyError, TypeError and the like: this call has another shape."""
        ...


class KeyFields(msgspec.Struct, frozen=True):
    """The fields of one tool that say most. Of each tuple but `prose` the first that is there counts."""

    subject: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    link: tuple[str, ...] = ()


def describe_by_fields(call: ToolCall, table: Mapping[str, KeyFields]) -> CallDescription:
    """A call of a tool in the table."""
    about, given, detail = table[call.name], ToolFields(call.input), result_fields(call)
    subject = _subject(given, about)
    prose = tuple(node for key in about.prose for node in prose_nodes(given.text(key)))
    outcome = next((fields.json_text(value) for key in about.outcome if (value := detail.take(key)) is not None), "")
    links = link_nodes(detail.first(*about.link))
    shown = (*prose, *given.rest(), *answer_nodes(call), *links)
    return CallDescription(f"{call.name} {subject}", outcome, shown)


def _subject(given: ToolFields, about: KeyFields) -> str:
    """What the call is about. A short text is said by the summary; a longer one is shown whole as well."""
    key = next((key for key in about.subject if key in given), "")
    value = given.see(key)
    if isinstance(value, str) and key not in about.prose and summary.short_line(value) == value:
        given.take(key)
    return "" if value is None else fields.json_text(value)


_KINDS: Final = {"plan", "todos", "question", "agent"}
_MEANINGS: Final[dict[type, str]] = {Plan: "plan", Todos: "todos", Questionnaire: "question"}
_STATES: Final = {
    **{state: state for state in ("rejected", "denied", "interrupted", "cancelled")},
    "running": "no answer yet",
    "unanswered": "no answer",
}


def call_fold(call: ToolCall, shown: CallDescription) -> Fold:
    """The row of a call, with input, output and whatever went wrong below it."""
    failed = call.end == "failed"
    return Fold(
        kind=_MEANINGS.get(type(call.meaning)) or (call.role if call.role in _KINDS else "tool"),
        summary=summary.short_line(shown.summary),
        outcome=summary.short_line(_outcome(call, shown, failed)),
        tone=shown.tone or ("bad" if failed else _tone(call)),
        children=(*shown.nodes, *_added(call, shown)),
    )


def _tone(call: ToolCall) -> Tone:
    if call.state in {"running", "unanswered"}:
        return "quiet"
    return "warn" if call.state in _STATES else "plain"


def _outcome(call: ToolCall, shown: CallDescription, failed: bool) -> str:
    """Why there is no good result, in a word or two, before what the renderer counted."""
    if shown.settled:
        return shown.outcome
    if failed:
        code = exit_code(call)
        return "error" if code is None else f"exit {code}"
    why = call.result.denial if call.result and call.state == "denied" else ""
    return summary.join_facts(_STATES.get(call.state, ""), why, shown.outcome)


def _added(call: ToolCall, shown: CallDescription) -> tuple[Node, ...]:
    result = call.result
    if result is None:
        return surrounding_nodes(call)
    failure = () if shown.settled else failure_nodes(call)
    parts = () if shown.parts else unknown_nodes(result)
    return (*failure, *parts, *picture_nodes(result.images), *surrounding_nodes(call))
