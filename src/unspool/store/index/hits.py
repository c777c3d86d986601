"""Rows of the index as hits, with their text from the archive."""

import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import apsw
import msgspec

from unspool.agents import Detail, by_id, is_known, resume_command
from unspool.agents.lines import line_entries
from unspool.model import Event, Notice, Result, Text, Thinking, ToolCall, Unknown
from unspool.store.index.results import FoundSession, Hit, Snippet
from unspool.store.index.schema import KINDS, PICO

_BLOCKS: dict[str, tuple[type, ...]] = {
    "answer": (Text,),
    "thinking": (Thinking,),
    "call": (ToolCall,),
    "result": (Result,),
    "notice": (Notice, Unknown),
}


class TextLine(NamedTuple):
    """A line of a log, understood: the texts in it that may be meant, and when it was written."""

    texts: tuple[str, ...]
    time: datetime | None = None


def read_text(raw: bytes, agent: str, kind: str, tool: str = "") -> TextLine:
    """The texts of one kind on a line; every text on it where none is of that kind, and the line itself at last."""
    events = by_id(agent).events(io.BytesIO(raw), detail=Detail.TEXTS) if is_known(agent) else ()
    event = next(iter(events), None)
    if event is None or event.kind == "problem":
        return TextLine((raw.decode(errors="replace").strip(),))
    texts = _texts(event, kind, tool)
    if not texts:
        texts = tuple(text for entry in line_entries(raw) for text in text_strings(entry.data))
    return TextLine(texts or ("",), event.time)


def _texts(event: Event, kind: str, tool: str) -> tuple[str, ...]:
    if kind == "prompt" and event.prompt is not None:
        prompt = event.prompt
        return (f"{prompt.command} {prompt.arguments}\n{prompt.text}" if prompt.command else prompt.text,)
    blocks: list[Any] = [block for block in event.blocks if isinstance(block, _BLOCKS.get(kind, ()))]
    named = [block for block in blocks if tool and getattr(block, "name", "") == tool]
    found = [_text(block) for block in named or blocks]
    if kind == "notice" and event.side is not None:
        found += [text for text in (event.side.data.get("content"),) if isinstance(text, str)]
    return tuple(filter(None, found))


def _text(block: Any) -> str:
    if isinstance(block, ToolCall):
        return "\n".join(text_strings(block.input))
    if isinstance(block, Unknown):
        return "\n".join(text_strings(block.data))
    text: str = block.text
    return text


def text_strings(data: Any) -> list[str]:
    """Every string in plain data, in order."""
    found: list[str] = []
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
    return found


COLUMNS = """
doc.id, doc.kind, doc.place, (SELECT text FROM name WHERE name.id = doc.tool), doc.error, turn.number, turn.branch,
turn.time, log.path, log.agent, log.generation
"""
"""What `Row` is made of, from `doc`, `turn` and `log`."""


class HitRow(NamedTuple):
    """A document that was found."""

    doc: int | None
    kind: int
    place: int
    tool: str | None
    error: int | None
    turn: int
    branch: int
    time: int | None
    log: str
    agent: str
    generation: int


class TextStore(Protocol):
    """What is needed of an archive."""

    def line(self, generation: int, place: int) -> bytes: ...

    def prepare(self, places: Iterable[tuple[int, int]]) -> None: ...

    def origins(self) -> dict[int, Any]: ...


class Seeker(Protocol):
    """Knows what is looked for in a text."""

    def pick(self, texts: Sequence[str]) -> Snippet | None:
        """The best piece of the best of the texts; None where none is what is looked for."""


class HitText(NamedTuple):
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


class HitBuilder:
    """Tells of what was found."""

    def __init__(self, db: apsw.Connection, archive: TextStore, seeker: Seeker) -> None:
        self._db = db
        self._archive = archive
        self._seeker = seeker
        self._agents = {number: origin.agent for number, origin in archive.origins().items()}

    def prepare(self, rows: Iterable[HitRow]) -> None:
        """Make ready to tell of rows, all of them at once."""
        self._archive.prepare((row.generation, row.place) for row in rows if KINDS[row.kind] != "title")

    def told(self, session: int) -> HitText:
        """What is known of a session."""
        query = (
            "SELECT key, title, project, kind, branch, started, ended, cost, origin, overview FROM session WHERE id = ?"
        )
        row: Any = self._db.execute(query, (session,)).fetchone()
        *plain, origin, overview = row
        known = msgspec.msgpack.decode(overview) if overview else {}
        agent = self._agents.get(origin, "")
        return HitText._make((*plain, agent, known if isinstance(known, dict) else {}))

    def hit(self, row: HitRow, told: HitText, raw: bytes | None = None) -> Hit | None:
        """The hit of a row; None where its text is not what is looked for. `raw`: its line, where it is at hand."""
        kind = KINDS[row.kind]
        if kind == "title":
            line = TextLine(told.names)
        else:
            raw = self._archive.line(row.generation, row.place) if raw is None else raw
            line = read_text(raw, told.agent, kind, row.tool or "")
        snippet = self._seeker.pick(line.texts)
        return None if snippet is None else _hit(row, told, snippet, line.time)

    def session(self, told: HitText, hits: Iterable[Hit], count: int, score: float) -> FoundSession:
        """A session with its hits."""
        return FoundSession(
            told.key, told.title, told.project, told.kind, told.branch, told.started, told.ended,
            told.cost / PICO, round(score, 6), count, tuple(hits), _resume(told),
        )  # fmt: skip


def _hit(row: HitRow, told: HitText, snippet: Snippet, time: datetime | None) -> Hit:
    moment = row.time if time is None else round(time.timestamp() * 1000)
    turn: int | None = row.turn
    if KINDS[row.kind] == "title":  # it is searched with the last turn, and of none
        moment = turn = None
    anchor = "" if moment is None else f"msg-{moment}"
    return Hit(
        KINDS[row.kind], snippet, turn, moment, anchor, row.tool or "", bool(row.error), row.agent, row.log,
        row.place, _link(told, anchor), branch=row.branch,
    )  # fmt: skip


def _link(told: HitText, anchor: str) -> str:
    if told.kind == "ghost":
        return ""
    return f"unspool show {told.key} --at {anchor}" if anchor else f"unspool show {told.key}"


def _resume(told: HitText) -> str:
    if told.kind == "ghost":
        return ""
    cwd = told.overview.get("cwd") or told.project
    return resume_command(told.agent, told.key, cwd if isinstance(cwd, str) else "")
