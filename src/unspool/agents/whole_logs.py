"""Logs that are understood only when they were read to their end: documents, and lines that replace earlier ones."""

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import BinaryIO, TypeVar

import msgspec

from unspool.agents.lines import Cursor, LogEvents, is_blank, read_entries, scrub, widen_span
from unspool.model import Entry, Event, Facts, Json, Place, Problem, SideLine

_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])
_decode = msgspec.json.Decoder().decode
T = TypeVar("T")


class WholeLogParser(ABC):
    """Understands all entries of a log together. What an agent adds is `understand`."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.blank = 0
        """Lines without anything in them."""

    @abstractmethod
    def understand(self, entries: Sequence[Entry]) -> Iterator[Event]:
        """The events of entries that hold data, in the order in which things happened. An entry may give several, at
        its place; one that gives none, because a later one replaces it, is kept beside the conversation."""

    def entries(self, data: bytes, start: Cursor) -> Iterable[Entry]:
        """What the bytes of a log hold; an agent whose logs are documents takes them apart by `document_entries`."""
        lines = list(io.BytesIO(data))
        if len(lines) > 1 and data.lstrip().startswith(b"{") and (whole := one_object(data, start)) is not None:
            return [whole]
        self.blank = sum(map(is_blank, lines))
        return read_entries(lines, start)

    def note_time(self, time: datetime | None) -> None:
        """A session lasts from its first record to its last."""
        widen_span(self.facts, time)


def one_object(data: bytes, start: Cursor) -> Entry | None:
    """An object that stands on several lines, alone; None where it does not."""
    try:
        value = _decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(value, dict):
        return None
    scrub(value)
    blank = len(data) - len(data.lstrip())
    place = Place(start.line + data.count(b"\n", 0, blank), start.offset + blank, len(data) - blank)
    return Entry(place, data[blank:], value)


class WholeLogEvents(LogEvents):
    """The events of such a log; nothing of it is missing, whatever its parser passes over."""

    def __init__(self, parser: WholeLogParser, stream: BinaryIO, start: Cursor | None = None) -> None:
        self._whole, self._bytes = parser, stream
        self.facts, self.blank = parser.facts, 0
        self.cursor = start or Cursor()
        self.size = self.cursor.offset
        self.is_document = True
        """Whether what was read cannot be read on from where it ended."""

    def __iter__(self) -> Iterator[Event]:
        data = self._bytes.read()
        self.size = self.cursor.offset + len(data)
        entries = list(self._whole.entries(data, self.cursor))
        self.blank = self._whole.blank
        waiting = {(one.place.line, one.place.offset): one for one in entries}
        for event in self._whole.understand([one for one in entries if one.data is not None]):
            entry = waiting.pop((event.place.line, event.place.offset), None)
            if entry is not None and entry.problem:
                event.problem = Problem(entry.place, entry.problem, entry.raw, mended=True)
            yield event
        for entry in waiting.values():
            yield _beside(entry)

    def more(self, stream: BinaryIO) -> list[Event]:
        """Nothing: what came may change what was read, so that the log is to be read anew."""
        return []


def _beside(entry: Entry) -> Event:
    place, data = entry.place, entry.data
    if data is None:
        return Event("problem", place, problem=Problem(place, entry.problem, entry.raw))
    kind = data.get("type") or data.get("kind")
    event = Event("side", place, side=SideLine(place, kind if isinstance(kind, str) else "line", data))
    if entry.problem:
        event.problem = Problem(place, entry.problem, entry.raw, mended=True)
    return event


def document_entries(data: bytes, *holders: str) -> list[Entry] | None:
    """A document that is an object: first an entry of all but its lists called `holders`, then one of each item of
    those; None where it is no object with such a list."""
    try:
        parts = _parts.decode(data.removeprefix(b"\xef\xbb\xbf"))
        lists = {
            name: _list.decode(parts[name]) for name in holders if bytes(parts.get(name, b"")).lstrip()[:1] == b"["
        }
        if not lists:
            return None
        head: dict[str, Json] = {name: _decode(value) for name, value in parts.items() if name not in lists}
        scrub(head)
        items = [(bytes(item), _decode(item)) for name in holders for item in lists.get(name, ())]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    found, offset, line, counted = [Entry(Place(1, 0, len(data)), b"", head)], 0, 1, 0
    for raw, value in items:
        offset = max(0, data.find(raw, offset))
        line += data.count(b"\n", counted, offset)
        counted = offset
        if isinstance(value, dict):
            scrub(value)
            found.append(Entry(Place(line, offset, len(raw)), raw, value))
        else:
            found.append(Entry(Place(line, offset, len(raw)), raw, None, "not an object"))
        offset += len(raw)
    return found


class Chain:
    """Puts the lines of a log that names no parents behind one another."""

    def __init__(self, last: str | None = None) -> None:
        self._live = last
        """The last line of the conversation as it stands; what was taken back hangs on the one before it."""
        self._undone: str | None = None

    def follow(self, event: Event, *, removed: bool = False) -> Event:
        """Put a line behind the last one; one that was taken back behind the others that were."""
        if removed:
            event.parent = self._undone or self._live
            self._undone = event.id
        else:
            event.parent, self._live, self._undone = self._live, event.id, None
        return event


def with_abandoned(
    live: Sequence[T], abandoned: Sequence[T], time: Callable[[T], datetime | None], last: int = -1
) -> Iterator[tuple[T, bool]]:
    """What is live, in order, and before it what was abandoned earlier, marked so; what tells no time stands before the
    `last` of those that are live."""
    if not live:
        yield from ((one, False) for one in abandoned)
        return
    times = [time(one) for one in abandoned]
    timed = sorted((then, number) for number, then in enumerate(times) if then is not None)
    untimed = [one for one, then in zip(abandoned, times, strict=True) if then is None]
    at = 0
    for number, one in enumerate(live):
        now, is_last = time(one), number == last % len(live)
        while at < len(timed) and (is_last or (now is not None and timed[at][0] < now)):
            yield abandoned[timed[at][1]], True
            at += 1
        yield from ((other, True) for other in untimed if is_last)
        yield one, False


class Record:
    """The last state of a record that lines tell several times, at the place of its first."""

    __slots__ = ("data", "entry", "id", "kind", "removed", "states")

    def __init__(self, kind: str, id: str, entry: Entry) -> None:  # noqa: A002  the field's name
        self.kind, self.id, self.entry = kind, id, entry
        self.data: Json = None
        self.removed = False
        self.states = 0


def last_states(entries: Iterable[Entry]) -> list[Record]:
    """The records of lines `{"kind", "id", "data"}`, each as the last line has it, in the order of their first; a line
    with `"removed": true` says that the agent's store does not hold it any more."""
    found: dict[tuple[str, str], Record] = {}
    for entry in entries:
        line = entry.data or {}
        kind, name = line.get("kind"), line.get("id")
        if not isinstance(kind, str) or not isinstance(name, str):
            continue
        record = found.get((kind, name))
        if record is None:
            record = found[kind, name] = Record(kind, name, entry)
        record.states += 1
        record.removed = line.get("removed") is True
        if not record.removed:
            record.data, record.entry = line.get("data"), entry
    return list(found.values())
