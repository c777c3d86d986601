"""The blocks of a turn as HTML: each block, rows in boxes, folded notices, subagents in place."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec

from unspool import human
from unspool.doc import Diff, Fold, Node, Prose
from unspool.figures import calls_of
from unspool.model import (
    Agent,
    Block,
    Image,
    Notice,
    Plan,
    Push,
    Questionnaire,
    Text,
    Thinking,
    Todos,
    ToolCall,
    Unknown,
)
from unspool.render.blocks import RenderPosition, block_nodes
from unspool.render.html import conversation as html
from unspool.render.html import elements
from unspool.render.html.elements import HtmlOptions, commit_card, time_tag
from unspool.render.html.nodes import nodes_html
from unspool.render.notices import notice_nodes, run_summary
from unspool.render.view import View
from unspool.site.address import agent_anchor
from unspool.site.session_view import SessionView, format_cost
from unspool.site.summaries import model_name
from unspool.tools import describe, summary
from unspool.tools.summary import shorten_path

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


class BlockHtml(NamedTuple):
    """A block as markup. Rows stand in a box with their neighbours, hushed pieces are folded with theirs."""

    html: str
    place: str = "loose"
    """`loose`, `row` or `hush`."""
    name: str = ""
    """What a hushed piece is, to be counted; `todos` for a todo list."""
    bare: bool = False
    """Whether it is a line by itself, which needs no folding away."""


def is_shown(block: Block, hide: frozenset[str]) -> bool:
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


def render_block(block: Block, scene: SessionView, paint: HtmlOptions) -> BlockHtml:
    """A block that is no text: texts know who speaks, so turns tell them."""
    anchor = scene.addresses.anchor(block)
    if getattr(block, "message", "") in scene.cast.retracted:
        nodes = tuple(block_nodes(block, RenderPosition(_FULL, scene.cast)))
        return BlockHtml(nodes_html(_anchored(nodes, anchor), paint), "row")
    match block:
        case Thinking():
            return _thinking(block, anchor, scene, paint)
        case ToolCall():
            return _call(block, anchor, scene.session.cwd, paint)
        case Notice():
            return _notice(block, anchor, paint)
        case Image():
            nodes = tuple(block_nodes(block, RenderPosition(_FULL, scene.cast)))
            return BlockHtml(html.block_part(anchor, "image", nodes_html(nodes, paint)))
        case Unknown():
            nodes = tuple(block_nodes(block, RenderPosition(_FULL, scene.cast)))
            return BlockHtml(nodes_html(_anchored(nodes, anchor), paint), "hush", f"unknown {block.what}")
        case Text():
            nodes = tuple(block_nodes(block, RenderPosition(_FULL, scene.cast)))
            return BlockHtml(html.block_part(anchor, "text", nodes_html(nodes, paint)))


def _anchored(nodes: tuple[Node, ...], anchor: str) -> tuple[Node, ...]:
    """The nodes with the anchor on the first fold."""
    first, *rest = nodes
    return (msgspec.structs.replace(first, anchor=anchor), *rest) if isinstance(first, Fold) else nodes


def _thinking(block: Thinking, anchor: str, scene: SessionView, paint: HtmlOptions) -> BlockHtml:
    nodes = tuple(block_nodes(block, RenderPosition(_FULL, scene.cast)))
    if block.text:
        return BlockHtml(nodes_html(_anchored(nodes, anchor), paint))
    (fold,) = nodes
    outcome = fold.outcome if isinstance(fold, Fold) else ""
    return BlockHtml(
        html.block_line(anchor, "thinking", f"Thinking · {outcome}"), "hush", "thinking not kept", bare=True
    )


def _call(call: ToolCall, anchor: str, cwd: str, paint: HtmlOptions) -> BlockHtml:
    fold = msgspec.structs.replace(describe(call), anchor=anchor)
    if cwd and call.role in (*_ON_FILES, "shell"):
        fold = _from(fold, call, cwd)
    if fold.kind == "todos" and isinstance(call.meaning, Todos):
        return BlockHtml(
            html.todo_box(anchor, _progress(fold), fold.outcome, nodes_html(fold.children, paint)), name=TODOS
        )
    return BlockHtml(nodes_html((fold,), paint), "loose" if fold.kind in ("plan", "question", "todos") else "row")


def _from(fold: Fold, call: ToolCall, cwd: str) -> Fold:
    """The fold with files named as seen from the session's folder, which is how a repository names them."""
    children = tuple(
        msgspec.structs.replace(node, path=shorten_path(node.path, cwd)) if isinstance(node, Diff) else node
        for node in fold.children
    )
    name, _, what = fold.summary.partition(" ")
    shown = shorten_path(_given(call, what), cwd) if call.role in _ON_FILES else _command(_given(call, what), cwd)
    return msgspec.structs.replace(fold, summary=summary.short_line(f"{name} {shown}".strip()), children=children)


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


def _notice(notice: Notice, anchor: str, paint: HtmlOptions) -> BlockHtml:
    nodes = tuple(notice_nodes(notice, 3))
    if notice.kind in _DIVIDERS:
        return BlockHtml(_divider(nodes, anchor, notice, paint))
    if notice.kind in _ANSWERS:
        nodes = tuple(msgspec.structs.replace(node, open=True) if isinstance(node, Fold) else node for node in nodes)
    made = nodes_html(_anchored(nodes, anchor), paint)
    return BlockHtml(made, "row") if notice.kind in _LOUD else BlockHtml(made, "hush", notice.kind)


