"""Rows of the index as hits, with their text from the archive."""

import io
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import msgspec

from unspool.agents import Detail, by_id, is_known, resume_command
from unspool.agents.lines import line_entries
from unspool.model import Event, Notice, Result, Text, Thinking, ToolCall, Unknown
from unspool.store.index.results import FoundSession, Hit, Snippet
from unspool.store.index.schema import KINDS, PICO

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

_BLOCKS: dict[str, tuple[type, ...]] = {
    "answer": (Text,),
    "thinking": (Thinking,),
    "call": (ToolCall,),
    "result": (Result,),
    "notice": (Notice, Unknown),
}


_LARGEST_ITEM = 1 << 20
"""Bytes of an item of a document that are read for what was found in it."""


class TextLine(NamedTuple):
    """A line of a log, understood: the texts in it that may be meant, and when it was written."""

    texts: tuple[str, ...]
    time: datetime | None = None


def read_text(raw: bytes, agent: str, kind: str, tool: str = "") -> TextLine:
    """The texts of one kind on a line; every text on it where none is of that kind, and the line itself at last."""
    events = list(by_id(agent).events(io.BytesIO(raw), detail=Detail.TEXTS)) if is_known(agent) else []
    event = next(iter(events), None)
    if event is None or event.kind == "problem":
        return TextLine((raw.decode(errors="replace").strip(),))
    texts = tuple(text for one in events for text in _texts(one, kind, tool))
    if not texts:
        texts = tuple(text for entry in line_entries(raw) for text in text_strings(entry.data))
    return TextLine(texts or ("",), event.time)


def _texts(event: Event, kind: str, tool: str) -> tuple[str, ...]:
    if kind == "prompt" and event.prompt is not None:
        prompt = event.prompt
        return (f"{prompt.command} {prompt.arguments}\n{prompt.words}" if prompt.command else prompt.words,)
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
    turn: int | None
    branch: int
    time: int | None
    log: str
    agent: str
    generation: int


Seeker = Callable[[Sequence[str]], Snippet | None]
"""Gives the best piece of the best of some texts; None where none is what is looked for."""


class HitSession(NamedTuple):
    """A session that may have hits: as it is found but for them, its agent, and all that its title is searched by."""

    found: FoundSession
    agent: str
    names: tuple[str, ...]


class HitBuilder:
    """Makes hits of rows, with their texts from the archive."""

    def __init__(self, db: apsw.Connection, archive: "ArchiveDatabase", seeker: Seeker) -> None:
        self._db = db
        self._archive = archive
        self._seeker = seeker
        self._agents = {number: origin.agent for number, origin in archive.origins().items()}

    def prepare(self, rows: Iterable[HitRow]) -> None:
        """Make ready to read the lines of rows, all of them at once."""
        self._archive.prepare((row.generation, row.place) for row in rows if KINDS[row.kind] != "title")

    def load(self, session: int) -> HitSession:
        query = (
            "SELECT key, title, project, kind, branch, started, ended, cost, unpriced + open > 0, origin, overview"
            " FROM session WHERE id = ?"
        )
        row: Any = self._db.execute(query, (session,)).fetchone()
        key, title, project, kind, branch, started, ended, cost, floor, origin, packed = row
        decoded = msgspec.msgpack.decode(packed) if packed else {}
        overview = decoded if isinstance(decoded, dict) else {}
        agent, cwd, titles = self._agents.get(origin, ""), overview.get("cwd") or project, overview.get("titles")
        others = [text for text in titles.values() if isinstance(text, str)] if isinstance(titles, dict) else []
        names = tuple(dict.fromkeys(filter(None, (title, *others, branch, project))))
        resume = "" if kind == "ghost" else resume_command(agent, key, cwd if isinstance(cwd, str) else "")
        named = (key, title, project, kind, branch, started, ended, cost / PICO)
        return HitSession(FoundSession(*named, 0.0, 0, (), resume, bool(floor), agent), agent, names)

    def hit(self, row: HitRow, session: HitSession, raw: bytes | None = None) -> Hit | None:
        """The hit of a row; None where its text is not what is looked for. `raw`: its line, where it is at hand."""
        kind, moment, turn = KINDS[row.kind], row.time, row.turn
        if kind == "title":  # it is searched with the last turn, and of none
            texts, moment, turn = session.names, None, None
        else:
            raw = self._line(row, session.agent) if raw is None else raw
            texts, time = read_text(raw, session.agent, kind, row.tool or "")
            moment = moment if time is None else round(time.timestamp() * 1000)
        snippet = self._seeker(texts)
        if snippet is None:
            return None
        anchor = "" if moment is None else f"msg-{moment}"
        link = f"unspool show {session.found.session}" + (f" --at {anchor}" if anchor else "")
        return Hit(
            kind, snippet, turn, moment, anchor, row.tool or "", bool(row.error), row.agent, row.log, row.place,
            link, branch=row.branch,
        )  # fmt: skip

    def _line(self, row: HitRow, agent: str) -> bytes:
        """The line of a row; in a document, the item that begins there, however many lines it stands on."""
        line = self._archive.line(row.generation, row.place)
        if not is_known(agent) or not by_id(agent).reads_whole or line.rstrip().endswith(b"}"):
            return line
        text = self._archive.read(row.generation, row.place, _LARGEST_ITEM).decode(errors="replace")
        try:
            _, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return line
        return text[:end].encode()

    def session(self, session: HitSession, hits: Iterable[Hit], count: int, score: float) -> FoundSession:
        return msgspec.structs.replace(session.found, hits=tuple(hits), count=count, score=round(score, 6))
