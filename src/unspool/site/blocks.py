"""The blocks of a turn as markup, each with its anchor and its kind, in the shape it is read in."""

from typing import NamedTuple

import msgspec

from unspool.doc import Diff, Fold, Node
from unspool.export.html import Paint, bits, commit_card, fragment
from unspool.export.html import told as html
from unspool.model import Block, Image, Notice, Plan, Push, Questionnaire, Text, Thinking, Todos, ToolCall, Unknown
from unspool.site.scene import Scene
from unspool.tools import describe, shorten, words
from unspool.transcript.blocks import Stage, block_nodes
from unspool.transcript.notices import notice_nodes
from unspool.transcript.view import View

_FULL = View(full=True)
_LOUD = frozenset(
    {
        "agent", "api-error", "bash-output", "command-output", "note", "peer", "queue", "recap", "refusal", "summary",
        "task-notification", "teammate",
    }
)  # fmt: skip
"""Notices that are rows of their own; all others are gathered and folded away."""
_DIVIDERS = frozenset({"compaction", "interruption"})
TODOS = "todos"
_ON_FILES = ("read", "write", "edit")
_ANSWERS = frozenset({"bash-output", "command-output"})
"""Notices that answer what a person typed, and so stand open."""


class Piece(NamedTuple):
    """A block as markup. Rows stand in a box with their neighbours, hushed pieces are folded with theirs."""

    html: str
    place: str = "loose"
    """`loose`, `row` or `hush`."""
    name: str = ""
    """What a hushed piece is, to be counted; `todos` for a todo list."""
    bare: bool = False
    """Whether it is a line by itself, which needs no folding away."""


def wanted(block: Block, hide: frozenset[str]) -> bool:
    """False for what the site's options leave out."""
    match block:
        case Thinking():
            return "thinking" not in hide
        case ToolCall():
            return _call_wanted(block, hide)
        case Image():
            return "images" not in hide
        case Notice():
            return "notices" not in hide or block.kind in _DIVIDERS
        case _:
            return True


def _call_wanted(call: ToolCall, hide: frozenset[str]) -> bool:
    """Plans and questions are words between agent and user; todo lists and subagents are kinds of their own."""
    if isinstance(call.meaning, Plan | Questionnaire) or call.role in ("plan", "question"):
        return True
    if isinstance(call.meaning, Todos) or call.role == "todos":
        return "todos" not in hide
    return ("agents" if call.role == "agent" else "tools") not in hide


def piece(block: Block, scene: Scene, paint: Paint) -> Piece:
    """A block that is no text: texts know who speaks, so turns tell them."""
    anchor = scene.addresses.anchor(block)
    if getattr(block, "message", "") in scene.cast.retracted:
        nodes = tuple(block_nodes(block, Stage(_FULL, scene.cast)))
        return Piece(fragment(_anchored(nodes, anchor), paint), "row")
    match block:
        case Thinking():
            return _thinking(block, anchor, scene, paint)
        case ToolCall():
            return _call(block, anchor, scene.session.cwd, paint)
        case Notice():
            return _notice(block, anchor, paint)
        case Image():
            nodes = tuple(block_nodes(block, Stage(_FULL, scene.cast)))
            return Piece(html.part(anchor, "image", fragment(nodes, paint)))
        case Unknown():
            nodes = tuple(block_nodes(block, Stage(_FULL, scene.cast)))
            return Piece(fragment(_anchored(nodes, anchor), paint), "hush", f"unknown {block.what}")
        case Text():
            nodes = tuple(block_nodes(block, Stage(_FULL, scene.cast)))
            return Piece(html.part(anchor, "text", fragment(nodes, paint)))


def _anchored(nodes: tuple[Node, ...], anchor: str) -> tuple[Node, ...]:
    """The nodes with the anchor on the first fold."""
    first, *rest = nodes
    return (msgspec.structs.replace(first, anchor=anchor), *rest) if isinstance(first, Fold) else nodes


