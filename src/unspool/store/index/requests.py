"""Billed requests counted once, and the rows that a sync hands to the index."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import apsw
import msgspec

from unspool.model import Call, Overview, Todo, Usage
from unspool.model.events import LoadedFile
from unspool.prices import MOST, PriceTable
from unspool.store.index.schema import PICO

_FIGURES = (
    "input", "output", "cache_read", "cache_write", "cache_write_1h", "web_searches", "web_fetches", "reasoning",
)  # fmt: skip
_SAID = (*_FIGURES, "final", "time", "cost")
_FINAL, _TIME, _COST = len(_FIGURES), len(_FIGURES) + 1, len(_FIGURES) + 2
_SHARED = (
    "SELECT DISTINCT mine.message FROM request AS mine WHERE mine.session = ? AND EXISTS"
    " (SELECT 1 FROM request AS other WHERE other.message = mine.message AND other.session <> mine.session)"
)
_OWN = ", ".join(f"iif(own.session IS NULL, request.{name}, own.{name})" for name in _SAID)
_BESIDE_OWN = """
request LEFT JOIN own
ON own.session = request.session AND own.message = request.message AND own.request = request.request
"""
_COPIES = f"""
SELECT request.rowid, request.session, request.message, request.request, terms, counts, own.session IS NOT NULL, {_OWN}
FROM {_BESIDE_OWN} JOIN session ON session.id = request.session
WHERE request.message = ? ORDER BY coalesce(started, 9e99), forked, coalesce(ended, 9e99), key, session.origin,
session.path, request.rowid
"""  # noqa: S608  names of columns
_OF_SESSION = f"""
SELECT request.message, request.request, model, speed, tier, geo, {_OWN}
FROM {_BESIDE_OWN} JOIN terms ON terms.id = request.terms WHERE request.session = ?
"""  # noqa: S608
_SET = f"UPDATE request SET counts = ?, {', '.join(f'{name} = ?' for name in _SAID)} WHERE rowid = ?"  # noqa: S608
_PUT_OWN = f"INSERT OR REPLACE INTO own(session, message, request, {', '.join(_SAID)}) VALUES(?{', ?' * 13})"
_DROP_OWN = "DELETE FROM own WHERE session = ? AND message = ? AND request = ?"
_HALF, _WHOLE = 1 << 63, 1 << 64


class CacheRewrite(NamedTuple):
    """Tokens that a request wrote to the cache although they had been there."""

    cause: int
    tokens: int
    cost: int | None
    """Picodollars that it cost more than to read them; None where no price is known."""


class BilledRequest(NamedTuple):
    """One row of the table, before it knows its session."""

    message: int
    request: int
    time: float | None
    terms: tuple[str, str, str, str]
    figures: tuple[int, ...]
    final: bool
    agent: int
    """Number of the subagent's log; 0 for the session's own."""
    cost: int | None
    again: CacheRewrite | None = None

    @property
    def usage(self) -> Usage:
        return _usage(self.figures, self.final)


class _Copy(NamedTuple):
    """A request as one session tells of it."""

    row: int
    ids: tuple[int, int, int]
    """Session, message, request."""
    terms: int
    counts: int
    raised: bool
    """Whether its row holds what another copy says."""
    said: tuple[Any, ...]


class RowNumbers:
    """Rows of texts that are kept once and meant by their number; they are read when one is first asked for."""

    def __init__(self, db: apsw.Connection, table: str, *columns: str) -> None:
        self._db, names = db, ", ".join(columns)
        self._select = f"SELECT id, {names} FROM {table}"  # noqa: S608  our own names
        self._insert = f"INSERT INTO {table}({names}) VALUES({', '.join('?' * len(columns))})"
        self._known: dict[tuple[Any, ...], int] = {}

    def number(self, *texts: str) -> int:
        if not self._known:
            self._known = {tuple(known): number for number, *known in self._db.execute(self._select)}
        known = self._known.get(texts)
        if known is None:
            texts = tuple(text.encode(errors="replace").decode() for text in texts)
            known = self._known.get(texts)
        if known is None:
            self._db.execute(self._insert, texts)
            known = self._known[texts] = self._db.last_insert_rowid()
        return known


class BilledRequests:
    """Writes requests and decides which copy counts."""

    def __init__(self, db: apsw.Connection, prices: PriceTable | None = None) -> None:
        self._db = db
        self._prices = prices
        self._terms = RowNumbers(db, "terms", "model", "speed", "tier", "geo")
        self._touched: set[int] = set()
        self._left: set[int] = set()

    def put(self, session: int, requests: Sequence[BilledRequest], agents: Mapping[int, int]) -> None:
        """Write the requests of a session that has none."""
        terms = {named: self._terms.number(*named) for named in dict.fromkeys([row.terms for row in requests])}
        self._db.executemany(
            "INSERT INTO request VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
            [
                (
                    session, signed(message), signed(request), time, terms[named], *figures, int(final),
                    agents.get(agent), cost,
                )
                for message, request, time, named, figures, final, agent, cost, _ in requests
            ],
        )  # fmt: skip
        self._db.executemany(
            "INSERT INTO rewrite VALUES(?, ?, ?, ?, ?, ?)",
            (
                (session, signed(row.message), signed(row.request), *row.again)
                for row in requests
                if row.again is not None
            ),
        )
        self._touched.add(session)

    def leave(self, session: int) -> None:
        """Prepare for the requests of a session to be taken out: copies of them elsewhere are to count."""
        self._left.update(message for (message,) in self._db.execute(_SHARED, (session,)))

    def settle(self) -> set[int]:
        """Decide for everything that was written since the last time which copy of a request counts; the sessions
        that have any of those requests."""
        for session in self._touched:
            self.leave(session)
        for message in self._left:
            self._recount(message)
        query = "SELECT DISTINCT session FROM request WHERE message IN (SELECT value FROM json_each(?))"
        sharing = {session for (session,) in self._db.execute(query, (json.dumps(list(self._left)),))}
        self._touched.clear()
        self._left.clear()
        return sharing

    def _recount(self, message: int) -> None:
        """Let the session that began first hold what all copies of a message's requests say, and count alone."""
        rows: list[Any] = self._db.execute(_COPIES, (message,)).fetchall()
        copies = [_Copy(row[0], row[1:4], row[4], row[5], bool(row[6]), row[7:]) for row in rows]
        for first, *others in _grouped(copies):
            self._say(first, 1, self._joined([first, *others]) if others else first.said)
            for copy in others:
                self._say(copy, 0, copy.said)

    def _say(self, copy: _Copy, counts: int, said: tuple[Any, ...]) -> None:
        """Have a row say something; what its own session says is kept where it differs."""
        raised = said != copy.said
        if not raised and not copy.raised and counts == copy.counts:
            return
        self._db.execute(_SET, (counts, *said, copy.row))
        if raised:
            self._db.execute(_PUT_OWN, (*copy.ids, *copy.said))
        elif copy.raised:
            self._db.execute(_DROP_OWN, copy.ids)

    def _joined(self, copies: Sequence[_Copy]) -> tuple[Any, ...]:
        """What copies say together: the larger of each figure, the earliest time, and what that costs."""
        figures = tuple(max(column) for column in zip(*(copy.said[:_TIME] for copy in copies), strict=True))
        time = min((copy.said[_TIME] for copy in copies if copy.said[_TIME] is not None), default=None)
        terms = copies[0].terms
        for copy in copies:
            if (*copy.said[:_COST], copy.terms) == (*figures, time, terms):
                return copy.said
        return (*figures, time, self._cost(figures, time, terms))

    def _cost(self, figures: tuple[int, ...], time: float | None, terms: int) -> int | None:
        self._prices = self._prices or PriceTable.load()
        query = "SELECT model, speed, tier, geo FROM terms WHERE id = ?"
        rows: list[Any] = self._db.execute(query, (terms,)).fetchall()
        model, speed, tier, geo = rows[0]
        when = None if time is None else datetime.fromtimestamp(time, UTC)
        usage = _usage(figures[:_FINAL], bool(figures[_FINAL]))
        return picodollars(self._prices, Call("", model, usage, when, speed, tier, geo))


