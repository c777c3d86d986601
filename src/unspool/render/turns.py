"""What every document shows of a turn, in which order, and how it stands: text, Markdown and pages only lay it out."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, assert_never

import msgspec

from unspool import human
from unspool.doc import Code, Diff, Fields, Fold, Node, Prose, Raw
from unspool.model import (
    Agent,
    Block,
    Image,
    Notice,
    Session,
    SharedHistory,
    Text,
    Thinking,
    Todos,
    ToolCall,
    Turn,
    Unknown,
)
from unspool.render.notices import image_picture, notice_nodes
from unspool.render.shorten import shorten
from unspool.render.ticks import told_once
from unspool.render.view import DEPTH, DIVIDERS, Participants, View, is_shown
from unspool.tools import describe, fields
from unspool.tools import group as call_group
from unspool.tools import summary as words

_LOUD = frozenset(
    {
        "agent", "api-error", "bash-output", "command-output", "log-gone", "note", "peer", "queue", "recap", "refusal",
        "summary", "task-notification", "teammate",
    }
)  # fmt: skip
"""Notices that are shown whole in every view, as rows; all others but dividers are quiet."""
_SEEN = DIVIDERS | _LOUD
_OUTPUTS = frozenset({"bash-output", "command-output"})
"""Notices that answer what a person typed, and so stand open."""
_CARDS = frozenset({"plan", "question", "todos"})
_ON_FILES = ("read", "write", "edit")


class RenderContext(msgspec.Struct, frozen=True):
    """What turns are shown by: the view, who takes part, and for subagents how deep and under which anchors."""

    view: View
    participants: Participants
    hidden: frozenset[str] = frozenset()
    cwd: str = ""
    """The folder that files are named from."""
    depth: int = 0
    prefix: str = ""

    @classmethod
    def of(cls, session: Session, view: View, turns: tuple[Turn, ...] = ()) -> "RenderContext":
        return cls(view, Participants(session, turns), view.hidden, session.cwd)

    def inside(self, prefix: str) -> "RenderContext":
        """For what stands one level deeper."""
        return msgspec.structs.replace(self, depth=self.depth + 1, prefix=prefix)

    def level(self, step: int) -> int:
        return min(6, 2 + self.depth + step)


AgentPlace = Literal["here", "later", "apart", "again"]
"""Where a subagent's conversation stands: at this call; at the document's end, as it is nested too deep; by itself or
nowhere, as it is too large or not wanted; or at another call that came before."""


class AgentItem(NamedTuple):
    """A subagent at a call."""

    agent: Agent
    place: AgentPlace


class TurnItem(msgspec.Struct, frozen=True):
    """A block of a turn as every document shows it."""

    block: Block
    nodes: tuple[Node, ...]
    place: Literal["answer", "card", "row", "divider", "quiet"]
    """How it stands among its neighbours: rows in a box together, quiet ones folded, all others by themselves."""
    name: str = ""
    """What a quiet item is counted as where several are folded."""
    model: str = ""
    """The model that gives an answer, where it is another than before."""
    agents: tuple[AgentItem, ...] = ()
    together: str = ""
    """What it and those that follow it are called together, on the first of them."""
    told: Block | None = None
    """The block as it is told, where another of its turn holds part of what it says."""

    @property
    def is_todo_list(self) -> bool:
        meaning, fold = getattr(self.block, "meaning", None), self.nodes[0]
        return isinstance(meaning, Todos) and isinstance(fold, Fold) and fold.kind == "todos"


def copied_summary(turns: Sequence[Turn], history: SharedHistory | None) -> str:
    """What stands in place of turns that were copied from another session: which, and where they are."""
    title = words.first_line(history.title, 80) if history is not None else ""
    return f"{_prompt_numbers(turns)} copied from {title or 'another session'}"


def earlier_summary(earlier: Session) -> str:
    """What stands in place of turns that another log keeps: which of its prompts they are."""
    return f"Before: {_prompt_numbers(earlier.turns).lower()} of {words.first_line(earlier.title, 80)}"


def _prompt_numbers(turns: Sequence[Turn]) -> str:
    numbers = [turn.number for turn in turns if turn.prompt is not None]
    if len(numbers) > 1:
        return f"Prompts {numbers[0]} to {numbers[-1]}"
    return f"Prompt {numbers[0]}" if numbers else "The beginning"


def turn_items(turn: Turn, context: RenderContext) -> list[TurnItem]:
    """All that is shown of a turn after its prompt, in reading order."""
    items: list[TurnItem] = []
    speaker = ""
    last_todos = -1
    blocks = told_once(turn.blocks) if context.view.full else turn.blocks
    for block, told in zip(turn.blocks, blocks, strict=True):
        if context.hidden and not is_shown(block, context.hidden):
            continue
        if not context.view.full and isinstance(block, Notice) and block.kind == "progress":
            continue
        item = turn_item(told, context)
        if told is not block:
            item = msgspec.structs.replace(item, block=block, told=told)
        if item.place == "answer" and isinstance(block, Text):
            model = context.participants.models.get(block.message, "")
            if model != speaker:
                item = msgspec.structs.replace(item, model=model)
            speaker = model or speaker or "?"
        elif item.place == "card" and item.is_todo_list:
            last_todos = len(items)
        items.append(item)
    if last_todos >= 0:  # it is how things then were
        items[last_todos] = _opened(items[last_todos])
    return _together(items)


def _together(items: list[TurnItem]) -> list[TurnItem]:
    """The items, with a name on the first of several calls that belong together; quiet ones between them do not
    count."""
    named = [
        (at, call_group(item.block) if isinstance(item.block, ToolCall) else "")
        for at, item in enumerate(items)
        if item.place != "quiet"
    ]
    for name, group in groupby(named, key=itemgetter(1)):
        if name and len(places := list(group)) > 1:
            first = places[0][0]
            items[first] = msgspec.structs.replace(items[first], together=f"{len(places)} × {words.short_line(name)}")
    return items


def turn_item(block: Block, context: RenderContext) -> TurnItem:
    """What is shown of a block."""
    match block:
        case Notice():
            return _notice_item(block, context)
        case ToolCall():
            fold = _call_row(block, context)
            place: Literal["card", "row"] = "card" if fold.kind in _CARDS else "row"
            item = TurnItem(block, (fold,), place, agents=_agent_items(block, context))
        case Text():
            item = TurnItem(block, (Prose(block.text),), "answer")
        case Thinking(text=""):
            item = TurnItem(block, (_thinking(block),), "quiet", "thinking not kept")
        case Thinking():
            item = TurnItem(block, (_thinking(block),), "card")
        case Image():
            return TurnItem(block, (image_picture(block),), "card")
        case Unknown():
            item = TurnItem(block, (_unknown(block, context),), "quiet", f"unknown {block.what}")
        case _:
            assert_never(block)
    if block.message in context.participants.retracted:
        withdrawn = Fold("retracted", "Withdrawn from the conversation", "", "warn", children=item.nodes)
        return msgspec.structs.replace(item, nodes=(withdrawn,), place="row")
    return item


def _opened(item: TurnItem) -> TurnItem:
    first, *rest = item.nodes
    if not isinstance(first, Fold):
        return item
    return msgspec.structs.replace(item, nodes=(msgspec.structs.replace(first, open=True), *rest))


def _thinking(block: Thinking) -> Fold:
    took = human.duration(block.milliseconds / 1000) if block.milliseconds >= 1000 else ""
    if block.text:
        preview = words.first_line(block.text, 60).strip("*#_ ")
        return Fold("thinking", f"Thinking: {preview}", took, "quiet", children=(Prose(block.text),))
    why = "redacted" if block.redacted else "not kept in the log"
    return Fold("thinking", "Thinking", human.joined(took, why), "quiet")


def _unknown(block: Unknown, context: RenderContext) -> Fold:
    """What this version does not know: its name and place, and its data for those who want all."""
    summary = f"Unknown: {words.first_line(block.what, 60) or 'line'}, line {block.place.line}"
    data = (Raw(fields.json_text(block.data)),) if context.view.full else ()
    return Fold("unknown", summary, human.size(block.place.size), "quiet", children=data)


def is_quiet(block: Block) -> bool:
    """Whether a block is a notice that few read, or something that nobody knows."""
    return block.kind not in _SEEN if isinstance(block, Notice) else isinstance(block, Unknown)


def _notice_item(notice: Notice, context: RenderContext) -> TurnItem:
    """In the short view, notices that people seldom read are one line each."""
    nodes = tuple(notice_nodes(notice, context.level(1)))
    divides, quiet = notice.kind in DIVIDERS, is_quiet(notice)
    if not context.view.full:
        nodes = tuple(short for node in nodes for short in _shorten_notice(node, notice, quiet))
    item = TurnItem(notice, nodes, "divider" if divides else "quiet" if quiet else "row", notice.kind)
    return _opened(item) if notice.kind in _OUTPUTS else item


def _shorten_notice(node: Node, notice: Notice, quiet: bool) -> tuple[Node, ...]:
    if quiet and isinstance(node, Fold):
        return (msgspec.structs.replace(node, children=()),)
    if isinstance(node, Fold) and notice.kind == "compaction":
        said = tuple(child for child in node.children if not isinstance(child, Fields))
        node = msgspec.structs.replace(node, children=said)
    return shorten(node)


def _call_row(call: ToolCall, context: RenderContext) -> Fold:
    """A call as a row that opens to what it was given and what came of it."""
    fold = describe(call)
    if context.cwd and call.role in (*_ON_FILES, "shell"):
        fold = _seen_from(fold, call, context)
    if not context.view.full:
        (short,) = shorten(fold)
        fold = short if isinstance(short, Fold) else fold
    return fold


def _seen_from(fold: Fold, call: ToolCall, context: RenderContext) -> Fold:
    """The fold with files named as seen from the session's folder, which is how a repository names them."""
    cwd = context.cwd
    with_way = call.role == "shell" and not context.view.full
    children = fold.children
    if with_way or Diff in map(type, children):
        children = tuple([_node_seen_from(node, cwd, with_way) for node in children])
    name, _, row = fold.summary.partition(" ")
    what = row
    if what.endswith("…") and isinstance(call.input, dict):  # the row has only the beginning of what was given
        given = (value for value in call.input.values() if isinstance(value, str) and value.startswith(what[:-1]))
        what = next(given, what)
    what = words.shorten_path(what, cwd) if call.role in _ON_FILES else _without_way(what, cwd)
    if what == row and children is fold.children:
        return fold
    summary = fold.summary if what == row else words.short_line(f"{name} {what}".strip())
    return msgspec.structs.replace(fold, summary=summary, children=children)


