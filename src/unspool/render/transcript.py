"""A session as a document of nodes, from title to problems; and a request as it was sent."""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, tzinfo

import msgspec

from unspool import human
from unspool.doc import Code, Fields, Fold, Heading, Link, Node, Prose, Raw, Terminal
from unspool.figures import calls_of, family
from unspool.model import Block, ChainLink, Image, Notice, Result, Session, Text, Thinking, ToolCall, Turn, Unknown
from unspool.model.request import SentMessage, SentRequest
from unspool.render.blocks import RenderPosition, agent_nodes, prompt_nodes, tail_nodes, turn_nodes
from unspool.render.notices import image_picture, notice_nodes
from unspool.render.view import Leaving, Participants, View, distinct_calls, follow_branch, total_usage
from unspool.tools import fields
from unspool.tools.ansi import styled_spans
from unspool.tools.summary import first_line

_RELATIONS = {
    "source": "Continues",
    "follow-up": "Continued by",
    "copied-from": "Copied from",
    "moved-to": "Moved to",
}


def head_nodes(session: Session, view: View) -> Iterator[Node]:
    """Title, facts, links to the sessions before and after."""
    yield Heading("session", 1, first_line(session.title, 200) or "Untitled session")
    items = (*_identity(session), *_times(session, view), *_figures(session), *_tokens(session))
    yield Fields(tuple((name, value) for name, value in items if value))
    for link in session.links:
        yield Link(f"session:{link.session}", _relation(link))
    for push in session.recorded:
        yield Link(push.url, human.joined(f"Pull request #{push.number}", push.repository, push.branch))


def _relation(link: ChainLink) -> str:
    name = link.title or first_line(link.prompt)
    return f"{_RELATIONS.get(link.relation, link.relation)}: {human.joined(name, link.session)}"


def _identity(session: Session) -> Iterator[tuple[str, str]]:
    yield "session", session.id
    yield "kind", human.joined(session.kind, session.entrypoint)
    yield "project", session.project or session.cwd
    yield "folder", session.cwd if session.cwd != session.project else ""
    yield "git branch", session.branch
    yield (
        "model",
        ", ".join(
            dict.fromkeys(message.model for message in session.messages if message.model and not message.synthetic)
        ),
    )
    yield "version", human.joined(session.agent, ", ".join(session.versions))
    yield "team", session.team
    yield "log", human.joined(session.log.path, human.size(session.log.size))
    yield "plan from", session.source


def _times(session: Session, view: View) -> Iterator[tuple[str, str]]:
    yield "started", human.moment(session.started, view.zone)
    yield "ended", human.moment(session.ended, view.zone)
    yield "duration", human.elapsed(session.started, session.ended)


def _figures(session: Session) -> Iterator[tuple[str, str]]:
    prompts = sum(turn.prompt is not None for turn in session.turns)
    left = sum(len(branch.turns) for branch in session.branches)
    yield "turns", human.joined(str(prompts), f"{left} more on {_branches(session)}" if left else "")
    all_calls = tuple(calls_of(session))
    failed = sum(call.state == "error" for call in all_calls)
    yield "tool calls", human.joined(str(len(all_calls)), f"{failed} failed" if failed else "")
    yield "subagents", str(sum(1 for _ in family(session)) - 1 or "")
    unread = sum(len(member.problems) for member in family(session))
    inner = unread - len(session.problems)
    yield "lines not read", human.joined(str(unread or ""), f"{inner} of them in subagents" if inner else "")


def _branches(session: Session) -> str:
    return human.count(len(session.branches), "abandoned branch", "abandoned branches")


def _tokens(session: Session) -> Iterator[tuple[str, str]]:
    own = total_usage(session)
    if distinct_calls(session):
        yield (
            "tokens",
            human.joined(
                f"{human.tokens(own.input)} in",
                f"{human.tokens(own.output)} out" + (" at least" if own.floor else ""),
                f"{human.tokens(own.cache_read)} read from cache",
                f"{human.tokens(own.cache_write)} written to cache",
            ),
        )
    if session.agents:
        yield "with subagents", f"{human.tokens(total_usage(*family(session)).total)} tokens in all"
    yield "cost reported", human.money(float(session.reported_cost)) if session.reported_cost else ""


_ROLES = {"user": "User", "assistant": "Assistant", "system": "System", "": "Not in the log"}


def request_nodes(request: SentRequest, zone: tzinfo | None = UTC) -> Iterator[Node]:
    """All of a request, in the order that it is read by the model."""
    yield Heading("request", 1, f"Request {request.id[:8]}")
    yield Fields(tuple(_facts(request, zone)))
    if request.system:
        words = "\n\n".join(request.system)
        yield Fold("notice:system-prompt", "System prompt", f"{len(words):,} characters", children=(Prose(words),))
    if request.tools:
        tools = tuple(_tool(tool) for tool in request.tools)
        yield Fold("notice:tools", "Tools", human.count(len(tools), "definition"), children=tools)
    for number, message in enumerate(request.messages, 1):
        yield Heading("message", 3, f"{number} · {_ROLES.get(message.role, message.role)}")
        yield from _message(message)


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


def _message(message: SentMessage) -> Iterator[Node]:
    if message.prompt is not None:
        yield from prompt_nodes(message.prompt)
    for block in message.blocks:
        yield from _block(block)


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


def transcript_nodes(session: Session, view: View | None = None) -> Iterator[Node]:
    """The session's document, node by node, in reading order; NotFound where the view's branch is not there."""
    view = view or View()
    turns, leaving = follow_branch(session, view.branch)
    return _document(session, RenderPosition(view, Participants(session)), turns, leaving)


def _document(session: Session, stage: RenderPosition, turns: tuple[Turn, ...], leaving: Leaving) -> Iterator[Node]:
    yield from head_nodes(session, stage.view)
    mentions = deque(sorted(item for item in leaving.items() if stage.view.branches and stage.view.has_turn(item[0])))
    for turn in turns:
        while mentions and mentions[0][0] < turn.number:
            yield from mentions.popleft()[1]
        if stage.view.has_turn(turn.number):
            yield from turn_nodes(turn, stage)
    for _, folds in mentions:
        yield from folds
    yield from _loose_agents(stage)
    yield from tail_nodes(session, stage.view)


def _loose_agents(stage: RenderPosition) -> Iterator[Node]:
    """Subagents that no call accounts for, and those that were nested too deep to be told in place."""
    untied = stage.cast.untied()
    if untied:
        yield Heading("agents", 2, "Subagents that no call accounts for")
    for agent in untied:
        yield from agent_nodes(agent, stage)
    while stage.cast.late:
        yield from agent_nodes(stage.cast.recall(), stage)
