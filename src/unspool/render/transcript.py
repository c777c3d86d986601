"""A session as a document of nodes, from title to problems; and a request as it was sent."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, tzinfo
from itertools import chain, groupby

import msgspec

from unspool import human
from unspool.doc import Code, Fields, Fold, Heading, Link, Node, Prose, Raw, Terminal
from unspool.figures import all_turns, calls_of, family, figures, reported_cost, tell_ends
from unspool.model import (
    Agent,
    Block,
    Image,
    Notice,
    Result,
    Session,
    Text,
    Thinking,
    ToolCall,
    Turn,
    Unknown,
)
from unspool.model.request import SentRequest
from unspool.render.blocks import planned_in, problem_fold, prompt_nodes, prompt_notes, tail_sections
from unspool.render.notices import image_picture, notice_nodes, run_summary
from unspool.render.turns import RenderContext, TurnItem, copied_summary, earlier_summary, is_quiet, turn_items
from unspool.render.view import View, follow_branch, total_usage, turns_and_forks
from unspool.tools import fields
from unspool.tools.ansi import styled_spans
from unspool.tools.summary import first_line

RELATIONS = {
    "source": "Continues",
    "follow-up": "Continued by",
    "copied-from": "Copied from",
    "copied-to": "Copied to",
    "moved-to": "Moved to",
}
"""How a session of the same chain stands to this one."""


def head_nodes(session: Session, view: View) -> Iterator[Node]:
    """Title, facts, links to the sessions before and after."""
    yield Heading("session", 1, first_line(session.title, 200) or "Untitled session")
    items = (*_identity(session), *_figures(session, view), *_tokens(session, view))
    yield Fields(tuple((name, value) for name, value in items if value))
    for link in session.links:
        name = human.joined(link.title or first_line(link.prompt), link.session)
        yield Link(f"session:{link.session}", f"{RELATIONS.get(link.relation, link.relation)}: {name}")
    for push in session.recorded:
        yield Link(push.url, human.joined(f"Pull request #{push.number}", push.repository, push.branch))


def _identity(session: Session) -> Iterator[tuple[str, str]]:
    yield "session", session.id
    yield "kind", human.joined(session.kind, session.entrypoint)
    yield "project", session.project or session.cwd
    yield "folder", session.cwd if session.cwd != session.project else ""
    yield "git branch", session.branch
    models = (message.model for message in session.messages if message.model and not message.synthetic)
    yield "model", ", ".join(dict.fromkeys(models))
    yield "version", human.joined(session.agent, ", ".join(session.versions))
    yield "team", session.team
    yield "log", human.joined(session.log.path, human.size(session.log.size))
    yield "plan from", planned_in(session.source)


def _figures(session: Session, view: View) -> Iterator[tuple[str, str]]:
    yield "started", human.moment(session.started, view.zone)
    yield "ended", human.moment(session.ended, view.zone)
    yield "duration", human.elapsed(session.started, session.ended)
    prompts = sum(turn.prompt is not None for turn in all_turns(session))
    left = prompts - sum(turn.prompt is not None for turn in session.turns)
    branches = human.count(len(session.branches), "abandoned branch", "abandoned branches")
    yield "turns", human.joined(str(prompts), f"{left} of them on {branches}" if left else "")
    all_calls = tuple(calls_of(session))
    made = sum(call.state != "orphan" for call in all_calls)
    yield "tool calls", human.joined(str(made), tell_ends(Counter(call.end for call in all_calls)))
    yield "subagents", str(sum(1 for _ in family(session)) - 1 or "")
    unread = sum(len(member.problems) for member in family(session))
    inner = unread - len(session.problems)
    yield "lines not read", human.joined(str(unread or ""), f"{inner} of them in subagents" if inner else "")


def _tokens(session: Session, view: View) -> Iterator[tuple[str, str]]:
    own = total_usage(session)
    if any(message.calls for message in session.messages):
        least = " at least" if own.floor else ""
        cached = f"{human.tokens(own.cache_read)} read from cache · {human.tokens(own.cache_write)} written to cache"
        yield "tokens", f"{human.tokens(own.input)} in · {human.tokens(own.output)} out{least} · {cached}"
    if session.agents:
        yield "with subagents", f"{human.tokens(total_usage(*family(session)).total)} tokens in all"
    if view.prices is not None and any(message.calls for member in family(session) for message in member.messages):
        cost = figures(session, view.prices).cost
        yield "cost", human.money(cost.amount, floor=cost.floor, unpriced=bool(cost.unpriced))
    yield "cost reported", reported_cost(session)


_ROLES = {"user": "User", "assistant": "Assistant", "system": "System", "": "Not in the log"}


def request_nodes(request: SentRequest, zone: tzinfo | None = UTC) -> Iterator[Node]:
    """All of a request, in the order that it is read by the model."""
    yield Heading("request", 1, f"Request {request.id[:8]}")
    yield Fields(tuple(_facts(request, zone)))
    if request.system:
        words = "\n\n".join(request.system)
        yield Fold("notice:system-prompt", "System prompt", f"{len(words):,} characters", children=(Prose(words),))
    if request.tools:
        tools = tuple(map(_tool, request.tools))
        yield Fold("notice:tools", "Tools", human.count(len(tools), "definition"), children=tools)
    for number, message in enumerate(request.messages, 1):
        yield Heading("message", 3, f"{number} · {_ROLES.get(message.role, message.role)}")
        if message.prompt is not None:
            yield from prompt_nodes(message.prompt)
        for block in message.blocks:
            yield from _block(block)


def _facts(request: SentRequest, zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    yield "id", request.id
    yield "when", human.moment(request.time, zone)
    yield "for", request.purpose
    yield "whole", "yes" if request.complete else "no: the log does not hold all of it"
    for name, value in request.parameters.items():
        yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _tool(tool: dict[str, object]) -> Fold:
    name = tool.get("name")
    return Fold("tool", name if isinstance(name, str) else "tool", children=(Code(fields.json_text(tool), "json"),))


def _block(block: Block | Result) -> Iterator[Node]:
    match block:
        case Text():
            yield Prose(block.text)
        case Thinking():
            yield Fold("thinking", "Thinking", "" if block.text else "signature alone", children=(Prose(block.text),))
        case ToolCall():
            yield Fold("tool", block.name, "asked", open=True, children=(Code(fields.json_text(block.input), "json"),))
        case Result():
            inside: list[Node] = [Terminal(styled_spans(block.text)), *map(image_picture, block.images)]
            inside += [Raw(fields.json_text(part)) for part in block.parts]
            yield Fold("tool", "Result", "error" if block.error else "", open=True, children=tuple(inside))
        case Image():
            yield image_picture(block)
        case Notice():
            yield from notice_nodes(block, 3)
        case Unknown():
            yield Raw(fields.json_text(block.data), block.what)


def opening_name(turn: Turn) -> str:
    """What a turn without a prompt is called; on a branch it goes on from the prompt that it left."""
    return f"Another answer to prompt {turn.number}" if turn.number else "Before the first prompt"


def earlier_nodes(earlier: Session, view: View, number: int) -> Iterator[Node]:
    """The turns of the conversation before a session that another log keeps; it is the session's nth such part."""
    context = RenderContext.of(earlier, view, earlier.turns).inside(f"earlier-{number}-")
    return chain.from_iterable(turn_nodes(turn, context, []) for turn in earlier.turns)


