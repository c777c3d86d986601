"""The lines of one log in the making: envelope, clock, ids, and which line the next one hangs below.

Everything a version of Claude Code puts around a message is decided here; what a line says is decided by
the classes built on this one. The same calls give the same bytes.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from unspool.demo.ids import Ids
from unspool.demo.usage import Fields, number

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(kw_only=True, eq=False)
class Chain:
    """One log: who wrote it, where and when, and its lines so far."""

    session_id: str = ""
    cwd: str = "/home/dev/harbour"
    version: str = "2.1.230"
    start: datetime = START
    slug: str = ""
    branch: str = "main"
    entrypoint: str = "cli"
    model: str = "claude-opus-4-8"
    seed: str = "unspool"
    home: str = "/home/dev/.claude"
    mode: str = "default"
    pace: float = 1.0
    """How much time passes from line to line: 1 is about a second and a half."""
    agent: str = ""
    """The id of the subagent whose log this is."""
    sidechain: bool = False

    def __post_init__(self) -> None:
        self.ids = Ids(f"{self.seed}/{self.session_id}/{self.agent}")
        self.session_id = self.session_id or self.ids.uuid()
        self.now = self.start
        self.last: str | None = None
        self.lines: list[Fields | bytes] = []
        self.files: dict[str, bytes] = {}
        self.children: list[Chain] = []
        self.sidecar: Fields = {}
        self.prompt_id = self.ids.uuid()
        self.context = 0
        self.lines_of_calls: dict[str, str] = {}
        self.request_ref = ""
        """The id of the request that the next answer answers, where it was written down."""

    def since(self, version: str) -> bool:
        """True when this log is written by that version or a later one."""
        return number(self.version) >= number(version)

    def wait(self, seconds: float) -> Self:
        """Let time pass before the next line."""
        self.now += timedelta(seconds=seconds)
        return self

    def at(self, moment: datetime) -> Self:
        """Set the clock."""
        self.now = moment
        return self

    def tick(self) -> str:
        """A moment later, as Claude Code writes times."""
        self.now += timedelta(milliseconds=int(self.ids.number(180, 2600) * self.pace))
        return stamp(self.now)

    def put(self, payload: Fields, extra: Fields | None = None) -> Self:
        """Append a chain line; `extra` adds top-level fields or overrides any, even uuid and parentUuid."""
        links: Fields = {"parentUuid": self.last, "isSidechain": self.sidechain}
        own = {"uuid": self.ids.uuid(), "timestamp": self.tick()}
        if self.since("2.1.76"):
            line = {**links, **self._agent(), **payload, **own, **self._envelope()}
        else:
            line = {**links, **self._envelope(), **self._agent(), **payload, **own}
        line.update(extra or {})
        self.lines.append(line)
        self.last = line["uuid"]
        return self

    def side(self, kind: str, **fields: Any) -> Self:
        """Append a line without a place in the chain; the session id is added where that type carries one."""
        owner = {} if kind in _UNOWNED or "sessionId" in fields else {"sessionId": self.session_id}
        self.lines.append({"type": kind, **fields, **owner})
        return self

    def raw(self, data: bytes) -> Self:
        """Append bytes as they are, without a newline: torn, foreign or broken lines."""
        self.lines.append(data)
        return self

    def rewind(self, to: str | None) -> Self:
        """Hang the next line below an earlier one, as Esc Esc does: what followed becomes a branch."""
        self.last = to
        return self

    def file(self, path: str, data: bytes) -> Self:
        """Keep another file beside the log; the path is relative to the agent's home."""
        self.files[path] = data
        return self

    @property
    def folder(self) -> str:
        """The project's folder below the agent's home."""
        return f"projects/{encode_path(self.cwd)}"

    @property
    def path(self) -> str:
        """Where the log stands below the agent's home; subagents moved twice over the versions."""
        if not self.agent:
            return f"{self.folder}/{self.session_id}.jsonl"
        owner = f"{self.session_id}/subagents/" if self.since("2.1.2") else ""
        return f"{self.folder}/{owner}agent-{self.agent}.jsonl"

    def to_bytes(self) -> bytes:
        """The log as it stands on disk."""
        return b"".join(line if isinstance(line, bytes) else encode_line(line) for line in self.lines)

    def _agent(self) -> Fields:
        return {"agentId": self.agent} if self.agent else {}

    def _envelope(self) -> Fields:
        fields: Fields = {"session_id": self.session_id} if self.since("2.1.204") else {}
        fields["userType"] = "external"
        if self.since("2.1.76"):
            fields["entrypoint"] = self.entrypoint
        fields.update(cwd=self.cwd, sessionId=self.session_id, version=self.version, gitBranch=self.branch)
        return {**fields, "slug": self.slug} if self.slug else fields


_UNOWNED = {"summary", "file-history-snapshot", "file-history-delta"}


def stamp(moment: datetime) -> str:
    """A time as Claude Code writes it: UTC, milliseconds, Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def encode_line(line: Fields) -> bytes:
    """One compact JSON line; a lone surrogate is written as its escape, as JavaScript does."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def encode_path(cwd: str) -> str:
    """The folder name that Claude Code makes of a working directory."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in cwd)
