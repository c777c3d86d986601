"""SessionQuery: the filters of a list in an address, and the SQL that answers them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, NamedTuple
from urllib.parse import urlencode

import apsw
import msgspec

from unspool.app.context import cached_answer
from unspool.app.marks import AllMarks
from unspool.app.project_list import ProjectList
from unspool.store.index.filters import SearchCondition, sessions_holding
from unspool.store.index.times import day_start, parse_ago

SESSION_SORTS = {
    "newest": "Newest",
    "oldest": "Oldest",
    "title": "Title",
    "cost": "Cost",
    "turns": "Prompts",
    "calls": "Tool calls",
    "errors": "Errors",
    "longest": "Longest",
}
SESSION_KINDS = (
    "interactive",
    "planning",
    "implementation",
    "background",
    "headless",
    "subagent",
    "ghost",
    "empty",
    "stub",
)
ANY_KIND = "any"
_LONGEST = 400
_DEEPEST = 10_000


class SessionQuery(msgspec.Struct, frozen=True):
    """The filters of a list of sessions; empty ones ask for nothing."""

    project: str = ""
    """A project's slug, or part of its path."""
    kind: str = ""
    """One of KINDS; `any` for those too that hold no conversation."""
    model: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    starred: str = ""
    tag: str = ""
    sort: str = ""
    page: int = 1

    @property
    def query(self) -> str:
        """The filters as they stand in an address, without the page."""
        return self.address()

    @property
    def filtered(self) -> bool:
        """Whether anything is left out by choice."""
        return self != SessionQuery(sort=self.sort, page=self.page)

    def address(self, **changes: object) -> str:
        """The filters as they stand in an address, some of them changed."""
        changed = msgspec.structs.replace(self, page=1, **changes)
        said = {name: value for name, value in msgspec.structs.asdict(changed).items() if value and value != 1}
        return urlencode(said, errors="replace")


def parse_session_query(said: Mapping[str, str]) -> SessionQuery:
    """What the parameters of an address ask for."""
    texts = {name: _text(said.get(name, "")) for name in ("project", "kind", "model", "q", "since", "until", "tag")}
    kind = texts["kind"] if texts["kind"] in (*SESSION_KINDS, ANY_KIND) else ""
    sort = said.get("sort", "")
    page = said.get("page", "")
    return SessionQuery(
        **{**texts, "kind": kind},
        starred="1" if said.get("starred", "") in ("1", "true", "on", "yes") else "",
        sort=sort if sort in SESSION_SORTS and sort != "newest" else "",
        page=min(_DEEPEST, max(1, int(page))) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
    )


def parse_moment(text: str, zone: tzinfo | None, after: int = 0) -> float | None:
    """The second a typed day or age means; `after` days later for a day. None where it means nothing."""
    before = parse_ago(text)
    if before:
        return before.timestamp()
    try:
        if len(text) == len("2026-01-31"):
            return day_start(date.fromisoformat(text) + timedelta(days=after), zone)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _text(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "").strip()[:_LONGEST]


PAGE_SIZE = 100
"""Sessions on a page of the list."""
_WHEN = "coalesce(ended, started)"
_HOLLOW = ("empty", "stub")
"""Kinds that hold no conversation, listed only when asked for."""
_ORDERS = {
    "": f"{_WHEN} DESC",
    "oldest": f"{_WHEN} IS NULL, {_WHEN}",
    "title": "coalesce((SELECT value FROM json_each(?) WHERE key = session.key), title) COLLATE NOCASE",
    "cost": "cost DESC",
    "turns": "turns DESC",
    "calls": "calls DESC",
    "errors": "errors DESC",
    "longest": "ended - started DESC",
}
_COLUMNS = "id, key, project, title, kind, branch, started, ended, turns, calls, errors, cost, unpriced, overview"


class _Used(msgspec.Struct):
    model: str = ""


class _More(msgspec.Struct):
    """The few facts that only the whole overview has."""

    calls: tuple[_Used, ...] = ()
    agents: int = 0
    compactions: int = 0
    problems: int = 0