def _node_seen_from(node: Node, cwd: str, with_way: bool) -> Node:
    if isinstance(node, Diff):
        return msgspec.structs.replace(node, path=words.shorten_path(node.path, cwd))
    if isinstance(node, Code) and with_way:
        return msgspec.structs.replace(node, text=_without_way(node.text, cwd))
    return node


def _without_way(command: str, cwd: str) -> str:
    """The command without a `cd` to the folder that it is run in anyway."""
    if not command.startswith("cd "):
        return command
    for way in (f"cd {cwd}", f'cd "{cwd}"', f"cd '{cwd}'"):
        rest = command.removeprefix(way).lstrip(" ")
        if command.startswith(way) and rest.startswith(("&&", ";")):
            return rest.lstrip("&; ") or command
    return command


def _agent_items(call: ToolCall, context: RenderContext) -> tuple[AgentItem, ...]:
    if "agents" in context.hidden:
        return ()
    return tuple(AgentItem(agent, _agent_place(call, agent, context)) for agent in context.participants.of(call))


def _agent_place(call: ToolCall, agent: Agent, context: RenderContext) -> AgentPlace:
    view, participants = context.view, context.participants
    if not participants.is_home(call, agent):
        return "again"
    if not view.agents or not participants.fits(agent, view.agent_limit):
        return "apart"
    return "here" if context.depth < DEPTH else "later"
