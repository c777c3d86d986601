"""What a format says of each entry: the neutral form that turns, overviews and clones are made from."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from unspool.model.blocks import Block, Plan, Prompt, Questionnaire, Result, Todo, Todos, ToolCall
from unspool.model.entry import Place, Problem
from unspool.model.session import LogFile, SideLine
from unspool.model.usage import Call, Usage

EventKind = Literal["prompt", "message", "result", "notice", "side", "problem"]


BY_PLACE = "line-"
"""How the id of a line begins that has none of its own."""


def id_by_place(place: Place) -> str:
    """The id of a line that has none of its own."""
    return f"{BY_PLACE}{place.line}.{place.offset}"


class Part(msgspec.Struct, frozen=True, gc=False):
    """The message an event carries a piece of."""

    message: str
    request: str
    model: str
    usage: Usage | None
    stop: str = ""
    index: int = -1
    """Position of the piece in its message, where the log says; else -1."""
    synthetic: bool = False
    aborted: bool = False
    effort: str = ""
    speed: str = ""
    tier: str = ""
    geo: str = ""
    request_ref: str = ""
    """The id under which the log keeps the request itself."""
    advice: tuple[Call, ...] = ()
    """Requests of other models that it asked on its way; `usage` does not hold them."""


class Preserved(NamedTuple):
    """Earlier lines that a compaction keeps, by id: from one to another, or others by themselves."""

    head: str = ""
    tail: str = ""
    lines: tuple[str, ...] = ()
    anchor: str = ""
    """The line that they follow from then on."""


class Event(msgspec.Struct):
    """One entry, understood line by line; what needs other lines is settled later."""

    kind: EventKind
    place: Place
    id: str = ""
    parent: str | None = None
    logical: str = ""
    """For a compaction boundary: the line it really continues."""
    boundary: bool = False
    link: bool = False
    """True where the log gave no parent at all, so that the line follows the one before it."""
    time: datetime | None = None
    sidechain: bool = False
    agent: str = ""
    nested: "Event | None" = None
    """A subagent's line that this one repeats. It tells something new only of a subagent without a log of its own."""
    spawner: str = ""
    """The call that started the subagent this line belongs to, where the line says so."""
    meta: bool = False
    team: bool = False
    turn: bool = False
    """A user or assistant line: it may be the tip of the conversation."""
    rewinds: bool = False
    """The conversation goes on from the line that it follows: what followed that one before was left."""
    blocks: tuple[Block | Result, ...] = ()
    prompt: Prompt | None = None
    part: Part | None = None
    side: SideLine | None = None
    problem: Problem | None = None
    answers: str = ""
    """Id of the line that holds the call this one answers, where the line says so."""
    retracts: tuple[str, ...] = ()
    clears: bool = False
    """A prompt that empties the context: what follows begins anew, and belongs to the same conversation."""
    preserved: Preserved | None = None
    """For a compaction boundary: the earlier lines that the agent still loads behind it."""
    copied: bool = False
    """The line says itself that it only repeats another session's: it tells no usage, which was paid there."""


def calls_in(events: Iterable[Event], logged: Collection[str] = ()) -> Iterator[Call]:
    """A call for each event that tells of a billed request; copies of one request may follow one another. Subagents
    that have a log of their own are `logged`: what other logs repeat of them is left out."""
    for event in events:
        yield from _calls(event)
        if event.nested is not None and event.nested.agent not in logged:
            yield from _calls(event.nested)


def _calls(event: Event) -> Iterator[Call]:
    if (part := event.part) is not None and part.usage is not None and not part.synthetic:
        used = msgspec.structs.replace(part.usage, floor=not part.stop)
        yield Call(f"{part.message}:{part.request}", part.model, used, event.time, part.speed, part.tier, part.geo)
        yield from part.advice


class HistoryBase(msgspec.Struct, frozen=True):
    """Where the conversation before a log's first line is: at the beginning of another log."""

    log: str
    """What the name of that log ends with, but for its extension."""
    end: int
    """The bytes of it, unpacked, that belong to the conversation."""