def requests_of(db: apsw.Connection, session: int) -> Iterator[BilledRequest]:
    """What a session's own logs say of its requests, whatever copies elsewhere say."""
    rows: Any = db.execute(_OF_SESSION, (session,))
    for message, request, *rest in rows:
        terms, figures, (final, time, cost) = rest[:4], rest[4:-3], rest[-3:]
        ids = message % _WHOLE, request % _WHOLE
        yield BilledRequest(*ids, time, tuple(terms), tuple(figures), bool(final), 0, cost)


def _grouped(copies: Sequence[_Copy]) -> list[list[_Copy]]:
    """Copies of the same request of a message; one that names no request is of the first."""
    named: list[int] = []
    groups: list[list[_Copy]] = []
    for copy in copies:
        request = copy.ids[2]
        if groups and (not request or not named[0]):
            named[0] = named[0] or request
            groups[0].append(copy)
        elif request in named:
            groups[named.index(request)].append(copy)
        else:
            named.append(request)
            groups.append([copy])
    return groups


def _usage(figures: Sequence[int], final: bool) -> Usage:
    named = dict(zip(_FIGURES, figures, strict=True))
    return msgspec.convert({**named, "floor": not final}, Usage)


def picodollars(prices: PriceTable, call: Call) -> int | None:
    """What a request costs; None where its model has no known price, or its figures are beyond belief."""
    price = prices.price_of(call)
    cost = None if price is None else int((price * PICO).to_integral_value())
    return cost if cost is None or cost <= MOST else None