def turn_nodes(turn: Turn, context: RenderContext, late: list[Agent]) -> Iterator[Node]:
    """A turn: heading, prompt, then all that followed; `late` gets the subagents that stand at the document's end."""
    name = f"Turn {turn.number}" if turn.prompt is not None else opening_name(turn)
    yield Heading("turn", context.level(0), name, f"{context.prefix}turn-{turn.number}", _notes(turn, context))
    if turn.prompt is not None:
        yield from prompt_nodes(turn.prompt)
        if any(isinstance(block, Text | Thinking | ToolCall) for block in turn.blocks):
            yield Heading("answer", context.level(1), "Answer")
    gathers = not context.view.full
    for quiet, group in groupby(turn_items(turn, context), key=lambda item: gathers and _is_small(item)):
        run = list(group)
        if quiet and len(run) > 1:
            yield Fold("notice:run", run_summary(item.name for item in run), "", "quiet")
        else:
            for item in run:
                yield from _item_nodes(item, context, late)


def _is_small(item: TurnItem) -> bool:
    """Whether an item is a notice or unknown line that few read, and tells of nothing bad."""
    return is_quiet(item.block) and item.place == "quiet" and getattr(item.nodes[0], "tone", "") == "quiet"


def _notes(turn: Turn, context: RenderContext) -> tuple[str, ...]:
    messages = dict.fromkeys(getattr(block, "message", "") for block in turn.blocks)
    models = dict.fromkeys(context.participants.models.get(message, "") for message in messages)
    efforts = dict.fromkeys(context.participants.efforts.get(message, "") for message in messages)
    notes = (
        human.moment(turn.started, context.view.zone),
        human.elapsed(turn.started, turn.ended),
        ", ".join(model for model in models if model),
        ", ".join(f"{effort} effort" for effort in efforts if effort),
        f"{human.tokens(turn.usage.total)} tokens" if turn.usage.total else "",
        f"{human.tokens(turn.context)} in the window" if turn.context else "",
        *(prompt_notes(turn.prompt) if turn.prompt else ()),
    )
    return tuple(note for note in notes if note)