class ListedSession(NamedTuple):
    """A session as lists show it."""

    id: int
    key: str
    project: str
    title: str
    kind: str
    branch: str
    started: float | None
    ended: float | None
    turns: int
    calls: int
    errors: int
    cost: int
    unpriced: int
    more: _More = _More()
    files: int = 0
    """Files changed."""

    @property
    def time(self) -> float | None:
        return self.started if self.ended is None else self.ended

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.model for one in self.more.calls if one.model))


class SessionListPage(NamedTuple):
    """Some sessions of a list, and how many there are in all."""

    rows: tuple[ListedSession, ...]
    total: int
    kinds: dict[str, int]
    """How many there are of each kind, whatever kind was asked for."""
    notes: tuple[str, ...] = ()
    """What was asked for and means nothing."""
    before: ListedSession | None = None
    """The last session of the page before this."""
    after: ListedSession | None = None
    """The first session of the page after this."""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE_SIZE))


class SessionFinder:
    """Asks for sessions; a session that several logs are of is the one that was active last."""

    def __init__(self, db: apsw.Connection, said: AllMarks, shelf: ProjectList, zone: tzinfo | None = None) -> None:
        self._db, self._said, self._shelf, self._zone = db, said, shelf, zone

    def page(self, wanted: SessionQuery, size: int = PAGE_SIZE) -> SessionListPage:
        """One page of the sessions asked for."""
        conditions, notes = self._conditions(wanted)
        where, values = _all(conditions)
        counted = f"SELECT kind, count(*) FROM session WHERE {where} GROUP BY kind"  # noqa: S608  values are bound
        kinds = dict(self._db.execute(counted, values))
        chosen = {kind: number for kind, number in kinds.items() if _asked(kind, wanted.kind)}
        where, values = _all([*conditions, _among("kind", chosen)])
        first = (wanted.page - 1) * size
        span = range(max(first - 1, 0), first + size + 1)
        rows = self._rows(where, values, wanted.sort, span) if chosen else ()
        at = first - span.start
        before, here, after = rows[:at], rows[at : at + size], rows[at + size :]
        return SessionListPage(here, sum(chosen.values()), kinds, notes, _only(before) if here else None, _only(after))

    def between(self, since: float, until: float) -> tuple[ListedSession, ...]:
        """Sessions with a conversation, of projects that are not hidden, last active in a span; the last first."""
        lively = SearchCondition(
            "kind NOT IN ('ghost', 'empty', 'stub') AND coalesce(ended, started) BETWEEN ? AND ?", (since, until)
        )
        where, values = _all([*self._latest(), *self._unhidden(), lively])
        return self._rows(where, values, "", range(PAGE_SIZE))

    def _rows(self, where: str, values: tuple[Any, ...], sort: str, span: range) -> tuple[ListedSession, ...]:
        titles = {key: mark.title for key, mark in self._said.marks.items() if mark.title}
        order = _ORDERS[sort]
        bound = (json.dumps(titles),) if sort == "title" else ()
        query = f"SELECT id FROM session WHERE {where} ORDER BY {order}, id DESC LIMIT ? OFFSET ?"  # noqa: S608  bound
        ids = [number for (number,) in self._db.execute(query, (*values, *bound, len(span), span.start))]
        return self._whole(ids)

    def _whole(self, ids: Sequence[int]) -> tuple[ListedSession, ...]:
        """Sessions by their numbers, in their order."""
        asked = json.dumps(ids)
        query = f"SELECT {_COLUMNS} FROM session WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  ours
        decode = msgspec.msgpack.Decoder(_More).decode
        changed = dict(self._db.execute(_CHANGED, (asked,)))
        rows: Iterable[Any] = self._db.execute(query, (asked,))
        found = {}
        for *columns, packed in rows:
            more = decode(packed) if packed else _More()
            found[columns[0]] = ListedSession(*columns)._replace(more=more, files=changed.get(columns[0], 0))
        return tuple(found[number] for number in ids if number in found)

    def _conditions(self, wanted: SessionQuery) -> tuple[list[SearchCondition], tuple[str, ...]]:
        found, notes = self._latest(), list[str]()
        if wanted.project:
            found.append(_among("project", self._shelf.paths(wanted.project)))
        else:
            found += self._unhidden()
        if wanted.model:
            found.append(self._using(wanted.model))
        if wanted.starred:
            found.append(_among("key", [key for key, mark in self._said.marks.items() if mark.starred]))
        if wanted.tag:
            found.append(_among("key", self._said.tagged(wanted.tag)))
        if wanted.q:
            found.append(self._holding(wanted.q))
        for name, sign, after in (("since", ">=", 0), ("until", "<", 1)):
            text = getattr(wanted, name)
            second = parse_moment(text, self._zone, after) if text else None
            if second is not None:
                found.append(SearchCondition(f"{_WHEN} {sign} ?", (second,)))
            elif text:
                notes.append(
                    f"{name} {text} is neither a date (2026-01-31) nor an age (12h, 3d, 2w), and was left out."
                )
        return found, tuple(notes)

    def _using(self, model: str) -> SearchCondition:
        """Sessions with requests to a model."""
        terms = [number for (number,) in self._db.execute(_TERMS, (sessions_holding(model),))]
        asked = json.dumps(terms)
        ids = cached_answer(self._db, (_MODEL, asked), lambda: self._numbers(_MODEL, asked))
        return SearchCondition("id IN (SELECT value FROM json_each(?))", (ids,))

    def _latest(self) -> list[SearchCondition]:
        """Of the few sessions that several logs are of, only the log that was active last."""
        older = cached_answer(self._db, _OLDER, lambda: self._numbers(_OLDER))
        return [SearchCondition("id NOT IN (SELECT value FROM json_each(?))", (older,))] if older != "[]" else []

    def _numbers(self, query: str, *values: str) -> str:
        """Numbers of sessions, as JSON."""
        return json.dumps([number for (number,) in self._db.execute(query, values)])

    def _unhidden(self) -> list[SearchCondition]:
        if not self._said.hidden:
            return []
        return [
            SearchCondition("project NOT IN (SELECT value FROM json_each(?))", (json.dumps(sorted(self._said.hidden)),))
        ]

    def _holding(self, text: str) -> SearchCondition:
        """Sessions whose title, branch, project or id holds a text, or what was said about them does."""
        part = text.casefold()
        said = [
            key
            for key, mark in self._said.marks.items()
            if any(part in one.casefold() for one in (mark.title, mark.note, *mark.tags))
        ]
        return SearchCondition(_HOLDING, (*[sessions_holding(text)] * 4, json.dumps(said)))


