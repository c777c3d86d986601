"""What an agent's format offers to the rest."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from unspool.formats.found import Companion, Found, FoundAgent
from unspool.model import AgentSource, Dialect, Entry, Event, Facts, Transcript


class Decoder(Protocol):
    """Turns the bytes of a line into plain data."""

    def decode(self, raw: bytes, /) -> Any: ...


class Parser(Protocol):
    """Understands the entries of one log, in order."""

    facts: Facts

    def event(self, entry: Entry) -> Event: ...


class Format(Protocol):
    """One agent's logs: where they are and what they say."""

    id: str
    name: str

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Where the agent keeps its files."""

    def discover(self, root: Path) -> Iterator[Found]:
        """The sessions below a folder."""

    def companions(self, found: Found, slug: str) -> list[Companion]:
        """Files of a session that are no logs."""

    def parser(self, found: Found | None) -> Parser:
        """A fresh reader of one log; `found` gives it the log's companions."""

    def skimmer(self, whole: frozenset[str] = frozenset()) -> Decoder:
        """A decoder for passes that only count; answers to the calls named come whole."""

    def dialect(self, found: Found | None, facts: Facts) -> Dialect:
        """What its tools mean, for one session."""

    def agent(self, found: FoundAgent, transcript: Transcript) -> AgentSource:
        """A subagent's log with what its sidecar says."""

    def project(self, facts: Facts, folder: str) -> str:
        """The path of the project a session belongs to."""

    def sniff(self, data: dict[str, Any]) -> bool:
        """Whether an entry is one of this format's."""
