"""What the tables of the hub hold of a session, drawn from the rows that every index is made of."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from unspool.figures import all_turns
from unspool.hub.store.full_text import MOST_CHARACTERS, text_vector
from unspool.model import Agent, Session, ToolCall
from unspool.prices.pico import MOST
from unspool.site.address import INDEX, Addresses
from unspool.store.index.requests import LogRows, SessionRows
from unspool.store.index.schema import KINDS
from unspool.store.library.chains import source_id

_FIGURE = 10**12
"""No true figure is larger; sums of many stay within what a database counts."""
_DEAREST = 10**17
"""Picodollars: what seems to cost more has no known price."""
_LONGEST = 300
"""Characters of a name: what is looked up by an index must not be long."""
_MODELS = 50


class SessionColumns(NamedTuple):
    """Columns of a session that its log tells."""

    agent: str
    title: str
    kind: str
    branch: str
    slug: str
    source: str
    started: int | None
    finished: int
    turns: int
    messages: int
    calls: int
    errors: int
    tokens: int
    cost: int
    unpriced: int
    models: tuple[str, ...]


class Passage(NamedTuple):
    """A text that is searched."""

    turn: int
    kind: str
    link: str
    body: str
    words: str
    """As PostgreSQL wants them; empty for SQLite, which cuts texts itself."""


class RequestRow(NamedTuple):
    """A billed request."""

    identity: str
    day: str
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int
    final: bool
    cost: int | None


def session_columns(rows: SessionRows) -> SessionColumns:
    told = rows.overview
    started, ended = _moment(told.started), _moment(told.ended)
    return SessionColumns(
        told.agent, _short(told.title), told.kind, _short(told.branch), _short(told.slug),
        _short(source_id(told.source)) if told.source else "", started, ended or started or 0,
        told.turns, told.messages, told.tool_calls, told.tool_errors, min(_FIGURE, told.usage.total),
        min(MOST, sum(_cost(row.cost) or 0 for row in rows.requests)),
        sum(_cost(row.cost) is None for row in rows.requests),
        tuple(map(_short, told.models[:_MODELS])),
    )  # fmt: skip


def passages(rows: SessionRows, session: Session, addresses: Addresses, dialect: str) -> Iterator[Passage]:
    """Every text, cut where it is too long for one place in a database."""
    links = _links(session, addresses)
    for log in rows.logs:
        for turn, kind, place, _, _, text in log.docs:
            titled = KINDS[kind] == "title"
            number = 0 if titled else log.turns[turn][0]
            link = INDEX if titled else _link(links, log, place, number, addresses)
            body = plain_text(text)
            for at in range(0, len(body), MOST_CHARACTERS):
                some = body[at : at + MOST_CHARACTERS]
                yield Passage(number, KINDS[kind], link, some, text_vector(some) if dialect == "postgresql" else "")


def requests(rows: SessionRows) -> Iterator[RequestRow]:
    """The billed requests, by what they are known by wherever they are copied to."""
    for row in rows.requests:
        input_, output, read, write, *_ = (min(_FIGURE, figure) for figure in row.figures)
        day = "" if row.time is None else _day(row.time)
        identity = f"{row.message:016x}{row.request:016x}"
        yield RequestRow(identity, day, _short(row.terms[0]), input_, output, read, write, row.final, _cost(row.cost))


def _cost(cost: int | None) -> int | None:
    return None if cost is None or cost > _DEAREST else cost


def _short(text: str) -> str:
    return plain_text(text[:_LONGEST])


def plain_text(text: str) -> str:
    """A text as every database takes it."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _moment(time: datetime | None) -> int | None:
    return None if time is None else int(time.timestamp() * 1000)


def _day(time: float) -> str:
    try:
        return datetime.fromtimestamp(time, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


def _links(session: Session, addresses: Addresses) -> dict[tuple[str, int], str]:
    """Where on its pages each line of a session and its subagents is told: by subagent and place."""
    links: dict[tuple[str, int], str] = {}
    waiting: list[tuple[str, Session]] = [("", session)]
    seen = {""}
    while waiting:
        agent, one = waiting.pop()
        for turn in all_turns(one):
            for item in ((turn.prompt,) if turn.prompt is not None else ()) + tuple(turn.blocks):
                link = addresses.link(item)
                links.setdefault((agent, item.place.offset), link)
                if isinstance(item, ToolCall) and item.result is not None:
                    links.setdefault((agent, item.result.place.offset), link)
        fresh: list[Agent] = [below for below in one.agents if below.id not in seen]
        seen.update(below.id for below in fresh)
        waiting.extend((below.id, below.session) for below in fresh)
    return links


def _link(links: dict[tuple[str, int], str], log: LogRows, place: int, turn: int, addresses: Addresses) -> str:
    return links.get((log.agent, place)) or (INDEX if log.agent else addresses.turn(turn))
