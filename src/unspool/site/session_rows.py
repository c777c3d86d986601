"""A session in a list: the one row of figures, and the one way in which site, app and hub write it."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from unspool import human
from unspool.agents import AGENTS, agent_name
from unspool.figures import Figures, tell_ends, totalled_calls
from unspool.model import CallEnd, Session
from unspool.model.blocks import count_ends
from unspool.prices import Cost
from unspool.site.session_head import Badge
from unspool.site.summaries import model_name, shorten_line

_TONES = {"planning": "plan", "implementation": "plan", "ghost": "warn"}
_ABOUT = {
    "ghost": "Its log is gone; what is known comes from its traces",
    "planning": "It ends with a plan",
    "implementation": "It carries out a plan",
    "background": "Run in the background",
    "headless": "Run without a person",
}


class SessionRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figures of one session, wherever they were read; a figure that a list does not have stays empty."""

    id: str
    title: str
    kind: str = ""
    project: str = ""
    """Its path."""
    branch: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    prompts: int = 0
    messages: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    """Calls that failed; those that ended otherwise and not well follow."""
    tool_refusals: int = 0
    tool_interruptions: int = 0
    tool_unanswered: int = 0
    files: int = 0
    """Files changed."""
    commits: int = 0
    agents: int = 0
    compactions: int = 0
    problems: int = 0
    tokens: int = 0
    amount: Decimal = Decimal(0)
    """Dollars at list prices."""
    unpriced: int = 0
    """Requests without a known price."""
    known: bool = True
    """False where more was spent than is known."""
    models: tuple[str, ...] = ()
    size: int = 0
    """Bytes of the log."""
    kept: bool = False
    """Whether only an archive still has its log."""
    copied: int = 0
    """Prompts that stand in the session that this one copied its history from, where totals count them."""
    total_calls: int = 0
    """Its own calls and its subagents', without those that it copied: what totals count."""
    total_ends: dict[CallEnd, int] = {}
    """How those ended."""
    agent: str = ""
    """The id of the agent that it is of."""

    @property
    def time(self) -> datetime | None:
        """When it was last active."""
        return self.ended or self.started

    @property
    def cost(self) -> Cost:
        return Cost(self.amount, floor=not self.known)

    @property
    def cost_text(self) -> str:
        """$4.12; ≥$4.12 where more was spent than is known, ? where nothing is known of it; empty for nothing."""
        return human.money(self.amount, unpriced=not self.known) if self.amount or not self.known else ""

    @property
    def exact_cost(self) -> str:
        return f"${self.amount:f} at list prices" if self.amount else "Its price is not known"

    @property
    def badges(self) -> Iterator[Badge]:
        if self.agent not in ("", AGENTS[0].id):
            yield Badge(agent_name(self.agent), about=f"A session of {agent_name(self.agent)}")
        if self.kind not in ("interactive", ""):
            yield Badge(self.kind, _TONES.get(self.kind, ""), about=_ABOUT.get(self.kind, ""))
        if self.problems:
            yield Badge(f"{human.count(self.problems, 'line')} not read", "bad")
        if self.kept:
            yield Badge("kept", about="Only the archive still has its log")

    @property
    def facts(self) -> Iterator[str]:
        """What is said of it in a few words each; how calls ended, and cost, which stand out, are apart."""
        yield human.count(self.prompts, "prompt")
        for number, word in (
            (self.tool_calls, "call"),
            (self.files, "file"),
            (self.commits, "commit"),
            (self.agents, "subagent"),
            (self.compactions, "compaction"),
        ):
            if number:
                yield human.count(number, word)
        if took := human.elapsed(self.started, self.ended):
            yield took
        if models := tuple(dict.fromkeys(map(model_name, self.models))):
            yield ", ".join(models[:2]) + (f" +{len(models) - 2}" if len(models) > 2 else "")
        if self.branch:
            yield f"⎇ {shorten_line(self.branch, 40)}"
        if self.size:
            yield human.size(self.size)

    @property
    def ends(self) -> Counter[CallEnd]:
        """How calls ended that did not go well."""
        return count_ends(self.tool_errors, self.tool_refusals, self.tool_interruptions, self.tool_unanswered)

    @property
    def failures(self) -> str:
        """The same in words."""
        return tell_ends(self.ends)


class RowLink(NamedTuple):
    """A project, a person or another session, beside a session; without an address it is text."""

    text: str
    href: str = ""
    about: str = ""


class ListedSession(msgspec.Struct, frozen=True):
    """A row as it stands in a list: where it leads, when it was, and what this list adds to its figures."""

    row: SessionRow
    href: str
    time: Markup
    title: str
    original: str = ""
    """Its own title, where a person gave it another."""
    links: tuple[RowLink, ...] = ()
    badges: tuple[Badge, ...] = ()
    related: tuple[RowLink, ...] = ()
    """Other sessions of the same change."""


class SessionDay(NamedTuple):
    """Sessions of one day; without a name where the order is no order of time."""

    name: str
    rows: tuple[ListedSession, ...]


def session_row(session: Session, counted: Figures) -> SessionRow:
    """What a list shows of a session that was read whole."""
    used, calls = counted.usage + counted.agents_usage, list(totalled_calls(session))
    models = dict.fromkeys(message.model for message in session.messages if not message.synthetic and message.model)
    return SessionRow(
        session.id,
        shorten_line(session.title, 160),
        session.kind,
        started=session.started,
        ended=session.ended,
        prompts=counted.turns,
        tool_calls=counted.tool_calls,
        tool_errors=counted.tool_errors,
        tool_refusals=counted.tool_refusals,
        tool_interruptions=counted.tool_interruptions,
        tool_unanswered=counted.tool_unanswered,
        commits=len(counted.commits),
        agents=counted.agents,
        compactions=counted.compactions,
        problems=counted.problems,
        tokens=used.total,
        amount=counted.cost.amount,
        known=counted.cost.known,
        models=tuple(models),
        size=session.log.size,
        copied=session.history.turns if session.history is not None else 0,
        agent=session.agent,
        total_calls=sum(call.state != "orphan" for call in calls),
        total_ends=dict(Counter(call.end for call in calls if call.end != "ok")),
    )
