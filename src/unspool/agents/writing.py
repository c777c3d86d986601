"""What a copy of a log may change, and what a validator finds, in words of no single agent."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from unspool.model import Json

Severity = Literal["error", "warning"]


class LintFinding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a log, and where."""

    rule: str
    """The rule that is broken, in kebab case."""
    line: int
    """The number of the line, from 1; 0 where it is the log as a whole."""
    message: str
    """A sentence: what is wrong, and what that means for going on with the session."""
    severity: Severity
    """error: the agent cannot go on with the session, or not with all of it; warning: odd, and harmless to that."""
    where: str = ""
    """The id of the line, message, call or other thing it is about."""


class RepairStep(msgspec.Struct, frozen=True):
    """One thing that a repair did."""

    rule: str
    """The rule that was broken before."""
    line: int
    """The number of the line in the damaged log, from 1."""
    message: str
    """A sentence: what was done, and why."""
    where: str = ""
    lost: bytes = b""
    """Bytes that the mended log does not hold any more."""


class RepairedLog(msgspec.Struct, frozen=True):
    """The lines of a log after a repair, each with its newline, and what was done to them."""

    lines: list[bytes]
    deeds: tuple[RepairStep, ...]


def errors(findings: list[LintFinding]) -> list[LintFinding]:
    """Those that keep a session from resuming."""
    return [finding for finding in findings if finding.severity == "error"]


Cut = Literal["remove", "truncate", "stub", "hide"]
"""What becomes of a call and its result: both go, both are shortened, the result is told in one line, or nothing of
the result is told."""


class Limits(NamedTuple):
    """How much of a text is left where it is truncated."""

    lines: int = 2
    chars: int = 120


HIDDEN = "[left out]"
STUB = "[left out: "
_MORE = "..."
_WORTH = 16
"""Characters that cutting must save, or it only does harm."""
_PLAIN = frozenset({"type", "id", "tool_use_id", "tool_name", "media_type"})


def truncate(text: str, limits: Limits) -> str:
    """The first lines and characters of a text, marked where something is missing."""
    if _fits(text, limits) or (text.endswith(_MORE) and _fits(text.removesuffix(_MORE), limits)):
        return text
    short = "\n".join(text.split("\n", limits.lines)[: limits.lines])[: limits.chars] + _MORE
    return short if len(text) - len(short) >= _WORTH else text


def _fits(text: str, limits: Limits) -> bool:
    return len(text) <= limits.chars and text.count("\n") < limits.lines


def shorten_value(value: Json, limits: Limits) -> Json:
    """Data with every text in it truncated; its shape stays, and so do names by which others refer to it."""
    if isinstance(value, str):
        return truncate(value, limits)
    if isinstance(value, list):
        return [shorten_value(inner, limits) for inner in value]
    if isinstance(value, dict):
        if value.get("type") in ("image", "document"):
            return value
        return {key: inner if key in _PLAIN else shorten_value(inner, limits) for key, inner in value.items()}
    return value


def stub_text(text: str) -> str:
    """One line in place of a text, telling how long it was."""
    told = f"{STUB}{len(text):,} characters]"
    return text if text.startswith(STUB) or len(text) <= len(told) else told


class Cuts(msgspec.Struct):
    """What is taken from the lines of a log, by the lines' own ids."""

    calls: dict[str, Cut] = {}
    """By the id of a call: what becomes of it and its result, wherever they stand."""
    gone: set[tuple[str, str]] = set()
    """(line, call): calls and results that go from that line alone, because another line has them."""
    thinking: set[str] = set()
    """Lines that lose their reasoning."""
    images: set[str] = set()
    """Lines that lose their pictures and documents."""
    news: set[str] = set()
    """Lines that tell what a background agent did, of which only the beginning stays."""
    untold: set[str] = set()
    """The same, of which nothing stays of what it found."""
    texts: dict[str, str] = {}
    """Lines whose words are replaced."""
    lines: set[str] = set()
    """Lines that go whole."""
    blank: set[str] = set()
    """Lines that lose texts with nothing in them."""
    twice: set[str] = set()
    """Lines that hold a call or a result more than once, of which the first stays."""
    limits: Limits = Limits()


