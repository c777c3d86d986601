"""Lines of a log under construction: envelope, clock, seeded ids, parents and token counts."""

import base64
import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

Fields = dict[str, Any]


def version_numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that compare: "2.1.30" comes after "2.1.4"."""
    return tuple(int(part) for part in version.partition("-")[0].split("."))


@dataclass(frozen=True, kw_only=True)
class DemoTokens:
    """What one request cost; `hour` is the part of `write` cached for an hour."""

    input: int = 4
    output: int = 120
    read: int = 0
    write: int = 0
    hour: int = 0
    thinking: int = 0
    searches: int = 0
    fetches: int = 0
    speed: str = "standard"
    tier: str = "standard"
    geo: str = "not_available"
    advice: tuple[tuple[str, "DemoTokens"], ...] = ()
    """What each advisor that was asked used, with its model."""

    def output_of(self, output: int) -> "DemoTokens":
        """The same request with another output figure."""
        return replace(self, output=output)

    def wire(self, version: str) -> Fields:
        """The `usage` object as that version writes it."""
        since = version_numbers(version)
        fields: Fields = {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.write,
            "cache_read_input_tokens": self.read,
            "output_tokens": self.output,
            "service_tier": self.tier,
        }
        if since >= (1, 0, 56):
            fields["server_tool_use"] = {"web_search_requests": self.searches, "web_fetch_requests": self.fetches}
        if since >= (1, 0, 80):
            fields["cache_creation"] = self._lifetimes()
        if since >= (2, 1, 17):
            fields["inference_geo"] = self.geo
        if since >= (2, 1, 38):
            asked = [{**used._iteration(), "type": "advisor_message", "model": model} for model, used in self.advice]
            fields["iterations"] = [self._iteration(), *asked]
        if since >= (2, 1, 41):
            fields["speed"] = self.speed
        if since >= (2, 1, 228):
            fields["output_tokens_details"] = {"thinking_tokens": self.thinking}
        return fields

    def _lifetimes(self) -> Fields:
        return {"ephemeral_5m_input_tokens": self.write - self.hour, "ephemeral_1h_input_tokens": self.hour}

    def _iteration(self) -> Fields:
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.write,
            "cache_creation": self._lifetimes(),
            "type": "message",
        }


_LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class SeededIds:
    """An endless, repeatable supply of ids."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def _bytes(self, length: int = 32) -> bytes:
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}:{self._drawn}".encode()).digest(length)

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int.from_bytes(self._bytes(8)) % (high - low + 1)

    def uuid(self) -> str:
        return str(UUID(bytes=self._bytes(16), version=4))

    def hexes(self, length: int) -> str:
        """Hexadecimal digits, as in agent and background task ids."""
        return self._bytes(length).hex()[:length]

    def message(self) -> str:
        """A message id of the API."""
        return f"msg_01{self._letters(22)}"

    def request(self) -> str:
        """A request id of the API."""
        return f"req_011C{self._letters(20)}"

    def tool(self) -> str:
        return f"toolu_01{self._letters(22)}"

    def signature(self) -> str:
        """What seals a thinking block: opaque base64."""
        return base64.b64encode(self._bytes(120)).decode("ascii")

    def _letters(self, length: int) -> str:
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in self._bytes(length))


START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(kw_only=True, eq=False)
class LogLines:
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
        self.ids = SeededIds(f"{self.seed}/{self.session_id}/{self.agent}")
        self.session_id = self.session_id or self.ids.uuid()
        self.now = self.start
        self.last: str | None = None
        self.lines: list[Fields | bytes] = []
        self.files: dict[str, bytes] = {}
        self.children: list[LogLines] = []
        self.sidecar: Fields = {}
        self.prompt_id = self.ids.uuid()
        self.context = 0
        self.lines_of_calls: dict[str, str] = {}
        self.request_ref = ""
        """The id of the request that the next answer answers, where it was written down."""

    def since(self, version: str) -> bool:
        """True when this log is written by that version or a later one."""
        return version_numbers(self.version) >= version_numbers(version)

    def wait(self, seconds: float) -> Self:
        """Let time pass before the next line."""
        self.now += timedelta(seconds=seconds)
        return self

    def at(self, moment: datetime) -> Self:
        self.now = moment
        return self

    def tick(self) -> str:
        """A moment later, as Claude Code writes times."""
        self.now += timedelta(milliseconds=int(self.ids.number(180, 2600) * self.pace))
        return format_time(self.now)

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


def format_time(moment: datetime) -> str:
    """A time as Claude Code writes it: UTC, milliseconds, Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def encode_line(line: Fields) -> bytes:
    """One compact JSON line; a lone surrogate is written as its escape, as JavaScript does."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def encode_path(cwd: str) -> str:
    """The folder name that Claude Code makes of a working directory."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in cwd)
