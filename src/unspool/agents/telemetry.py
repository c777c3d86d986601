"""What an observer of agents is told of a session, and the interface by which it is named: by common conventions, or
as an agent that tells observers of its work itself names it, so that old sessions stand beside new ones."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple, Protocol

import msgspec

from unspool.model import Notice, Prompt, Session, ToolCall, Usage

AttributeValue = str | int | float | bool | list[str]
Attributes = dict[str, AttributeValue]


class ObservedTurn(msgspec.Struct, frozen=True):
    """A prompt, of a person or to a subagent, with the time that it took."""

    session: Session
    number: int
    prompt: Prompt | None
    subagent: str
    """Whose prompt it is; empty for the session's own."""
    subagent_kind: str
    model: str
    """The model that answered first."""
    branch: int
    """The way that was left on which it stands; 0 for the live one."""
    time: datetime
    milliseconds: int


class ObservedRequest(msgspec.Struct, frozen=True):
    """One request to a model. An answer that took several is told with its first."""

    session: Session
    model: str
    usage: Usage
    cost: Decimal | None
    message: str
    request: str
    stop: str
    effort: str
    speed: str
    subagent: str
    compacted: bool
    """Whether the conversation was compacted just before."""
    heard: tuple[Prompt | ToolCall | Notice, ...]
    """What came since the answer before: prompts, notices, and calls by their results."""
    thoughts: str
    words: str
    calls: tuple[ToolCall, ...]
    time: datetime
    milliseconds: int


class ObservedCall(msgspec.Struct, frozen=True):
    """One use of a tool."""

    session: Session
    call: ToolCall
    subagent: str
    time: datetime
    milliseconds: int


class ObservedNotice(msgspec.Struct, frozen=True):
    """What happened around the conversation."""

    session: Session
    notice: Notice
    subagent: str
    time: datetime


Observed = ObservedTurn | ObservedRequest | ObservedCall | ObservedNotice


class SpanShape(NamedTuple):
    """What a span is called, and what it says."""

    name: str
    attributes: Attributes
    remote: bool = False
    """Whether it waited for another machine."""


class EventShape(NamedTuple):
    """What a log record is called, and what it says."""

    name: str
    attributes: Attributes


class TelemetryNames(Protocol):
    """Names of spans and events. `content`: whether words may be told, and not only shapes."""

    def service(self, session: Session) -> str:
        """Who says all this."""

    def shared(self, session: Session) -> Attributes:
        """What every span and event of a session says."""

    def turn(self, turn: ObservedTurn, *, content: bool) -> SpanShape | None:
        """The span of a turn; None where what is in it stands directly below what began it."""

    def request(self, request: ObservedRequest, *, content: bool) -> SpanShape:
        """The span of a request."""

    def call(self, call: ObservedCall, *, content: bool) -> SpanShape:
        """The span of a tool call."""

    def events(self, what: Observed, *, content: bool) -> Iterator[EventShape]:
        """The events that tell of the same."""