def _item_nodes(item: TurnItem, context: RenderContext, late: list[Agent]) -> Iterator[Node]:
    """The nodes of an item, with its subagents inside the fold of their call."""
    first, *rest = item.nodes
    inside: list[Node] = []
    for agent, place in item.agents:
        if place == "here":
            inside.append(agent_fold(agent, context, late))
        elif place == "later":
            late.append(agent)
            inside.append(Fields((("subagent", f"{_who(agent)} · at the end"),)))
        else:
            inside.append(agent_mention(agent))
    if inside and isinstance(first, Fold):
        first = msgspec.structs.replace(first, children=(*first.children, *inside))
    yield first
    yield from rest


def agent_mention(agent: Agent) -> Fields:
    """That there is a subagent."""
    return Fields((("subagent", human.joined(_who(agent), _done(agent))),))


def agent_fold(agent: Agent, context: RenderContext, late: list[Agent]) -> Fold:
    """All of a subagent's session: turns, what it abandoned, what could not be read."""
    inner = context.inside(f"agent-{agent.id}-")
    children = [node for turn in agent.session.turns for node in turn_nodes(turn, inner, late)]
    for branch in agent.session.branches if context.view.branches else ():
        aside = context.inside(f"{inner.prefix}branch-{branch.number}-")
        nodes = tuple(node for turn in branch.turns for node in turn_nodes(turn, aside, late))
        children.append(Fold("branch", f"Abandoned after turn {branch.after}", "", "quiet", children=nodes))
    children += (problem_fold(problem, context.view) for problem in agent.session.problems)
    return Fold("agent", f"Subagent: {_who(agent)}", _done(agent), anchor=f"agent-{agent.id}", children=tuple(children))


def _who(agent: Agent) -> str:
    return human.joined(agent.name, agent.kind, first_line(agent.description), agent.id)


def _done(agent: Agent) -> str:
    used = total_usage(agent.session).total
    return human.joined(
        agent.status,
        "in the background" if agent.background else "",
        human.count(sum(turn.prompt is not None for turn in agent.session.turns), "turn"),
        human.count(sum(1 for _ in calls_of(agent.session)), "tool call"),
        f"{human.tokens(used)} tokens" if used else "",
    )


def transcript_nodes(session: Session, view: View | None = None) -> Iterator[Node]:
    """The session's document, node by node, in reading order; NotFound where the view's branch is not there."""
    view = view or View()
    turns, leaving = follow_branch(session, view.branch)
    return _document(session, view, turns, leaving)


def _document(session: Session, view: View, turns: tuple[Turn, ...], leaving: dict[int, list[Fold]]) -> Iterator[Node]:
    yield from head_nodes(session, view)
    for number, earlier in enumerate(() if view.turns else session.earlier, 1):
        kept = tuple(earlier_nodes(earlier, view, number)) if view.full else ()
        yield Fold("copied", earlier_summary(earlier), "", "quiet", children=kept)
    shown = tuple(turn for turn in turns if view.has_turn(turn.number))
    context, late = RenderContext.of(session, view, shown), list[Agent]()
    afters = (after for after in leaving if view.branches and view.has_turn(after))
    steps = turns_and_forks(shown, afters)
    for copied, group in groupby(steps, key=lambda step: not view.turns and not isinstance(step, int) and step.copied):
        run = list(group)
        parts = (leaving[step] if isinstance(step, int) else turn_nodes(step, context, late) for step in run)
        inside = chain.from_iterable(parts)
        if copied:
            summary = copied_summary([step for step in run if not isinstance(step, int)], session.history)
            yield Fold("copied", summary, "", "quiet", children=tuple(inside) if view.full else ())
        else:
            yield from inside
    untied = context.participants.untied()
    if untied:
        yield Heading("agents", 2, "Subagents that no call accounts for")
    for agent in untied:
        yield agent_fold(agent, context, late) if view.agents else agent_mention(agent)
    while late:
        yield agent_fold(late.pop(0), context, late)
    for heading, nodes in tail_sections(session, view):
        yield heading
        yield from nodes
