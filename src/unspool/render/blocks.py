"""Turns, prompts, blocks and problems as nodes; subagents inside the calls that started them."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, assert_never

import msgspec

from unspool import human
from unspool.doc import Check, Checklist, Code, Fields, Fold, Heading, Node, Prose, Raw, Terminal
from unspool.figures import calls_of
from unspool.human import count, joined
from unspool.model import (
    Agent,
    Block,
    Image,
    Notice,
    Plan,
    Problem,
    Prompt,
    Questionnaire,
    Session,
    Text,
    Thinking,
    Todos,
    ToolCall,
    Turn,
    Unknown,
)
from unspool.render.notices import image_picture, notice_nodes, run_summary
from unspool.render.shorten import shorten
from unspool.render.view import DEPTH, Participants, View, total_usage
from unspool.tools import describe, fields
from unspool.tools import summary as words

_NOTES = {"queued": "queued while the agent worked", "memory": "to remember", "plan": "accepted plan"}


def prompt_notes(prompt: Prompt) -> tuple[str, ...]:
    """How the prompt came, where that is not plain typing."""
    origin = prompt.origin if prompt.origin not in ("", "typed", "human", prompt.kind) else ""
    mode = f"{prompt.mode} mode" if prompt.mode not in ("", "default") else ""
    return tuple(note for note in (_NOTES.get(prompt.kind, ""), origin, mode) if note)


def prompt_nodes(prompt: Prompt) -> Iterator[Node]:
    match prompt.kind:
        case "command":
            yield from _command(prompt)
        case "bash":
            yield Terminal((), command=prompt.text)
        case _ if prompt.plan is not None:
            yield _plan(prompt, prompt.plan)
        case _:
            if prompt.text:
                yield Prose(prompt.text)
    yield from (image_picture(image) for image in prompt.images)


def _command(prompt: Prompt) -> Iterator[Node]:
    typed = f"{prompt.command} {prompt.arguments}".strip()
    if typed:
        yield Code(typed)
    if prompt.text and prompt.text not in typed:
        yield Prose(prompt.text)


def _plan(prompt: Prompt, plan: Plan) -> Fold:
    children: list[Node] = [Prose(plan.text)] if plan.text and plan.text not in prompt.text else []
    if prompt.text:
        children.append(Prose(prompt.text))
    facts = (("feedback", plan.feedback), ("plan file", plan.path), ("planned in", prompt.source))
    known = tuple((name, value) for name, value in facts if value)
    if known:
        children.append(Fields(known))
    outcome = f"{plan.status}, edited by the user" if plan.edited else plan.status
    return Fold("plan", f"Plan: {plan.title}", outcome, "good", open=True, children=tuple(children))


_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_GLANCE = 20_000
_State = Literal["open", "active", "done", "dropped"]
_STATES: dict[str, _State] = {
    "completed": "done",
    "in_progress": "active",
    "deleted": "dropped",
    "cancelled": "dropped",
}


def tail_nodes(session: Session, view: View) -> Iterator[Node]:
    """The todo list as it ended, the problems, the count of every kind of line."""
    if session.todos.items:
        yield Heading("todos", 2, "Todo list at the end")
        yield checklist(session.todos)
    if session.problems:
        yield Heading("problems", 2, "Lines that could not be read", notes=(count(len(session.problems), "line"),))
    for problem in session.problems:
        yield problem_fold(problem, view)
    if session.lines.total or session.side:
        yield Heading("lines", 2, "Lines of the log", notes=(count(session.lines.total, "line"),))
        yield Fields(tuple(_lines(session)))


def checklist(todos: Todos) -> Checklist:
    """A todo list as a reader ticks it."""
    checks: list[Check] = []
    for todo in todos.items:
        waits = f"waits for {', '.join(todo.blocked_by)}" if todo.blocked_by else ""
        note = joined(f"#{todo.id}" if todo.id else "", todo.owner, todo.priority, waits)
        checks.append(Check(todo.text, _STATES.get(todo.status, "open"), note))
    return Checklist(tuple(checks))


def printable_bytes(raw: bytes) -> str:
    """Bytes as text that can be read and typed again: what is no character or drives a terminal is escaped."""
    return raw.decode("utf-8", "backslashreplace").translate(_ESCAPES)


def problem_fold(problem: Problem, view: View) -> Fold:
    """What could not be read, where it stands and its bytes."""
    raw = problem.raw if view.full else problem.raw[:_GLANCE]
    text = Raw(printable_bytes(raw), joined(problem.log, f"bytes {problem.place.offset:,} and on", _more(problem, raw)))
    children: tuple[Node, ...] = (text,) if view.full else shorten(text)
    summary = f"Line {problem.place.line}: {problem.why}"
    if problem.mended:
        return Fold("problem", summary, "mended", "warn", children=children)
    return Fold("problem", summary, "not read", "bad", children=children)


def _more(problem: Problem, raw: bytes) -> str:
    return f"the first {len(raw):,} of {len(problem.raw):,}" if len(raw) < len(problem.raw) else ""


def _lines(session: Session) -> Iterator[tuple[str, str]]:
    lines = session.lines
    figures = (
        ("conversation", lines.conversation),
        ("beside the conversation", lines.side),
        ("copies of a line already read", lines.repeated),
        ("early snapshots of a message", lines.superseded),
        ("blank", lines.blank),
        ("not read", lines.problems),
        ("further values on a line", lines.extra),
    )
    yield from ((name, f"{number:,}") for name, number in figures if number)
    for kind, number in sorted(Counter(line.type for line in session.side).items()):
        yield f"· {kind or '(no type)'}", f"{number:,}"


_TOLD = frozenset(
    {
        "agent", "api-error", "bash-output", "command-output", "compaction", "interruption", "note", "peer", "queue",
        "recap", "refusal", "summary", "task-notification", "teammate",
    }
)  # fmt: skip
"""Notices that are told whole in every view."""
_STANDING = frozenset({"environment", "offer", "reminder", "system-prompt"})
"""Notices of what the agent tells the model unasked, many at a time."""


class RenderPosition(msgspec.Struct, frozen=True):
    """Where the telling is: whose turns, how deep, under which anchors."""

    view: View
    cast: Participants
    depth: int = 0
    prefix: str = ""

    def level(self, step: int) -> int:
        return min(6, 2 + self.depth + step)


def turn_nodes(turn: Turn, stage: RenderPosition) -> Iterator[Node]:
    """A turn: heading, prompt, then all that followed."""
    name = f"Turn {turn.number}" if turn.number else "Before the first prompt"
    yield Heading("turn", stage.level(0), name, f"{stage.prefix}turn-{turn.number}", _notes(turn, stage))
    if turn.prompt is not None:
        yield from prompt_nodes(turn.prompt)
        if any(isinstance(block, Text | Thinking | ToolCall) for block in turn.blocks):
            yield Heading("answer", stage.level(1), "Answer")
    for standing, group in groupby(turn.blocks, key=lambda block: _stands_by(block, stage.view)):
        run = list(group)
        if standing and len(run) > 1:
            yield Fold("notice:run", run_summary(block.kind for block in run if isinstance(block, Notice)), "", "quiet")
        else:
            for block in run:
                yield from block_nodes(block, stage)


def _stands_by(block: Block, view: View) -> bool:
    """Whether the short view tells a block together with its neighbours, in one line."""
    return isinstance(block, Notice) and block.kind in _STANDING and view.notices and not view.full


def _notes(turn: Turn, stage: RenderPosition) -> tuple[str, ...]:
    notes = (
        human.moment(turn.started, stage.view.zone),
        human.elapsed(turn.started, turn.ended),
        ", ".join(stage.cast.models_of(turn.blocks)),
        ", ".join(f"{effort} effort" for effort in stage.cast.efforts_of(turn.blocks)),
        f"{human.tokens(turn.usage.total)} tokens" if turn.usage.total else "",
        f"{human.tokens(turn.context)} in the window" if turn.context else "",
        *(prompt_notes(turn.prompt) if turn.prompt else ()),
    )
    return tuple(note for note in notes if note)


def block_nodes(block: Block, stage: RenderPosition) -> Iterator[Node]:
    if getattr(block, "message", "") in stage.cast.retracted:
        children = tuple(_shown(block, stage))
        if children:
            yield Fold("retracted", "Withdrawn from the conversation", "", "warn", children=children)
        return
    yield from _shown(block, stage)


def _shown(block: Block, stage: RenderPosition) -> Iterator[Node]:
    if not _wanted(block, stage.view):
        return
    match block:
        case Text():
            yield Prose(block.text)
        case Thinking():
            yield _thinking(block)
        case ToolCall():
            yield _call(block, stage)
        case Image():
            yield image_picture(block)
        case Notice():
            yield from _notice(block, stage)
        case Unknown():
            yield _unknown(block, stage)
        case _:
            assert_never(block)


def _notice(notice: Notice, stage: RenderPosition) -> Iterator[Node]:
    """A notice; in the short view those that people seldom read are one line each, and progress is not told."""
    brief = not stage.view.full and notice.kind not in _TOLD
    if brief and notice.kind == "progress":
        return
    for node in notice_nodes(notice, stage.level(1)):
        if brief and isinstance(node, Fold):
            yield msgspec.structs.replace(node, children=())
        elif isinstance(node, Fold) and notice.kind == "compaction" and not stage.view.full:
            words = tuple(child for child in node.children if not isinstance(child, Fields))
            yield from _cut(msgspec.structs.replace(node, children=words), stage)
        else:
            yield from _cut(node, stage)


def _wanted(block: Block, view: View) -> bool:
    match block:
        case Thinking():
            return view.thinking
        case ToolCall():
            return view.tools or isinstance(block.meaning, Plan | Questionnaire)
        case Notice():
            return view.notices or block.kind == "compaction"
        case _:
            return True


def _cut(node: Node, stage: RenderPosition) -> tuple[Node, ...]:
    return (node,) if stage.view.full else shorten(node)


def _thinking(block: Thinking) -> Fold:
    took = human.duration(block.milliseconds / 1000) if block.milliseconds >= 1000 else ""
    if block.text:
        preview = words.first_line(block.text, 60)
        return Fold("thinking", f"Thinking: {preview}", took, "quiet", children=(Prose(block.text),))
    why = "redacted" if block.redacted else "not kept in the log"
    return Fold("thinking", "Thinking", human.joined(took, why), "quiet")


def _unknown(block: Unknown, stage: RenderPosition) -> Fold:
    """What this version does not know: its name and place, and its data for those who want all."""
    summary = f"Unknown: {words.first_line(block.what, 60) or 'line'}, line {block.place.line}"
    size = human.size(block.place.size)
    return Fold(
        "unknown", summary, size, "quiet", children=(Raw(fields.json_text(block.data)),) if stage.view.full else ()
    )


def _call(call: ToolCall, stage: RenderPosition) -> Fold:
    fold = describe(call)
    if not stage.view.full:
        (short,) = shorten(fold)
        fold = short if isinstance(short, Fold) else fold
    inside = tuple(node for agent in stage.cast.of(call) for node in agent_nodes(agent, stage))
    return msgspec.structs.replace(fold, children=fold.children + inside) if inside else fold


def agent_nodes(agent: Agent, stage: RenderPosition) -> Iterator[Node]:
    """A subagent's conversation where the view wants it, else that there is one."""
    if not stage.view.agents or not stage.cast.enter(agent):
        yield Fields((("subagent", human.joined(_who(agent), _done(agent))),))
    elif stage.depth >= DEPTH:
        stage.cast.postpone(agent)
        yield Fields((("subagent", f"{_who(agent)} · told at the end"),))
    else:
        children = tuple(_conversation(agent, stage))
        yield Fold("agent", f"Subagent: {_who(agent)}", _done(agent), "plain", False, f"agent-{agent.id}", children)


