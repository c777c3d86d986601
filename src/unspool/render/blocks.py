"""Prompts, todo lists and what could not be read, as nodes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from unspool.doc import Check, Checklist, Code, Fields, Fold, Heading, Link, Node, Prose, Raw, Terminal
from unspool.human import count, joined
from unspool.model import Plan, Problem, Prompt, Session, Todos
from unspool.render.notices import image_picture
from unspool.render.shorten import shorten
from unspool.render.view import View

_NOTES = {"queued": "queued while the agent worked", "memory": "to remember", "plan": "accepted plan"}


def prompt_notes(prompt: Prompt) -> tuple[str, ...]:
    """How the prompt came, where that is not plain typing."""
    origin = prompt.origin if prompt.origin not in ("", "typed", "human", prompt.kind) else ""
    mode = f"{prompt.mode} mode" if prompt.mode not in ("", "default") else ""
    return tuple(note for note in (_NOTES.get(prompt.kind, ""), origin, mode) if note)


def prompt_nodes(prompt: Prompt) -> Iterator[Node]:
    match prompt.kind:
        case "command":
            typed = f"{prompt.command} {prompt.arguments}".strip()
            if typed:
                yield Code(typed)
            if prompt.text and prompt.text not in typed:
                yield Prose(prompt.text)
        case "bash":
            yield Terminal((), command=prompt.text)
        case _ if prompt.plan is not None:
            yield _plan(prompt, prompt.plan)
        case _:
            if prompt.text:
                yield Prose(prompt.text)
    yield from (image_picture(image) for image in prompt.images)


def planned_in(source: str) -> str:
    """The session that a plan came from, by the path of its log: the path itself is of the agent's machine."""
    return re.split(r"[\\/]", source)[-1].removesuffix(".jsonl")


def _plan(prompt: Prompt, plan: Plan) -> Fold:
    children: list[Node] = [Prose(prompt.words)] if prompt.words else []
    facts = (("feedback", plan.feedback), ("plan file", plan.path))
    known = tuple((name, value) for name, value in facts if value)
    if known:
        children.append(Fields(known))
    if prompt.source:
        children.append(Link(f"session:{planned_in(prompt.source)}", "The session that planned it"))
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


def tail_sections(session: Session, view: View) -> Iterator[tuple[Heading, Iterable[Node]]]:
    """What stands below the conversation: todo list as it ended, problems, the count of every kind of line."""
    if session.todos.items:
        yield Heading("todos", 2, "Todo list at the end"), (checklist(session.todos),)
    if session.problems:
        notes = (count(len(session.problems), "line"),)
        folds = (problem_fold(problem, view) for problem in session.problems)
        yield Heading("problems", 2, "Lines that could not be read", notes=notes), folds
    if session.lines.total or session.side:
        notes = (count(session.lines.total, "line"),)
        yield Heading("lines", 2, "Lines of the log", notes=notes), (Fields(tuple(_lines(session))),)


def checklist(todos: Todos) -> Checklist:
    """A todo list as a reader ticks it."""
    checks: list[Check] = []
    for todo in todos.items:
        waits = f"waits for {', '.join(todo.blocked_by)}" if todo.blocked_by else ""
        note = joined(f"#{todo.id}" if todo.id else "", todo.owner, todo.priority, waits)
        checks.append(Check(todo.text, _STATES.get(todo.status, "open"), note))
    return Checklist(tuple(checks))


def problem_fold(problem: Problem, view: View) -> Fold:
    """What could not be read, where it stands and its bytes."""
    raw = problem.raw if view.full else problem.raw[:_GLANCE]
    cut = f"the first {len(raw):,} of {len(problem.raw):,}" if len(raw) < len(problem.raw) else ""
    printable = raw.decode("utf-8", "backslashreplace").translate(_ESCAPES)  # nothing of it can drive a terminal
    text = Raw(printable, joined(problem.log, f"bytes {problem.place.offset:,} and on", cut))
    children: tuple[Node, ...] = (text,) if view.full else shorten(text)
    summary = f"Line {problem.place.line}: {problem.why}"
    if problem.mended:
        return Fold("problem", summary, "mended", "warn", children=children)
    return Fold("problem", summary, "not read", "bad", children=children)


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
