"""Plans: what was proposed, and what the user made of it."""

from typing import Final

from unspool.doc import Link, Node, Tone
from unspool.model import Plan, ToolCall
from unspool.tools import reply, words
from unspool.tools.given import Given
from unspool.tools.shown import Shown

NAMES: tuple[str, ...] = ("ExitPlanMode", "exit_plan_mode", "EnterPlanMode")

_TONES: Final[dict[str, Tone]] = {"approved": "good", "rejected": "warn", "pending": "quiet"}


def describe(call: ToolCall) -> Shown:
    given, plan = Given(call.input), call.meaning
    written = given.text("plan")
    if isinstance(plan, Plan):
        given.take("planFilePath")
        return _settled(plan, given)
    heading = next((line.strip("# \t") for line in written.split("\n") if line.strip("# \t")), "")
    shown = (*reply.prose(written), *given.rest(), *reply.printed(reply.text(call)))
    return Shown(f"{call.name} {heading}", "", shown)


def _settled(plan: Plan, given: Given) -> Shown:
    nodes: tuple[Node, ...] = (
        *reply.prose(plan.text),
        *reply.fields(("feedback", plan.feedback), ("file", plan.path)),
        *((Link(f"session:{plan.settled_by}", "The session that carries it out"),) if plan.settled_by else ()),
        *given.rest(),
    )
    outcome = words.joined((plan.status, "edited by the user" if plan.edited else ""))
    return Shown(f"Plan: {plan.title}", outcome, nodes, _TONES[plan.status], settled=True)