def _only(rows: Sequence[ListedSession]) -> ListedSession | None:
    return rows[0] if rows else None


def _asked(kind: str, wanted: str) -> bool:
    return wanted in (ANY_KIND, kind) or (not wanted and kind not in _HOLLOW)


def _among(column: str, values: Iterable[str]) -> SearchCondition:
    sql = f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608  the name is this module's own
    return SearchCondition(sql, (json.dumps(list(values)),))


def _all(conditions: Iterable[SearchCondition]) -> tuple[str, tuple[Any, ...]]:
    listed = list(conditions) or [SearchCondition("TRUE")]
    return " AND ".join(one.sql for one in listed), tuple(value for one in listed for value in one.values)


_HOLDING = """(title LIKE ? ESCAPE '\\' OR branch LIKE ? ESCAPE '\\' OR project LIKE ? ESCAPE '\\'
OR key LIKE ? ESCAPE '\\' OR key IN (SELECT value FROM json_each(?)))"""
_OLDER = """SELECT id FROM session WHERE key IN (SELECT key FROM session GROUP BY key HAVING count(*) > 1)
AND EXISTS (SELECT 1 FROM session AS other WHERE other.key = session.key AND other.id <> session.id
AND (coalesce(other.ended, 0), other.id) > (coalesce(session.ended, 0), session.id))"""
_TERMS = "SELECT id FROM terms WHERE model LIKE ? ESCAPE '\\'"
_MODEL = """SELECT id FROM session WHERE EXISTS (SELECT 1 FROM request
WHERE request.session = session.id AND terms IN (SELECT value FROM json_each(?)))"""
_CHANGED = """SELECT log.session, count(DISTINCT touch.file) FROM log JOIN turn ON turn.log = log.id
JOIN touch ON touch.turn = turn.id AND touch.how > 0
WHERE log.session IN (SELECT value FROM json_each(?)) GROUP BY log.session"""
