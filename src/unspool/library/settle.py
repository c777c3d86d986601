"""Plans that only another session settles: refused in the planning session, accepted into a new one."""

from collections.abc import Iterable

import msgspec

from unspool.model import Plan, Session, ToolCall, Turn
from unspool.turns.assemble import plan_title, plans_in_order, plans_of


def open_plans(session: Session) -> list[Plan]:
    """Plans whose answer may be found in another session."""
    return [plan for plan in plans_of(session.turns) if plan.status != "approved" and plan.text.strip()]


def settled(session: Session, accepted: Iterable[tuple[str, str]]) -> Session:
    """The session with every plan approved that one of `accepted`, (plan text, session id), implements."""
    known = [(text.strip(), by) for text, by in accepted]
    turns = tuple(_turn(turn, known) for turn in session.turns)
    if turns == session.turns:
        return session
    every = (*turns, *(turn for branch in session.branches for turn in branch.turns))
    titles = msgspec.structs.replace(session.titles, plan=plan_title(plans_in_order(every)))
    kind = "planning" if session.kind == "interactive" else session.kind
    return msgspec.structs.replace(session, turns=turns, titles=titles, kind=kind)


def _turn(turn: Turn, known: list[tuple[str, str]]) -> Turn:
    blocks = tuple(_call(block, known) if isinstance(block, ToolCall) else block for block in turn.blocks)
    return turn if blocks == turn.blocks else msgspec.structs.replace(turn, blocks=blocks)


def _call(call: ToolCall, known: list[tuple[str, str]]) -> ToolCall:
    plan = call.meaning
    if not isinstance(plan, Plan) or plan.status == "approved" or not plan.text.strip():
        return call
    for text, by in known:
        if text.startswith(plan.text.strip()) or plan.text.strip().startswith(text):
            meaning = Plan(plan.title, plan.text, "approved", edited=plan.edited, path=plan.path, settled_by=by)
            return msgspec.structs.replace(call, meaning=meaning)
    return call