def _thinking(block: Thinking, anchor: str, scene: Scene, paint: Paint) -> Piece:
    nodes = tuple(block_nodes(block, Stage(_FULL, scene.cast)))
    if block.text:
        return Piece(fragment(_anchored(nodes, anchor), paint))
    (fold,) = nodes
    outcome = fold.outcome if isinstance(fold, Fold) else ""
    return Piece(html.line(anchor, "thinking", f"Thinking · {outcome}"), "hush", "thinking not kept", bare=True)


def _call(call: ToolCall, anchor: str, cwd: str, paint: Paint) -> Piece:
    fold = msgspec.structs.replace(describe(call), anchor=anchor)
    if cwd and call.role in (*_ON_FILES, "shell"):
        fold = _from(fold, call, cwd)
    if fold.kind == "todos" and isinstance(call.meaning, Todos):
        return Piece(html.todos(anchor, _progress(fold), fold.outcome, fragment(fold.children, paint)), name=TODOS)
    return Piece(fragment((fold,), paint), "loose" if fold.kind in ("plan", "question", "todos") else "row")


def _from(fold: Fold, call: ToolCall, cwd: str) -> Fold:
    """The fold with files named as seen from the session's folder, which is how a repository names them."""
    children = tuple(
        msgspec.structs.replace(node, path=shorten(node.path, cwd)) if isinstance(node, Diff) else node
        for node in fold.children
    )
    name, _, what = fold.summary.partition(" ")
    shown = shorten(_given(call, what), cwd) if call.role in _ON_FILES else _command(_given(call, what), cwd)
    return msgspec.structs.replace(fold, summary=words.line(f"{name} {shown}".strip()), children=children)


def _given(call: ToolCall, what: str) -> str:
    """What a call was given where the row shows only its beginning."""
    values = call.input.values() if what.endswith("…") and isinstance(call.input, dict) else ()
    return next((value for value in values if isinstance(value, str) and value.startswith(what[:-1])), what)


def _command(command: str, cwd: str) -> str:
    """A command without the way to where it is run anyway."""
    for way in (f"cd {cwd} && ", f'cd "{cwd}" && '):
        command = command.removeprefix(way)
    return command


def _progress(fold: Fold) -> str:
    name, _, what = fold.summary.partition(" ")
    return f"Todos: {what}" if what else name


def _notice(notice: Notice, anchor: str, paint: Paint) -> Piece:
    nodes = tuple(notice_nodes(notice, 3))
    if notice.kind in _DIVIDERS:
        return Piece(_divider(nodes, anchor, notice, paint))
    if notice.kind in _ANSWERS:
        nodes = tuple(msgspec.structs.replace(node, open=True) if isinstance(node, Fold) else node for node in nodes)
    made = fragment(_anchored(nodes, anchor), paint)
    return Piece(made, "row") if notice.kind in _LOUD else Piece(made, "hush", notice.kind)


def _divider(nodes: tuple[Node, ...], anchor: str, notice: Notice, paint: Paint) -> str:
    """A line across the conversation, and below it what more is known."""
    first, *rest = nodes
    if isinstance(first, Fold):
        told, rest = first.summary, [Fold("notice", "What the log says of it", "", "quiet", children=first.children)]
        rest = rest if first.children and (notice.facts or len(notice.text) > 80) else []
    else:
        told = " · ".join((getattr(first, "text", ""), *getattr(first, "notes", ())))
    line = html.divider(told, bad=notice.kind == "interruption")
    return html.part(anchor, "notice", line + fragment(rest, paint))


def outcomes(call: ToolCall, scene: Scene, paint: Paint) -> str:
    """Cards of the commits, pushes and pull requests a call made."""
    made = [
        commit_card(commit.hash, commit.message, commit.branch, paint)
        for commit in scene.commits.get(call.call_id, ()) if call.call_id
    ]  # fmt: skip
    made += [push_card(push) for push in scene.pushes.get(call.call_id, ()) if call.call_id]
    return "".join(made)


def push_card(push: Push) -> str:
    """Where something was pushed, or the pull request that was made."""
    name = f"Pull request #{push.number}" if push.kind == "pull-request" else "Pushed"
    return html.push_card(bits.lead_out(push.url, name), push.branch or push.repository)
