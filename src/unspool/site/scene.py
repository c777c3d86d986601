"""All that pages of one session have in common: addresses, subagents by their calls, what things cost, links."""

from collections import defaultdict
from datetime import datetime
from typing import TypeVar

from unspool.export.html import Paint
from unspool.figures import Figures, all_turns, calls_of, family
from unspool.model import Agent, Branch, Commit, Push, Session, ToolCall
from unspool.site import forge
from unspool.site.address import Addresses
from unspool.site.bill import Bill, list_prices
from unspool.site.brief import flat
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions
from unspool.transcript.cast import Cast

_Made = TypeVar("_Made", Commit, Push)
IN_PLACE = 100_000
"""Bytes of log up to which a subagent is told in place as well as on its own page."""
NESTED = 8
"""How deep subagents are told inside one another."""


class Scene:
    """One session, ready to be told."""

    def __init__(
        self,
        session: Session,
        counted: Figures,
        options: SiteOptions,
        frame: Frame,
        addresses: Addresses | None = None,
    ) -> None:
        self.session, self.counted, self.options, self.frame = session, counted, options, frame
        self.name = flat(session.title, 120) or "Untitled session"
        self.addresses = addresses or Addresses(session, options)
        self.cast = Cast(session)
        self.bill = Bill(session, frame.prices or list_prices())
        self.repository = forge.repository(options.repository, counted)
        self.speaker = session.agent.partition("-")[0].capitalize() or "Assistant"
        self.commits = _by_call(counted.commits)
        self.pushes = _by_call(counted.pushes)
        self.recorded = _by_turn(session, counted)
        """Pull requests that the log records beside the conversation, by the turn they fell into."""
        self.leaving: defaultdict[int, list[Branch]] = defaultdict(list)
        for branch in session.branches:
            self.leaving[branch.parent].append(branch)
        self.untied: tuple[Agent, ...] = ()
        """Subagents that no call accounts for."""
        self.late: list[Agent] = []
        """Subagents of a single page that are yet to be told."""
        self._started = self._calls()
        self._weights: dict[str, int] = {}
        self.told: dict[int, str] = {}
        """Turns of subagents that were told already, by identity: the same words serve both places."""

    def _calls(self) -> dict[int, tuple[Agent, ...]]:
        """The subagents of each call, by its identity; one that several calls name belongs to the first."""
        started: dict[int, tuple[Agent, ...]] = {}
        seen: set[str] = set()
        if "agents" in self.options.hide:
            return started
        for member in family(self.session):
            for call in calls_of(member):
                new = tuple(agent for agent in self.cast.of(call) if agent.id not in seen)
                seen.update(agent.id for agent in new)
                if new:
                    started[id(call)] = new
        self.untied = tuple(
            chapter.agent
            for chapter in self.addresses.agents.values()
            if chapter.agent is not None and chapter.agent.id not in seen
        )
        return started

    def started(self, call: ToolCall) -> tuple[Agent, ...]:
        """The subagents that are told at a call."""
        return self._started.get(id(call), ())

    def in_place(self, agent: Agent, depth: int) -> bool:
        """True for a subagent small enough to be told where it was called."""
        return depth < NESTED and (self.options.single_page or self._weight(agent) <= IN_PLACE)

    def postpone(self, agent: Agent) -> None:
        """Keep a subagent for the end of a single page, where it is nested too deep to be told in place."""
        self.late.append(agent)

    def _weight(self, agent: Agent) -> int:
        if agent.id not in self._weights:
            sizes = (
                block.place.size + (block.result.place.size if isinstance(block, ToolCall) and block.result else 0)
                for turn in all_turns(agent.session)
                for block in turn.blocks
            )
            self._weights[agent.id] = sum(sizes) + sum(self._weight(inner) for inner in agent.session.agents)
        return self._weights[agent.id]

    def paint(self, time: datetime | None) -> Paint:
        """How nodes of a moment become markup: files are linked as the next commit has them."""
        commit = forge.commit_at(self.counted.commits, time) if self.repository else ""
        return Paint(self.repository, commit, "images" not in self.options.hide, self.session_href)

    def session_href(self, name: str) -> str:
        """The address of another session; empty where the site does not have it."""
        known = self.frame.sessions.get(name)
        return f"{self.frame.root}{known}" if known else ""


def _by_call(made: tuple[_Made, ...]) -> dict[str, list[_Made]]:
    found: defaultdict[str, list[_Made]] = defaultdict(list)
    for one in made:
        found[one.call_id].append(one)
    return found


def _by_turn(session: Session, counted: Figures) -> dict[int, list[Push]]:
    found: defaultdict[int, list[Push]] = defaultdict(list)
    last = session.turns[-1].number if session.turns else 0
    for push in counted.pushes:
        if not push.call_id:
            begun = (turn.number for turn in session.turns if push.time and turn.started and turn.started <= push.time)
            found[max(begun, default=last)].append(push)
    return found
