"""What is handed over of a session, in words of no single agent, and what takes it over."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import msgspec

from unspool.model import Image, Json, Usage


class HandedPrompt(NamedTuple):
    """What the user said."""

    words: str
    time: datetime
    images: tuple[Image, ...]


class HandedCall(NamedTuple):
    """A call as the other agent would make it, with its answer."""

    id: str
    name: str
    given: dict[str, Json]
    answer: str
    failed: bool


class HandedAnswer(NamedTuple):
    """What the model said and did in one go."""

    words: str
    calls: tuple[HandedCall, ...]
    model: str
    time: datetime
    thoughts: tuple[str, ...] = ()
    usage: Usage | None = None


Step = HandedPrompt | HandedAnswer


class NewSession(NamedTuple):
    """Who the new session is."""

    id: str
    cwd: str
    title: str
    branch: str
    started: datetime


class SessionTaker(Protocol):
    """Writes what is handed over as a session that its agent resumes."""

    def tool(self, role: str, given: dict[str, Json]) -> tuple[str, dict[str, Json]] | None:
        """The agent's tool, and its input, for what a role was asked to do; None where it has none such."""

    def new_id(self) -> str:
        """The id of a new session."""

    def place(self, home: Path, new: NewSession) -> Path:
        """Where the session lies below the agent's folder."""

    def lines(self, new: NewSession, steps: list[Step]) -> Iterator[bytes]:
        """The session's file."""

    def command(self, new: NewSession, path: Path) -> str:
        """The shell command that goes on with it; empty where it is the agent's usual one."""


def id_by_time() -> str:
    """A UUID that sorts by its time, of version 7."""
    milliseconds, chance = int(time.time() * 1000), int.from_bytes(os.urandom(10))
    number = milliseconds << 80 | 0x7 << 76 | (chance >> 68) << 64 | 0b10 << 62 | chance & (1 << 62) - 1
    return str(UUID(int=number))


def texts(given: dict[str, Json], *names: str) -> dict[str, Json] | None:
    """These fields of an input, where all of them are texts."""
    found = {name: given.get(name) for name in names}
    return found if all(isinstance(value, str) for value in found.values()) else None


def listed_todos(given: dict[str, Json]) -> list[tuple[str, str]] | None:
    """The words and the state of each thing to do of an input; None where it holds no such list."""
    if not isinstance(given.get("todos"), list):
        return None
    items = [one for one in given["todos"] if isinstance(one, dict) and isinstance(one.get("content"), str)]
    return [(one["content"], str(one.get("status") or "pending")) for one in items]


def stamp(moment: datetime) -> str:
    """A time as most agents write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_line(value: dict[str, Any]) -> bytes:
    return msgspec.json.encode(value) + b"\n"
