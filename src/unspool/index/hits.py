"""Rows of the index as hits that can be shown: text from the archive, what to highlight, where it leads."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import apsw
import msgspec

from unspool.formats import FORMATS
from unspool.index import texts
from unspool.index.results import FoundSession, Hit, Snippet
from unspool.index.schema import KINDS, PICO

COLUMNS = """
doc.id, doc.kind, doc.place, (SELECT text FROM name WHERE name.id = doc.tool), doc.error, turn.number, turn.time,
log.path, log.agent, log.generation
"""
"""What `Row` is made of, from `doc`, `turn` and `log`."""


class Row(NamedTuple):
    """A document that was found."""

    doc: int | None
    kind: int
    place: int
    tool: str | None
    error: int | None
    turn: int
    time: int | None
    log: str
    agent: str
    generation: int


class Store(Protocol):
    """What is needed of an archive."""

    def line(self, generation: int, place: int) -> bytes: ...

    def prepare(self, places: Iterable[tuple[int, int]]) -> None: ...

    def origins(self) -> dict[int, Any]: ...


class Seeker(Protocol):
    """Knows what is looked for in a text."""

    def pick(self, texts: Sequence[str]) -> Snippet | None:
        """The best piece of the best of the texts; None where none is what is looked for."""


class Told(NamedTuple):
    """A session as it is told of, before its hits."""

    key: str
    title: str
    project: str
    kind: str
    branch: str
    started: float | None
    ended: float | None
    cost: int
    agent: str
    overview: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """All that its title is searched by."""
        titles = self.overview.get("titles")
        others = [text for text in titles.values() if isinstance(text, str)] if isinstance(titles, dict) else []
        return tuple(dict.fromkeys(filter(None, (self.title, *others, self.branch, self.project))))


class Teller:
    """Tells of what was found."""

    def __init__(self, db: apsw.Connection, archive: Store, seeker: Seeker) -> None:
        self._db = db
        self._archive = archive
        self._seeker = seeker
        self._agents = {number: origin.agent for number, origin in archive.origins().items()}

    def prepare(self, rows: Iterable[Row]) -> None:
        """Make ready to tell of rows, all of them at once."""
        self._archive.prepare((row.generation, row.place) for row in rows if KINDS[row.kind] != "title")

    def told(self, session: int) -> Told:
        """What is known of a session."""
        query = (
            "SELECT key, title, project, kind, branch, started, ended, cost, origin, overview FROM session WHERE id = ?"
        )
        row: Any = self._db.execute(query, (session,)).fetchone()
        *plain, origin, overview = row
        known = msgspec.msgpack.decode(overview) if overview else {}
        agent = self._agents.get(origin, "")
        return Told._make((*plain, agent, known if isinstance(known, dict) else {}))

    def hit(self, row: Row, told: Told, raw: bytes | None = None) -> Hit | None:
        """The hit of a row; None where its text is not what is looked for. `raw`: its line, where it is at hand."""
        kind = KINDS[row.kind]
        if kind == "title":
            line = texts.Line(told.names)
        else:
            raw = self._archive.line(row.generation, row.place) if raw is None else raw
            line = texts.read(raw, told.agent, kind, row.tool or "")
        snippet = self._seeker.pick(line.texts)
        return None if snippet is None else _hit(row, told, snippet, line.time)

    def session(self, told: Told, hits: Iterable[Hit], count: int, score: float) -> FoundSession:
        """A session with its hits."""
        return FoundSession(
            told.key, told.title, told.project, told.kind, told.branch, told.started, told.ended,
            told.cost / PICO, round(score, 6), count, tuple(hits), _resume(told),
        )  # fmt: skip


def _hit(row: Row, told: Told, snippet: Snippet, time: datetime | None) -> Hit:
    moment = row.time if time is None else round(time.timestamp() * 1000)
    turn: int | None = row.turn
    if KINDS[row.kind] == "title":  # it is searched with the last turn, and of none
        moment = turn = None
    anchor = "" if moment is None else f"msg-{moment}"
    return Hit(
        KINDS[row.kind], snippet, turn, moment, anchor, row.tool or "", bool(row.error), row.agent, row.log,
        row.place, _link(told, anchor),
    )  # fmt: skip


def _link(told: Told, anchor: str) -> str:
    if told.kind == "ghost":
        return ""
    return f"unspool show {told.key} --at {anchor}" if anchor else f"unspool show {told.key}"


def _resume(told: Told) -> str:
    if told.kind == "ghost":
        return ""
    format_ = next((one for one in FORMATS if one.id == told.agent), FORMATS[0])
    cwd = told.overview.get("cwd") or told.project
    return format_.resume(told.key, cwd if isinstance(cwd, str) else "")
