"""Plans: what was proposed, and what the user made of it."""

from typing import Final

from unspool.doc import Link, Node, Tone
from unspool.model import Plan, ToolCall
from unspool.tools import nodes as reply
from unspool.tools import summary
from unspool.tools.fields import ToolFields
from unspool.tools.nodes import CallDescription

NAMES: tuple[str, ...] = ("ExitPlanMode", "exit_plan_mode", "EnterPlanMode")

_TONES: Final[dict[str, Tone]] = {"approved": "good", "rejected": "warn", "pending": "quiet"}


def describe(call: ToolCall) -> CallDescription:
    given, plan = ToolFields(call.input), call.meaning
    written = given.text("plan")
    if isinstance(plan, Plan):
        given.take("planFilePath")
        return _settled(plan, given)
    heading = next((line.strip("# \t") for line in written.split("\n") if line.strip("# \t")), "")
    shown = (*reply.prose_nodes(written), *given.rest(), *reply.answer_nodes(call))
    return CallDescription(f"{call.name} {heading}", "", shown)


def _settled(plan: Plan, given: ToolFields) -> CallDescription:
    nodes: tuple[Node, ...] = (
        *reply.prose_nodes(plan.text),
        *reply.field_nodes(("feedback", plan.feedback), ("file", plan.path)),
        *((Link(f"session:{plan.settled_by}", "The session that carries it out"),) if plan.settled_by else ()),
        *given.rest(),
    )
    outcome = summary.join_facts(plan.status, "edited by the user" if plan.edited else "")
    return CallDescription(f"Plan: {plan.title}", outcome, nodes, _TONES[plan.status], settled=True)
