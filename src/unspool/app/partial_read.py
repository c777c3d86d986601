"""Reads only the part of a long session that a page needs."""

import io
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from unspool.agents import Detail, FoundLog, by_id
from unspool.agents.lines import Cursor
from unspool.app import open_session
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, SessionCache, indexed_overview, locate_log
from unspool.model import Facts, Place, Prompt, Session, Transcript, Turn
from unspool.reading.scan import Scan
from unspool.reading.skeleton import TurnPlace
from unspool.site.address import INDEX, Addresses
from unspool.site.session_navigation import RAIL_NEARBY
from unspool.store.library.read import assemble, log_file, read_transcript, scan_log

_BEGINNING = 512 * 1024
_LINE = 256 * 1024
"""Bytes of a prompt's line that are read for the rail."""


def is_long_log(found: FoundLog) -> bool:
    """Whether reading all of a log would be felt, and a part of it can be read by itself."""
    reads_on = found.path.endswith(".jsonl") and not by_id(found.agent_id).reads_whole
    return found.size >= open_session.LONG and not found.origin and reads_on


def get_session_for_page(context: AppContext, key: str, path: str) -> OpenSession:
    """A session, whole where it is short or held; of a long one, what the page needs, while the rest is read."""
    found, held = locate_log(context, key), context.part(SessionCache)
    if held.ready(found) is None and is_long_log(found):
        part = _beginning(context, found) if path == INDEX else _page(context, found, path)
        held.begin(context, found)
        if part is not None:
            key = context.session_key(found.agent_id, found.session_id)
            return OpenSession(found, part.session, context.prices, part.prompts, key=key)
    return held.whole(context, found)


class _PartlyRead(NamedTuple):
    session: Session
    prompts: int
    """Of the whole session, as far as that is known."""


def _beginning(context: AppContext, found: FoundLog) -> _PartlyRead | None:
    """What the beginning of a log tells; None where that is no more than a page."""
    agent = by_id(found.agent_id)
    session = assemble(agent, found, read_transcript(found.path, agent, found, _BEGINNING), [])
    if len(Addresses(session, context.options).live.leaves) <= 1:
        return None
    known = indexed_overview(context, context.session_key(found.agent_id, found.session_id))
    return _PartlyRead(session, known.turns if known is not None else 0)


def _page(context: AppContext, found: FoundLog, path: str) -> _PartlyRead | None:
    """The session with the turns of a page, and of the others the prompts near them; None where its turns cannot be
    read by themselves, because they do not stand in the log one after the other."""
    scan, facts = scan_log(found, places=True)
    places = scan.numbered(facts).prompts
    if scan.opens:
        places = (TurnPlace(0, 0, 1), *places)
    with Path(found.path).open("rb") as stream:
        part = _Part(stream, found, places)
        whole = part.outline(scan, facts)
        leaves = Addresses(whole, context.options).live.leaves
        wanted = next((leaf.turns for leaf in leaves if leaf.path == path), ())
        if not wanted:
            return None
        first, last = whole.turns.index(wanted[0]), whole.turns.index(wanted[-1])
        read = part.read(first, last)
        if read is None:
            return None
        turns = list(whole.turns)
        turns[first : last + 1] = read.turns
        near = [*range(max(0, first - RAIL_NEARBY), first), *range(last + 1, min(len(turns), last + RAIL_NEARBY + 1))]
        for at in near:
            turns[at] = part.with_prompt(turns[at], places[at])
    session = msgspec.structs.replace(whole, turns=tuple(turns), messages=read.messages)
    return _PartlyRead(session, scan.overview(found.session_id, facts, session.log).turns)


class _Part:
    """Some turns of a log, read from where they stand."""

    def __init__(self, stream: BinaryIO, found: FoundLog, places: tuple[TurnPlace, ...]) -> None:
        self._stream, self._found, self._places = stream, found, places
        self._agent = by_id(found.agent_id)

    def outline(self, scan: Scan, facts: Facts) -> Session:
        """The session with its turns, and nothing in them."""
        turns = []
        for place in self._places:
            prompt = Prompt(Place(place.line, place.offset, 0), "text", "") if place.number else None
            turns.append(Turn(place.number, prompt, ()))
        empty, titles, kind = self._session(b"", Cursor()), scan.titles(facts), scan.kind(facts)
        return msgspec.structs.replace(empty, turns=tuple(turns), titles=titles, kind=kind, cwd=facts.cwd)

    def read(self, first: int, last: int) -> Session | None:
        """The turns from one to another, with their numbers; None where the lines between tell something else.

        The prompt after them is read too: it shows which way the conversation went on.
        """
        start, following = self._places[first], self._places[last + 1 : last + 2]
        self._stream.seek(start.offset)
        data = self._stream.read(following[0].offset - start.offset) if following else self._stream.read()
        if following:
            data += self._stream.readline()
        session = self._session(data, Cursor(start.offset, start.line))
        wanted = [*self._places[first : last + 1], *following]
        if len(session.turns) != len(wanted):
            return None
        turns = []
        for turn, place in zip(session.turns, wanted, strict=True):
            if (turn.prompt is None) != (place.number == 0):
                return None
            if turn.prompt is not None and turn.prompt.place.offset != place.offset:
                return None
            turns.append(msgspec.structs.replace(turn, number=place.number))
        return msgspec.structs.replace(session, turns=tuple(turns[: last - first + 1]))

    def with_prompt(self, turn: Turn, place: TurnPlace) -> Turn:
        self._stream.seek(place.offset)
        line = io.BytesIO(self._stream.readline(_LINE))
        events = self._agent.events(line, start=Cursor(place.offset, place.line), detail=Detail.FIGURES)
        prompt = next((event.prompt for event in events if event.prompt is not None), None)
        return turn if prompt is None or not place.number else msgspec.structs.replace(turn, prompt=prompt)

    def _session(self, data: bytes, start: Cursor) -> Session:
        events = self._agent.events(io.BytesIO(data), self._found, start)
        log = log_file(self._found.path, self._found.size)
        return assemble(self._agent, self._found, Transcript(list(events), events.facts, log), [])