def signed(number: int) -> int:
    """64 bits as the database has them."""
    return number - _WHOLE if number >= _HALF else number


Doc = tuple[int, int, int, str, bool, str]
"""Which of the turns, kind, place, tool, whether it failed, text."""


class TurnRow(NamedTuple):
    """A prompt and what followed it in the log."""

    number: int
    branch: int
    """0: the live one."""
    time: int | None
    """Milliseconds."""
    place: int
    model: str = ""
    line: int = 0
    """64 bits of the id of its first line."""


class TouchRow(NamedTuple):
    """A file that a call read or changed."""

    turn: int
    path: str
    how: int
    time: float | None
    place: int
    """Of the call."""
    lines: tuple[int | None, int | None] = (None, None)
    """Added and removed."""


class LogRows(NamedTuple):
    """The rows of one log. Turns are meant by their place in `turns`."""

    path: str
    agent: str
    size: int
    turns: list[TurnRow]
    docs: list[Doc]
    touches: list[TouchRow]
    commits: list[tuple[int, str, str, str, float | None]]
    """Turn, hash, branch, message, time."""
    plans: list[tuple[int, str, str]]
    """Turn, title, status."""
    tally: list[tuple[int, str, tuple[int, ...]]]
    """Turn, tool, its calls and their CALL_ENDS; a failure without its call has no tool."""


class PushRow(NamedTuple):
    """A branch that was pushed, or a pull request."""

    kind: str
    branch: str
    url: str
    repository: str
    number: int
    time: float | None


class SessionRows(NamedTuple):
    """The rows of one session: its own log first, then its subagents'."""

    overview: Overview
    ids: bytes
    logs: list[LogRows]
    requests: Sequence[BilledRequest]
    todos: Sequence[Todo]
    failures: list[str]
    named: Sequence[str] = ()
    """Files that are no single session's, and that were looked for on its behalf."""
    filled: Mapping[tuple[int, str], int] = MappingProxyType({})
    """Tokens that were put into its windows, estimated, by kind and tool."""
    prompts: bytes = b""
    """Of its `ids`, those of prompts."""
    pushes: Sequence[PushRow] = ()
    loaded: Sequence[LoadedFile] = ()
    """Context files that its logs say were loaded."""