class LoadedFile(NamedTuple):
    """A context file that the log says the model was told."""

    path: str
    digest: str
    """Of its words, as `words_digest` has it; empty where the log tells only that it was loaded."""


def words_digest(text: str) -> str:
    """What tells the words of a file from others, whatever stands around them."""
    from hashlib import sha256  # dear to load, and few logs hold such words

    return sha256(text.strip().encode(errors="surrogatepass")).hexdigest()[:16]


_MOST_LOADED = 500


class Facts(msgspec.Struct):
    """What the lines of a log say of the session as a whole; the last word wins unless said otherwise."""

    session: str = ""
    cwd: str = ""
    cwds: dict[str, int] = {}
    branch: str = ""
    slug: str = ""
    versions: dict[str, None] = {}
    entrypoint: str = ""
    team: str = ""
    background: bool = False
    headless: bool = False
    custom_title: str = ""
    generated_title: str = ""
    agent_name: str = ""
    summaries: dict[str, str] = {}
    """Summary texts by the id of the line they describe."""
    moved_to: str = ""
    relocated: str = ""
    worktree_of: str = ""
    forked_from: str = ""
    base: HistoryBase | None = None
    first_mode: str = ""
    reported_cost: str = ""
    reported_credits: str = ""
    window: int = 0
    started: datetime | None = None
    ended: datetime | None = None
    agents: dict[str, str] = {}
    """Subagent ids by the call that started them, as progress lines tell."""
    queue: list[tuple[str, str, Place, datetime | None]] = []
    """(operation, text, place, time) of every record of the prompt queue."""
    links: list[dict[str, Any]] = []
    """Pull requests recorded: number, url, repository, time."""
    loaded: dict[LoadedFile, datetime | None] = {}
    """Context files that the model was told, and when first."""

    def note_loaded(self, path: str, words: str, time: datetime | None) -> None:
        """Note that a context file was loaded, with these words where the log has them."""
        if path and len(self.loaded) < _MOST_LOADED:
            self.loaded.setdefault(LoadedFile(path, words_digest(words) if words.strip() else ""), time)


class Transcript(msgspec.Struct):
    """One log, read: its events in order and what they say together."""

    events: list[Event]
    facts: Facts
    log: LogFile
    blank: int = 0


class AgentSource(msgspec.Struct):
    """A subagent's log and what is known of it beside the log."""

    id: str
    transcript: Transcript
    kind: str = ""
    description: str = ""
    call_id: str = ""
    parent: str = ""
    name: str = ""
    status: str = ""


class AgentDetails(msgspec.Struct, frozen=True):
    """What the call that started a subagent says of it."""

    kind: str = ""
    description: str = ""
    background: bool = False


class Dialect(Protocol):
    """What only the format of an agent can tell of calls that were paired with their results."""

    agent: str

    @property
    def named(self) -> Collection[str]:
        """Files below the agent's folder, of no single session, that were looked for so far, there or not."""

    def note(self, call: ToolCall) -> None:
        """Hear of a call that wrote a file, in order, before later calls are asked about."""

    def plan(self, call: ToolCall) -> Plan | None:
        """The plan a call put forward."""

    def questions(self, call: ToolCall) -> Questionnaire | None:
        """The questions a call asked, with answers."""

    def todos(self, call: ToolCall, before: dict[str, Todo]) -> Todos | None:
        """The list after a call; `before` holds the items by key and is brought up to date."""

    def agent_ids(self, call: ToolCall) -> tuple[str, ...]:
        """Subagents a call's result names."""

    def agent_prompt(self, call: ToolCall) -> str:
        """What a call told its subagent."""

    def agent_details(self, call: ToolCall) -> AgentDetails:
        """What a call says of the subagent it started."""

    def state(self, result: Result) -> str:
        """How a call that has this result ended."""
