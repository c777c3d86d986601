"""SessionView: what all pages of one session share, with the costs of its turns and links to its repository."""

import re
from collections import defaultdict
from datetime import datetime
from functools import cache
from typing import NamedTuple, TypeVar

from unspool import human
from unspool.agents import speaker_name
from unspool.agents.checkout import web_remote
from unspool.figures import Figures, all_turns, family
from unspool.model import Agent, Branch, Commit, Message, Push, Session, ToolCall, Turn
from unspool.prices import Cost, PriceTable, Spend
from unspool.render.html.elements import HtmlOptions
from unspool.render.turns import RenderContext
from unspool.render.view import View
from unspool.scanners import scan_session
from unspool.scanners.base import SessionFlag
from unspool.site.address import Addresses, agent_anchor
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.summaries import shorten_line


class MessageTokens(NamedTuple):
    """What a message was given and wrote."""

    context: int
    """In the window of its request."""
    output: int
    floor: bool
    """Whether it may have written more."""
    cost: Cost


class TurnCosts:
    """The cost of the turns, messages and subagents of a session; each request is paid once."""

    def __init__(self, session: Session, prices: PriceTable) -> None:
        self._session = session  # kept, for turns are told apart by identity while the session lives
        self._prices = prices
        self._turns: dict[int, Cost] = {}
        self._messages: dict[str, MessageTokens] = {}
        self._seen: set[str] = set()
        for member in family(session):
            self._count(member)

    def _count(self, member: Session) -> None:
        messages = {message.id: message for message in member.messages}
        for turn in all_turns(member):
            said = dict.fromkeys([getattr(block, "message", "") for block in turn.blocks])
            paid = [self._pay(messages[name]) for name in said if name in messages]
            self._turns[id(turn)] = paid[0] if len(paid) == 1 else sum(paid, Cost())

    def _pay(self, message: Message) -> Cost:
        """What a message cost, as far as it is not paid yet."""
        spend = Spend(self._prices)
        for call in message.calls:
            if call.key not in self._seen:
                self._seen.add(call.key)
                spend.add(call)
        cost, used = spend.total(), [call.usage for call in message.own_calls]
        context, output = max([one.context for one in used], default=0), sum([one.output for one in used])
        if context or output:
            self._messages.setdefault(message.id, MessageTokens(context, output, any(one.floor for one in used), cost))
        return cost

    def of(self, turn: Turn) -> Cost:
        """What a turn of the session, a branch or a subagent cost, without the subagents it started."""
        return self._turns.get(id(turn), Cost())

    def of_message(self, message: str) -> MessageTokens | None:
        """What a message took, without other models that it asked; None where the log does not tell."""
        return self._messages.get(message)

    def all_of(self, session: Session) -> Cost:
        """What the turns of a subagent's session cost together."""
        return sum((self.of(turn) for turn in all_turns(session)), Cost())


def format_cost(cost: Cost) -> str:
    """$4.12; $0.003 where cents would say nothing; with ≥ where it is a lower bound; empty for nothing known."""
    return human.money(cost.amount, floor=not cost.known) if cost.amount else ""


_WEB = re.compile(r"https?://[\w.:-]+/[\w./~-]+")
_PULL = re.compile(r"(https?://.+?)/(?:-/)?(?:pull|merge_requests)/\d+")
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_USUAL_HOST = "https://github.com"


def repository_url(asked: str, counted: Figures) -> str:
    """The repository's web address: what was asked for, else what the session pushed to; empty where unknown."""
    if asked:
        return web_address(asked)
    for push in counted.pushes:
        pull = _PULL.match(push.url)
        found = pull[1] if pull else web_address(push.url)
        if found:
            return found
    return web_address(counted.repository)


def web_address(name: str) -> str:
    """The web address of `owner/name`, of a remote as git writes it, or of an address; empty for anything else."""
    name = name.strip().rstrip("/").removesuffix(".git")
    if _WEB.fullmatch(name):
        return name
    if _NAME.fullmatch(name):
        return f"{_USUAL_HOST}/{name}"
    return web_remote(name) or web_remote(f"https://{name}")


