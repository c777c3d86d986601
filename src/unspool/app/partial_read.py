"""Reads only the part of a long session that a page needs."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from unspool.agents import FoundLog, by_id
from unspool.agents.lines import Cursor
from unspool.app import open_session
from unspool.app.context import AppContext
from unspool.app.open_session import (
    OpenSession,
    SessionCache,
    SessionOutline,
    TurnPlace,
    indexed_overview,
    load_outline,
    locate_log,
    log_state,
)
from unspool.model import Event, Place, Prompt, Session, Titles, Transcript, Turn
from unspool.prices import PriceTable
from unspool.reading.assemble import assemble_session
from unspool.site.address import INDEX, Addresses
from unspool.site.options import SiteOptions
from unspool.site.session_navigation import RAIL_NEARBY
from unspool.store.library.inputs import open_log
from unspool.store.library.read import LogReader, log_file

_BEGINNING = 512 * 1024
_FIRST = re.compile(r"page-0\d\d\.html")
"""Pages that the beginning may hold."""


def is_long_log(found: FoundLog) -> bool:
    """Whether reading all of a log would be felt, and its beginning can be read by itself."""
    return found.size >= open_session.LONG and not found.origin and found.path.endswith(".jsonl")


def read_beginning(found: FoundLog, prices: PriceTable, path: str, options: SiteOptions) -> OpenSession | None:
    """What the beginning of a log tells, where that is enough for a page: the index, or turns that end in it."""
    if path != INDEX and not _FIRST.fullmatch(path):
        return None
    early = OpenSession(found, _session(found), prices, part=True)
    leaves = early.addresses(options).live.leaves
    whole = [leaf.path for leaf in leaves[:-1]]  # the last one may go on
    return early if whole and path in (INDEX, *whole) else None


def _session(found: FoundLog) -> Session:
    format_, reader = by_id(found.format), LogReader()
    parser = format_.parser(found)
    with open_log(found.path, _BEGINNING) as stream:
        entries = list(reader.entries(stream))
    ended = [entry for entry in entries if entry.place.offset < reader.cursor.offset]
    events = [parser.event(entry) for entry in ended]
    log = log_file(found.path, found.size)
    main = Transcript(events, parser.facts, log, reader.blank)
    session = assemble_session(main, [], format_.dialect(found, parser.facts), found.session_id)
    return msgspec.structs.replace(session, project=format_.project(parser.facts, found.folder))


_LINE = 256 * 1024
"""Bytes of a prompt's line that are read for the rail."""


def read_page_turns(context: AppContext, found: FoundLog, drawn: SessionOutline, path: str) -> OpenSession | None:
    """As much of a session as a page of its conversation needs; None where its lines alone do not tell that."""
    known = indexed_overview(context, found.session_id)
    stubs = tuple(Turn(stop.number, _stub(stop), ()) for stop in drawn.stops)
    with Path(found.path).open("rb") as stream:
        log = _Log(stream, found)
        empty = log.session(0, 0)
        if known is None or empty is None:
            return None
        whole = msgspec.structs.replace(
            empty, turns=stubs, titles=Titles(custom=known.title), cwd=known.cwd, kind=known.kind
        )
        leaves = Addresses(whole, context.options).live.leaves
        wanted = next((leaf.turns for leaf in leaves if leaf.path == path), ())
        if not wanted:
            return None
        first, last = stubs.index(wanted[0]), stubs.index(wanted[-1])
        told = log.told(drawn.stops, first, last)
        if told is None:
            return None
        near = [*range(max(0, first - RAIL_NEARBY), first), *range(last + 1, min(len(stubs), last + RAIL_NEARBY + 1))]
        turns = list(stubs)
        turns[first : last + 1] = told.turns
        for at in near:
            prompt = log.prompt(drawn.stops[at])
            turns[at] = msgspec.structs.replace(stubs[at], prompt=prompt) if prompt is not None else stubs[at]
    session = msgspec.structs.replace(whole, turns=tuple(turns), messages=told.messages)
    return OpenSession(found, session, context.prices, part=True)


class _Log:
    """A log of which pieces are read."""

    def __init__(self, stream: BinaryIO, found: FoundLog) -> None:
        self._stream, self._found = stream, found
        self._format = by_id(found.format)

    def told(self, stops: tuple[TurnPlace, ...], first: int, last: int) -> Session | None:
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
        return assemble_session(main, [], self._format.dialect(self._found, parser.facts), self._found.session_id)

    def prompt(self, stop: TurnPlace) -> Prompt | None:
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
        return LogReader().entries(BytesIO(data), cursor)


def _offset(turn: Turn) -> int:
    first = turn.prompt or next(iter(turn.blocks), None)
    return first.place.offset if first is not None else -1


def _stub(stop: TurnPlace) -> Prompt | None:
    return Prompt(Place(stop.line, stop.offset, 0), "text", "") if stop.asked else None


def get_session_for_page(context: AppContext, key: str, path: str) -> OpenSession:
    """A session, whole where it is short or held; of a long one, what the page needs, while the rest is read."""
    found, held = locate_log(context, key), context.part(SessionCache)
    if held.ready(found) is None and is_long_log(found):
        part = _part(context, found, path)
        held.begin(context, found)
        if part is not None:
            return part
    return held.whole(context, found)


def _part(context: AppContext, found: FoundLog, path: str) -> OpenSession | None:
    """What a page needs of a session that was read before, or the beginning of one that never was."""
    drawn = load_outline(log_state(found))
    told = read_page_turns(context, found, drawn, path) if drawn is not None else None
    return told or read_beginning(found, context.prices, path, context.options)
