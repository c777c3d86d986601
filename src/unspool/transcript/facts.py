"""The head of a document: the session's title, its facts and its neighbours."""

from collections.abc import Iterator

from unspool import human
from unspool.doc import Fields, Heading, Link, Node
from unspool.figures import calls_of, family
from unspool.model import ChainLink, Session
from unspool.tools.words import first_line
from unspool.transcript.cast import billed, spent
from unspool.transcript.view import View

_RELATIONS = {
    "source": "Continues",
    "follow-up": "Continued by",
    "copied-from": "Copied from",
    "moved-to": "Moved to",
}


def head(session: Session, view: View) -> Iterator[Node]:
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
    own = spent(session)
    if billed(session):
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
        yield "with subagents", f"{human.tokens(spent(*family(session)).total)} tokens in all"
    yield "cost reported", human.money(float(session.reported_cost)) if session.reported_cost else ""