class CopyIdentity(msgspec.Struct, frozen=True):
    """Who a copy is: its session, the one it comes from, and what becomes of every reference to a line."""

    session: str
    source: str
    ids: Mapping[str, str]
    """New ids by old, of the lines that the copy has, in its order."""
    before: Mapping[str, str]
    """For lines that it has not: the new id of the nearest one before; empty where there is none."""
    after: Mapping[str, str]
    """The same, of the nearest one behind."""
    now: str
    """The time of the copy, as the agent writes times; empty where it is as old as its original."""
    snapshots: bool = False
    """Whether the copies of files that the agent kept come along."""
    paths: tuple[tuple[str, str], ...] = ()
    """(old, new) folders, the longest first, that are renamed wherever they occur."""
    order: Mapping[str, int] = {}
    """The places of the new ids."""
    cut: frozenset[str] = frozenset()
    """Calls that are not whole in the copy: nothing may go along that says what they answered."""
    path: str = ""
    """Where the original lies."""


class LineLink(NamedTuple):
    """A line's place in a copy: its new id, the line it follows, and whether it belongs to its end."""

    line: str
    parent: str | None
    last: bool = False
    logical: str | None = None
    """For a compaction: the line it really goes on from."""


class CopiedLine(NamedTuple):
    """A line of a copy."""

    raw: bytes
    spoken: bool
    """Whether it is of the conversation: words, a call, an answer."""
    at: int
    """Where the line that it was made from stands in the original."""


class ListedCopy(NamedTuple):
    """What an agent's list of sessions says of a copy; times as the agent writes them."""

    title: str
    first_prompt: str
    messages: int
    started: str
    made: str
    branch: str
    cwd: str


class LogWriter(Protocol):
    """Makes lines of a log from lines of another."""

    def edited(self, raw: bytes, line: str, cuts: Cuts) -> bytes | None:
        """The line after the cuts: the same object where nothing changes, None where nothing is left."""

    def renewed(self, raw: bytes, identity: CopyIdentity, link: LineLink) -> bytes:
        """A line of the conversation in its new place."""

    def beside(self, raw: bytes, identity: CopyIdentity) -> bytes | None:
        """A line beside the conversation under its new ids; None where it must not be copied."""

    def new_session(self) -> str:
        """An id for a session that is to be."""

    def sequenced(self, lines: Iterable[CopiedLine], identity: CopyIdentity) -> Iterator[bytes]:
        """All lines of a copy, in its order, as they may follow one another."""

    def closing(self, identity: CopyIdentity, title: str) -> Iterator[bytes]:
        """The lines that end a copy, so that the agent lists it under its title."""

    def relocated(self, data: bytes, paths: tuple[tuple[str, str], ...]) -> bytes:
        """A file beside a log with folders renamed."""

    def moves(self, old: str, new: str, homes: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """What is renamed where a session goes from one working folder to another, and from one of the agent's folders
        to another."""

    def leans(self, parts: Iterable[object]) -> bool:
        """Whether later lines lean on an answer of these pieces, so that it must stay."""

    def is_request_record(self, raw: bytes) -> bool:
        """Whether a line only says again what others say, or gives digests of them: where those are redacted, it must
        not go with them."""

    def is_header(self, raw: bytes) -> bool:
        """Whether a line beside the conversation tells nothing of it, but whose it is, so that every copy needs it."""

    def is_local_record(self, raw: bytes) -> bool:
        """Whether a line of the conversation records what an agent was told by its own installation and account: it
        stays where it is, and an agent elsewhere says its own."""

    def binds(self, model: str) -> bool:
        """Whether a model's reasoning is only accepted behind the very words it was written behind."""

    def place(self, home: Path, cwd: str, session: str) -> Path:
        """Where below the agent's folder the log of a session in that folder lies."""

    def agent_place(self, folder: Path, name: str) -> Path:
        """Where in a session's own folder the log of a subagent lies, or what comes with it."""

    def register(self, log: Path, copy: ListedCopy) -> None:
        """Enter a copy that lies in the agent's folder where the agent lists its sessions, if it does."""

    def unregister(self, log: Path) -> None:
        """Take back what `register` did."""

    def lint(self, lines: Iterable[bytes], *, strict: bool) -> list[LintFinding]:
        """What keeps a log from being resumed; strictly, what a copy of ours must never show."""

    def mended(self, lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]]) -> RepairedLog:
        """A damaged log made one that can be resumed; `elsewhere` gives the parents of subagents' lines, by id."""
