"""A request to a model as its agent wrote it down: the exact window that an answer was given in."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Protocol

import msgspec

from unspool.model.blocks import Block, Prompt, Result


class SentMessage(msgspec.Struct, frozen=True):
    """One message of a request."""

    role: str
    prompt: Prompt | None = None
    blocks: tuple[Block | Result, ...] = ()
    answer: str = ""
    """The id of the answer that it repeats, where it is one of this log."""
    known: bool = True


class SentRequest(msgspec.Struct, frozen=True):
    """A whole request."""

    id: str
    model: str
    time: datetime | None
    purpose: str
    """What the agent says it was for: the conversation, a compaction, a title, ..."""
    system: tuple[str, ...]
    tools: tuple[dict[str, Any], ...]
    """Definitions, each with `name`."""
    messages: tuple[SentMessage, ...]
    parameters: dict[str, Any]
    body: dict[str, Any]
    """What went to the model's provider, as data."""
    complete: bool
    """Whether the log holds all of it."""


class RecordedRequests(Protocol):
    """The requests that a log keeps whole. Messages that several requests share are held once."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]:
        """Ids, in the order of the log."""

    def get(self, request: str) -> SentRequest | None:
        """A request by its id, or by the first characters of it."""

    def message_keys(self, request: str) -> tuple[str, ...]:
        """Names of its messages, each the same wherever the same message was sent."""

    def message(self, key: str) -> SentMessage:
        """The message of that name."""

    def frame(self, request: str) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]] | None:
        """System prompt and definitions of tools; None where the log does not hold them."""
