"""The session (turns, branches, subagents, figures, problems) and its overview in a list."""

from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Literal

import msgspec

from unspool.model.blocks import Block, CallEnd, Message, Prompt, Todos, count_ends
from unspool.model.entry import Json, Place, Problem
from unspool.model.usage import Call, Usage


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A prompt and all that followed it until the next. The opening turn (number 0) has no prompt."""

    number: int
    prompt: Prompt | None
    blocks: tuple[Block, ...]
    started: datetime | None = None
    ended: datetime | None = None
    usage: Usage = Usage()
    context: int = 0
    """Tokens in the window at its last request."""
    copied: bool = False
    """Whether it stands in the session that this one copied its history from."""


class Branch(msgspec.Struct, frozen=True, omit_defaults=True):
    """A way the conversation went and was left, by an edited prompt or a rewind."""

    number: int
    after: int
    """The number of the turn it leaves from."""
    turns: tuple[Turn, ...]
    parent: int = 0
    """The branch it leaves from; 0 is the live one."""
    at: str = ""
    """Id of the last line it has in common."""


class SideLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line beside the conversation: titles, snapshots, queue and mode records, ..."""

    place: Place
    type: str
    data: dict[str, Json]


class Lines(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where every line of the log went. The parts add up to `total`."""

    total: int = 0
    conversation: int = 0
    side: int = 0
    repeated: int = 0
    """Copies of a line already read."""
    superseded: int = 0
    """Early snapshots of a message that a later line holds whole."""
    blank: int = 0
    problems: int = 0
    extra: int = 0
    """Values beyond the first on lines that hold several; not part of `total`."""


class Commit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A commit the agent made."""

    hash: str
    branch: str
    message: str
    call_id: str
    time: datetime | None = None
    root: bool = False


class Push(msgspec.Struct, frozen=True, omit_defaults=True):
    """A push, or a pull request: where it went."""

    kind: Literal["push", "pull-request"]
    branch: str = ""
    url: str = ""
    repository: str = ""
    number: int = 0
    call_id: str = ""
    time: datetime | None = None


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was done with one file."""

    path: str
    reads: int = 0
    writes: int = 0
    added: int = 0
    removed: int = 0
    created: bool = False


class Agent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subagent: its conversation, and the call that started it (empty where the log does not tell)."""

    id: str
    kind: str
    description: str
    session: "Session"
    call_id: str = ""
    background: bool = False
    status: str = ""
    name: str = ""
    linked_by: str = ""
    """How it was tied to its call: sidecar, result, progress, prompt, or nothing."""


class LogFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """The file a conversation was read from."""

    path: str
    size: int
    modified: datetime | None = None


SessionKind = Literal[
    "interactive", "planning", "implementation", "subagent", "headless", "background", "empty", "stub", "ghost"
]
"""`ghost`: its log is gone, and what is known comes from its traces."""
UNLISTED_KINDS: tuple[str, ...] = ("empty", "stub", "subagent", "ghost")
WARM_UP = "warmup"
"""The title of a session that the agent began only to fill its cache."""


def is_unlisted(kind: str, title: str) -> bool:
    """Whether lists show a session only where it is asked for: nobody would look for it, or its log is gone."""
    return kind in UNLISTED_KINDS or title.strip().casefold() == WARM_UP


class Titles(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every name the session was given; `best` applies the order of rank."""

    custom: str = ""
    generated: str = ""
    plan: str = ""
    summary: str = ""
    prompt: str = ""
    slug: str = ""
    agent: str = ""

    @property
    def best(self) -> str:
        return self.custom or self.generated or self.plan or self.summary or self.prompt or self.slug or self.agent


class ChainLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session that this one continues, or that continues it."""

    session: str
    relation: Literal["source", "follow-up", "copied-from", "copied-to", "moved-to"]
    by: Literal["path", "slug", "plan", "uuid", "record"]
    title: str = ""
    prompt: str = ""
    """The first prompt of that session."""


class SharedHistory(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session copied from another when it began: a fork, or an old way of going on."""

    session: str
    """Whose it is: the session that owns the last line they have in common."""
    turns: int = 0
    """Prompts of this session that stand there too."""
    title: str = ""
    usage: Usage = Usage()
    cost: Decimal = Decimal(0)
    """What the copied requests used and cost. It was paid there, and is no part of this session's own figures."""


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    """One conversation, whole: live turns, abandoned branches, subagents, figures and problems."""

    id: str
    agent: str
    kind: SessionKind
    log: LogFile
    titles: Titles
    turns: tuple[Turn, ...]
    branches: tuple[Branch, ...]
    messages: tuple[Message, ...]
    agents: tuple[Agent, ...]
    side: tuple[SideLine, ...]
    problems: tuple[Problem, ...]
    lines: Lines
    todos: Todos
    live: tuple[str, ...] = ()
    """Ids of the lines the agent itself would load on resume, in order, since the last compaction."""
    project: str = ""
    cwd: str = ""
    branch: str = ""
    """The git branch it began on."""
    slug: str = ""
    versions: tuple[str, ...] = ()
    entrypoint: str = ""
    team: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    source: str = ""
    """The session log that its first prompt says it continues."""
    links: tuple[ChainLink, ...] = ()
    history: SharedHistory | None = None
    earlier: tuple["Session", ...] = ()
    """The conversation before it that other logs keep for it, oldest first. It is paid and found there."""
    elsewhere: tuple[Call, ...] = ()
    """Requests that only other versions of it made: they are paid with it, though it does not show them."""
    recorded: tuple[Push, ...] = ()
    """Pull requests that the log records beside the conversation."""
    reported_cost: str = ""
    """What the agent itself said it cost, in dollars; it counts calls the log does not hold."""
    reported_credits: str = ""
    """What the agent itself said it took of what it counts instead of dollars: how much of what."""
    window: int = 0
    """Tokens that the window of its last model holds, as the log says; 0 where it does not."""
    remote: str = ""
    """The web address of the repository that its folder is a checkout of, where that is known."""

    @property
    def title(self) -> str:
        return self.titles.best or self.id


class Overview(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a list shows of a session, read in one pass without keeping the log in memory."""

    id: str
    agent: str
    kind: SessionKind
    log: LogFile
    titles: Titles
    project: str = ""
    cwd: str = ""
    branch: str = ""
    slug: str = ""
    versions: tuple[str, ...] = ()
    started: datetime | None = None
    ended: datetime | None = None
    turns: int = 0
    """Prompts of every kind, abandoned branches included."""
    messages: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    """Calls that ran and failed."""
    tool_refusals: int = 0
    """Calls that a person or a rule did not let run, refused plans and questions included."""
    tool_interruptions: int = 0
    """Calls that were broken off, or cancelled with one beside them."""
    tool_unanswered: int = 0
    """Calls without a result."""
    agents: int = 0
    compactions: int = 0
    problems: int = 0
    lines: int = 0
    calls: tuple[Call, ...] = ()
    """Its own billed requests summed by model, tier and speed; subagents included, copied history not."""
    cost: Decimal = Decimal(0)
    """Dollars at list prices, of the requests whose model has a price."""
    unpriced: tuple[str, ...] = ()
    """Models without a known price that were used."""
    offered: tuple[int, ...] = ()
    """Keys of the plans put forward here."""
    open_plans: tuple[tuple[int, CallEnd], ...] = ()
    """Keys of the plans that were not approved here, and how their calls ended: another session may carry them out."""
    plan_open: bool = False
    """True where plans were put forward and none approved, as far as this log tells."""
    accepted: int = 0
    """Key of the plan that the first prompt implements."""
    summaries: dict[str, str] = {}
    """Summaries that describe other sessions, by the id of a line of theirs."""
    source: str = ""
    links: tuple[ChainLink, ...] = ()
    history: SharedHistory | None = None
    size: int = 0
    """Bytes of the log and its subagents' logs."""
    kept: bool = False
    """Whether only an archive still has its log."""

    @property
    def title(self) -> str:
        return self.titles.best or self.id

    @property
    def ends(self) -> Counter[CallEnd]:
        """How calls ended that did not go well."""
        return count_ends(self.tool_errors, self.tool_refusals, self.tool_interruptions, self.tool_unanswered)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(call.model for call in self.calls if call.model))

    @property
    def usage(self) -> Usage:
        total = Usage()
        for call in self.calls:
            total = total + call.usage
        return total
