"""One call and what its renderer says of it, made into a fold; states and failures look alike for every tool."""

from typing import Final

from unspool.doc import Fold, Node, Tone
from unspool.model import Plan, Questionnaire, Todos, ToolCall
from unspool.tools import reply, words
from unspool.tools.shown import Shown

_KINDS: Final = {"plan", "todos", "question", "agent"}
_STATES: Final = {
    "rejected": "rejected",
    "denied": "denied",
    "interrupted": "interrupted",
    "cancelled": "cancelled",
    "running": "running",
    "unanswered": "no answer",
}


def fold(call: ToolCall, shown: Shown) -> Fold:
    """The row of a call, with input, output and whatever went wrong below it."""
    return Fold(
        kind=_kind(call),
        summary=words.line(shown.summary),
        outcome=words.line(_outcome(call, shown)),
        tone=shown.tone or _tone(call),
        children=(*shown.nodes, *_added(call, shown)),
    )


def _kind(call: ToolCall) -> str:
    match call.meaning:
        case Plan():
            return "plan"
        case Todos():
            return "todos"
        case Questionnaire():
            return "question"
    return call.role if call.role in _KINDS else "tool"


def _failed(call: ToolCall) -> bool:
    return call.state == "error" or (call.state in {"ok", "orphan"} and call.result is not None and call.result.error)


def _tone(call: ToolCall) -> Tone:
    if _failed(call):
        return "bad"
    if call.state in {"running", "unanswered"}:
        return "quiet"
    return "warn" if call.state in _STATES else "plain"


def _outcome(call: ToolCall, shown: Shown) -> str:
    """Why there is no good result, in a word or two, before what the renderer counted."""
    if shown.settled:
        return shown.outcome
    if _failed(call):
        code = reply.exit_code(call)
        return "error" if code is None else f"exit {code}"
    why = call.result.denial if call.result and call.state == "denied" else ""
    return words.joined((_STATES.get(call.state, ""), why, shown.outcome))


def _added(call: ToolCall, shown: Shown) -> tuple[Node, ...]:
    result = call.result
    if result is None:
        return reply.surroundings(call)
    failure = () if shown.settled else reply.failure(call)
    parts = () if shown.parts else reply.unknown(result)
    return (*failure, *parts, *reply.pictures(result.images), *reply.surroundings(call))
