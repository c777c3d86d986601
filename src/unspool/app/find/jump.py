"""From a place in a log to the page that shows it: `/s/{key}/at/{anchor}`.

Anchors of pages come from blocks, and a search knows lines: the answer to a call has no anchor of its own, and of two
lines of one moment the anchor of the second ends with a number. So the line's place tells which one is meant, its
moment where no place is given, and the turn that had begun by then where no block is of that moment.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from unspool.app.find.shown import session_href
from unspool.app.reading.held import reading
from unspool.figures import all_turns
from unspool.model import Result, Session, ToolCall
from unspool.site.address import Addresses, Item

if TYPE_CHECKING:
    from unspool.app.desk import Desk

_ANCHOR = re.compile(r"(?:msg-(\d{1,15})|line-\d{1,15})(?:-\d{1,9})?")


def at(request: Request) -> RedirectResponse:
    """Leads to the page and block that an anchor means; to the session's first page where there is none."""
    key, anchor = request.path_params["key"], request.path_params["anchor"]
    desk: Desk = request.app.state.desk
    told = reading(desk, key)
    place = request.query_params.get("place", "")
    line = int(place) if place.isascii() and place.isdigit() and len(place) < 16 else None
    meant = Line(anchor, line, request.query_params.get("agent", ""))
    link = found(told.session, told.addresses(desk.options), meant)
    return RedirectResponse(session_href(key) + link, 302)


class Line(NamedTuple):
    """What is known of the line that is looked for."""

    anchor: str
    place: int | None = None
    """Byte offset in its log."""
    agent: str = ""
    """The subagent whose log it is in."""


def found(session: Session, addresses: Addresses, line: Line) -> str:
    """The address, below the session's, of the block that a line is part of; empty where there is none."""
    known = _ANCHOR.fullmatch(line.anchor)
    if known is None:
        return ""
    moment = int(known[1]) if known[1] else None
    items = list(_items(_member(session, addresses, line.agent)))
    for fits in (
        lambda item: line.place in _places(item),
        lambda item: addresses.anchor(item) == line.anchor,
        lambda item: moment in _moments(item),
    ):
        meant = next(filter(fits, items), None)
        if meant is not None:
            return addresses.link(meant)
    return "" if moment is None else _begun(session, addresses, moment)


def _member(session: Session, addresses: Addresses, agent: str) -> Session:
    chapter = addresses.agents.get(agent)
    return chapter.agent.session if chapter is not None and chapter.agent is not None else session


def _items(session: Session) -> Iterator[Item]:
    for turn in all_turns(session):
        if turn.prompt is not None:
            yield turn.prompt
        yield from turn.blocks


def _results(item: Item) -> tuple[Result, ...]:
    if not isinstance(item, ToolCall):
        return ()
    return (*item.earlier, item.result) if item.result is not None else item.earlier


def _places(item: Item) -> list[int]:
    return [item.place.offset, *(result.place.offset for result in _results(item))]


def _moments(item: Item) -> list[int]:
    return [milliseconds(one.time) for one in (item, *_results(item)) if one.time is not None]


def _begun(session: Session, addresses: Addresses, moment: int) -> str:
    """The last turn that had begun: copies of a line are told once, so not every moment has a block."""
    begun = [turn.number for turn in session.turns if turn.started and milliseconds(turn.started) <= moment]
    return addresses.turn(max(begun)) if begun else ""


def milliseconds(time: datetime) -> int:
    """A moment as anchors have it."""
    return round(time.timestamp() * 1000)


ROUTES = [Route("/s/{key}/at/{anchor}", at)]