def _divider(nodes: tuple[Node, ...], anchor: str, notice: Notice, paint: HtmlOptions) -> str:
    """A line across the conversation, and below it what more is known."""
    first, *rest = nodes
    if isinstance(first, Fold):
        told, rest = first.summary, [Fold("notice", "What the log says of it", "", "quiet", children=first.children)]
        rest = rest if first.children and (notice.facts or len(notice.text) > 80) else []
    else:
        told = " · ".join((getattr(first, "text", ""), *getattr(first, "notes", ())))
    line = html.divider(told, bad=notice.kind == "interruption")
    return html.block_part(anchor, "notice", line + nodes_html(rest, paint))


def outcome_cards(call: ToolCall, scene: SessionView, paint: HtmlOptions) -> str:
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
    return html.push_card(elements.web_link(push.url, name), push.branch or push.repository)


AgentRenderer = Callable[[Agent], str | None]
"""Tells a subagent's conversation where it is called; None where it is to be told elsewhere."""


def agent_title(agent: Agent) -> str:
    """What a subagent is called: its name, its kind, what it was to do."""
    what = " ".join(agent.description.split())[:200]
    return human.joined(agent.name, ": ".join(word for word in (agent.kind, what) if word)) or agent.id


def agent_summary(agent: Agent, scene: SessionView) -> str:
    """How it ended and what it took."""
    return human.joined(
        agent.status if agent.status != "completed" else "",
        "in the background" if agent.background else "",
        human.count(sum(1 for _ in calls_of(agent.session)), "call"),
        human.elapsed(agent.session.started, agent.session.ended),
        format_cost(scene.bill.all_of(agent.session)),
    )


def agent_row(agent: Agent, scene: SessionView, tell: AgentRenderer) -> str:
    """A subagent in a box of rows."""
    anchor, name, outcome = agent_anchor(agent), agent_title(agent), agent_summary(agent, scene)
    single, href = scene.options.single_page, scene.addresses.agents[agent.id].first
    told = tell(agent)
    if told is not None:
        return html.agent_row(anchor, name, outcome, "" if single else href, told)
    if single:  # it has its anchor where it is told, at the end of the page
        return html.agent_link("", f"#{anchor}", name, outcome)
    return html.agent_link(anchor, href, name, outcome)


def layout_blocks(blocks: Iterable[Block], scene: SessionView, paint: HtmlOptions, tell: AgentRenderer) -> str:
    """The blocks of a turn."""
    pieces = _last_open(list(_pieces(blocks, scene, paint, tell)))
    parts: list[str] = []
    for loose, group in groupby(pieces, key=lambda one: one.place == "loose"):
        run = list(group)
        if loose:
            parts.extend(one.html for one in run)
        elif any(one.place == "row" for one in run):
            parts.append(html.row_box("".join(_rows(run))))
        else:
            parts.append(_hushed(run))
    return "".join(parts)


def _rows(run: list[BlockHtml]) -> Iterator[str]:
    """Rows of a box, with the quiet things between them folded."""
    for place, group in groupby(run, key=lambda one: one.place):
        if place == "hush":
            yield _hushed(list(group))
        else:
            yield from (one.html for one in group)


def _pieces(
    blocks: Iterable[Block], scene: SessionView, paint: HtmlOptions, tell: AgentRenderer
) -> Iterator[BlockHtml]:
    speaking = ""
    for block in blocks:
        if not is_shown(block, scene.options.hide):
            continue
        if isinstance(block, Text) and block.message not in scene.cast.retracted:
            model = scene.cast.models.get(block.message, "")
            yield BlockHtml(_answer(block, scene, paint, model if model != speaking or not speaking else ""))
            speaking = model or speaking or "?"
            continue
        yield render_block(block, scene, paint)
        if isinstance(block, ToolCall):
            yield from (BlockHtml(agent_row(agent, scene, tell), "row") for agent in scene.started(block))
            made = outcome_cards(block, scene, paint)
            if made:
                yield BlockHtml(made)


def _answer(block: Text, scene: SessionView, paint: HtmlOptions, model: str) -> str:
    anchor = scene.addresses.anchor(block)
    said = _who(block, scene, model) + nodes_html((Prose(block.text),), paint)
    return html.answer(anchor, said)


def _who(block: Text, scene: SessionView, model: str) -> str:
    """Who speaks, where that is new."""
    if not model:
        return ""
    link = (
        elements.link_around(f"#{scene.addresses.anchor(block)}", time_tag(block.time, "clock")) if block.time else ""
    )
    return html.answer_head(scene.speaker, model_name(model), link)


def _hushed(run: list[BlockHtml]) -> str:
    """What few people read, behind one line that says what it is."""
    inside = "".join([one.html for one in run])
    if all(one.bare for one in run):
        return html.quiet_lines(inside)
    return html.folded_notices(run_summary(one.name for one in run), inside)


def _last_open(pieces: list[BlockHtml]) -> list[BlockHtml]:
    """The last todo list of a turn stands open: it is how things then were."""
    for at in range(len(pieces) - 1, -1, -1):
        if pieces[at].name == TODOS:
            pieces[at] = pieces[at]._replace(html=elements.open_details(pieces[at].html))
            break
    return pieces