def _conversation(agent: Agent, stage: RenderPosition) -> Iterator[Node]:
    """All of a subagent's session: turns, what it abandoned, what could not be read."""
    inner = RenderPosition(stage.view, stage.cast, stage.depth + 1, f"agent-{agent.id}-")
    for turn in agent.session.turns:
        yield from turn_nodes(turn, inner)
    for branch in agent.session.branches if stage.view.branches else ():
        aside = RenderPosition(stage.view, stage.cast, inner.depth, f"{inner.prefix}branch-{branch.number}-")
        children = tuple(node for turn in branch.turns for node in turn_nodes(turn, aside))
        yield Fold("branch", f"Abandoned after turn {branch.after}", "", "quiet", children=children)
    yield from (problem_fold(problem, stage.view) for problem in agent.session.problems)


def _who(agent: Agent) -> str:
    return human.joined(agent.name, agent.kind, words.first_line(agent.description), agent.id)


def _done(agent: Agent) -> str:
    used = total_usage(agent.session).total
    return human.joined(
        agent.status,
        "in the background" if agent.background else "",
        human.count(sum(turn.prompt is not None for turn in agent.session.turns), "turn"),
        human.count(sum(1 for _ in calls_of(agent.session)), "tool call"),
        f"{human.tokens(used)} tokens" if used else "",
    )
