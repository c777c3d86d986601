"""One page of a long session, from its own lines: where these lie, an outline tells.

What is told elsewhere in the log is not known here (subagents, answers that came many turns later, other branches):
the page says that it is a part, and is looked over once all of the session has been read.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from unspool.app.desk import Desk
from unspool.app.reading.locate import overview
from unspool.app.reading.outline import Outline, Stop
from unspool.app.reading.told import Reading
from unspool.formats import Found, by_id
from unspool.formats.lines import Cursor
from unspool.library.read import Reader, log_file
from unspool.model import Event, Place, Prompt, Session, Titles, Transcript, Turn
from unspool.site.address import Addresses
from unspool.site.rail import NEAR
from unspool.turns.assemble import assemble

_LINE = 256 * 1024
"""Bytes of a prompt's line that are read for the rail."""


def portion(desk: Desk, found: Found, drawn: Outline, path: str) -> Reading | None:
    """As much of a session as a page of its conversation needs; None where its lines alone do not tell that."""
    known = overview(desk, found.session_id)
    stubs = tuple(Turn(stop.number, _stub(stop), ()) for stop in drawn.stops)
    with Path(found.path).open("rb") as stream:
        log = _Log(stream, found)
        empty = log.session(0, 0)
        if known is None or empty is None:
            return None
        whole = msgspec.structs.replace(
            empty, turns=stubs, titles=Titles(custom=known.title), cwd=known.cwd, kind=known.kind
        )
        leaves = Addresses(whole, desk.options).live.leaves
        wanted = next((leaf.turns for leaf in leaves if leaf.path == path), ())
        if not wanted:
            return None
        first, last = stubs.index(wanted[0]), stubs.index(wanted[-1])
        told = log.told(drawn.stops, first, last)
        if told is None:
            return None
        near = [*range(max(0, first - NEAR), first), *range(last + 1, min(len(stubs), last + NEAR + 1))]
        turns = list(stubs)
        turns[first : last + 1] = told.turns
        for at in near:
            prompt = log.prompt(drawn.stops[at])
            turns[at] = msgspec.structs.replace(stubs[at], prompt=prompt) if prompt is not None else stubs[at]
    session = msgspec.structs.replace(whole, turns=tuple(turns), messages=told.messages)
    return Reading(found, session, desk.prices, part=True)


class _Log:
    """A log of which pieces are read."""

    def __init__(self, stream: BinaryIO, found: Found) -> None:
        self._stream, self._found = stream, found
        self._format = by_id(found.format)

    def told(self, stops: tuple[Stop, ...], first: int, last: int) -> Session | None:
        """The turns from one to another, with their numbers; None where the lines between tell something else.

        The prompt after them is read too: it shows which way the conversation went on.
        """
        start, following = stops[first], stops[last + 1] if last + 1 < len(stops) else None
        data = self._bytes(start.offset, following.offset if following is not None else None)
        if following is not None:
            data += self._stream.readline()
        session = self.session(start.offset, start.line, data)
        wanted = stops[first : last + (1 if following is None else 2)]
        if session is None or [_offset(turn) for turn in session.turns] != [stop.offset for stop in wanted]:
            return None
        turns = tuple(
            msgspec.structs.replace(turn, number=stop.number)
            for turn, stop in zip(session.turns, stops[first : last + 1], strict=False)
        )
        return msgspec.structs.replace(session, turns=turns)

    def session(self, offset: int, line: int, data: bytes = b"") -> Session | None:
        parser = self._format.parser(self._found)
        events = [parser.event(entry) for entry in self._entries(data, Cursor(offset, line))]
        main = Transcript(events, parser.facts, log_file(self._found.path, self._found.size))
        return assemble(main, [], self._format.dialect(self._found, parser.facts), self._found.session_id)

    def prompt(self, stop: Stop) -> Prompt | None:
        """The prompt of a turn that is not told here, for its words."""
        self._stream.seek(stop.offset)
        data = self._stream.readline(_LINE)
        parser = self._format.parser(self._found)
        events: Iterator[Event] = map(parser.event, self._entries(data, Cursor(stop.offset, stop.line)))
        return next((event.prompt for event in events if event.prompt is not None), None) if stop.asked else None

    def _bytes(self, start: int, end: int | None) -> bytes:
        self._stream.seek(start)
        return self._stream.read() if end is None else self._stream.read(end - start)

    @staticmethod
    def _entries(data: bytes, cursor: Cursor) -> Iterator[Any]:
        return Reader().entries(BytesIO(data), cursor)


def _offset(turn: Turn) -> int:
    first = turn.prompt or next(iter(turn.blocks), None)
    return first.place.offset if first is not None else -1


def _stub(stop: Stop) -> Prompt | None:
    return Prompt(Place(stop.line, stop.offset, 0), "text", "") if stop.asked else None