def commit_at(commits: tuple[Commit, ...], time: datetime | None) -> str:
    """The first commit made from a time on: it shows files as they then were left; the last one after that."""
    if time is not None:
        for commit in commits:
            if commit.time is not None and commit.time >= time:
                return commit.hash
    return commits[-1].hash if commits else ""


_Made = TypeVar("_Made", Commit, Push)
_list_prices = cache(PriceTable.load)
MAX_INLINE_AGENT = 100_000
"""Bytes of log up to which a subagent stands in place as well as on its own page."""


class SessionView:
    """One session, ready to be laid out."""

    def __init__(
        self, session: Session, counted: Figures, options: SiteOptions, frame: Frame, addresses: Addresses | None = None
    ) -> None:
        self.session, self.counted, self.options, self.frame = session, counted, options, frame
        self.name = shorten_line(session.title, 120) or "Untitled session"
        self.whole = True
        """Whether all of the session was read: else nobody knows yet what came of it."""
        self.addresses = addresses or Addresses(session, options)
        limit = 0 if options.single_page else MAX_INLINE_AGENT
        self.context = RenderContext.of(session, View(full=True, agents=True, agent_limit=limit, hide=options.hide))
        self.costs = TurnCosts(session, frame.prices or _list_prices())
        self.repository = repository_url(options.repository, counted)
        self.speaker = speaker_name(session.agent) or "Assistant"
        self.commits = _by_call(counted.commits)
        self.pushes = _by_call(counted.pushes)
        self.recorded = _by_turn(session, counted)
        """Pull requests that the log records beside the conversation, by the turn they fell into."""
        self.leaving: defaultdict[int, list[Branch]] = defaultdict(list)
        for branch in session.branches:
            self.leaving[branch.parent].append(branch)
        self.untied = self.context.participants.untied() if "agents" not in options.hide else ()
        """Subagents that no call accounts for."""
        self.late: list[Agent] = []
        """Subagents of a single page that are yet to be rendered."""
        self.rendered_turns: dict[int, str] = {}
        """Turns of subagents that stand in two places, by identity."""

    @property
    def flags(self) -> list[SessionFlag]:
        """What in it a person should look at; nothing while only a part of it was read."""
        return scan_session(self.session) if self.whole else []

    def started(self, call: ToolCall) -> list[Agent]:
        """The subagents whose conversations stand at a call."""
        participants = self.context.participants
        if "agents" in self.options.hide:
            return []
        return [agent for agent in participants.of(call) if participants.is_home(call, agent)]

    def agent_href(self, agent: Agent) -> str:
        """Where a subagent's conversation is whole."""
        return f"#{agent_anchor(agent)}" if self.options.single_page else self.addresses.agents[agent.id].first

    def html_options(self, time: datetime | None) -> HtmlOptions:
        """How nodes of a moment become markup: files are linked as the next commit has them."""
        commit = commit_at(self.counted.commits, time) if self.repository else ""
        images = "images" not in self.options.hide
        return HtmlOptions(self.repository, commit, images, self.session_href, self.frame.picture_href)

    def session_href(self, name: str) -> str:
        """The address of another session; empty where the site does not have it."""
        known = self.frame.sessions.get(name)
        return f"{self.frame.root}{known}" if known else ""


def _by_call(made: tuple[_Made, ...]) -> dict[str, list[_Made]]:
    found: dict[str, list[_Made]] = {}
    for one in made:
        found.setdefault(one.call_id, []).append(one)
    return found


def _by_turn(session: Session, counted: Figures) -> dict[int, list[Push]]:
    found: defaultdict[int, list[Push]] = defaultdict(list)
    last = session.turns[-1].number if session.turns else 0
    for push in counted.pushes:
        if not push.call_id:
            begun = (turn.number for turn in session.turns if push.time and turn.started and turn.started <= push.time)
            found[max(begun, default=last)].append(push)
    return found
