"""SessionQuery: the filters of a list of sessions, and the SQL that answers them for pages and API alike."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

import apsw
import msgspec

from unspool.app.api_endpoint import parse_number, parse_since, parse_until
from unspool.app.context import cached_answer
from unspool.app.marks import AllMarks
from unspool.app.project_list import matches_project
from unspool.errors import UsageProblem
from unspool.model.session import UNLISTED_KINDS
from unspool.site.session_rows import SessionRow
from unspool.store.index.conditions import IS_LISTED, SqlCondition, all_of
from unspool.store.index.filters import sessions_holding
from unspool.store.index.schema import PICO
from unspool.store.index.times import local_time

SESSION_SORTS = {
    "newest": "Newest",
    "oldest": "Oldest",
    "title": "Title",
    "cost": "Cost",
    "turns": "Prompts",
    "calls": "Tool calls",
    "errors": "Failed calls",
    "longest": "Longest",
}
SESSION_KINDS = ("interactive", "planning", "implementation", "background", "headless", *UNLISTED_KINDS)
"""In the order in which a list offers them."""
ANY_KIND = "any"
PAGE_SIZE = 100
"""Sessions on a page of the list."""
_LONGEST = 400
_DEEPEST = 10_000


class SessionQuery(msgspec.Struct, frozen=True):
    """The filters of a list of sessions; empty ones ask for nothing."""

    project: str = ""
    """A project's slug, or part of its path."""
    agent: str = ""
    """The id of one."""
    kind: str = ""
    """One of SESSION_KINDS; `any` for those too that lists leave out."""
    model: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    starred: str = ""
    tag: str = ""
    sort: str = ""
    page: int = 1
    title: str = ""
    branch: str | None = None
    """Exactly this one; an empty one for sessions outside of git."""

    @property
    def filtered(self) -> bool:
        return self != SessionQuery(sort=self.sort, page=self.page)

    def address(self, **changes: object) -> str:
        """The filters as they stand in an address, some of them changed, without the page."""
        changed = msgspec.structs.replace(self, page=1, **changes)
        given = {name: value for name, value in msgspec.structs.asdict(changed).items() if value and value != 1}
        return urlencode(given, errors="replace")


def parse_session_query(given: Mapping[str, str]) -> SessionQuery:
    """What the parameters of an address ask for; what means nothing asks for nothing."""
    texts = {
        name: given.get(name, "").encode(errors="replace").decode().replace("\0", "").strip()[:_LONGEST]
        for name in ("project", "agent", "kind", "model", "q", "since", "until", "tag")
    }
    if texts["kind"] not in (*SESSION_KINDS, ANY_KIND):
        texts["kind"] = ""
    sort, page = given.get("sort", ""), given.get("page", "")
    others = {
        "starred": "1" if given.get("starred", "") in ("1", "true", "on", "yes") else "",
        "sort": sort if sort in SESSION_SORTS and sort != "newest" else "",
        "page": min(_DEEPEST, parse_number(page, 999_999) or 1),
    }
    return msgspec.convert({**texts, **others}, SessionQuery)


_WHEN = "coalesce(ended, started)"
_ORDERS = {
    "": f"{_WHEN} DESC, key",
    "oldest": f"{_WHEN} IS NULL, {_WHEN}",
    "title": "coalesce((SELECT value FROM json_each(?) WHERE key = session.key), title) COLLATE NOCASE",
    **{column: f"{column} DESC" for column in ("cost", "turns", "calls", "errors")},
    "longest": "ended - started DESC",
}
_COLUMNS = {
    **{
        name: name
        for name in ("title", "agent", "kind", "project", "branch", "started", "ended", "messages", "unpriced", "open")
    },
    "id": "key",
    "prompts": "turns",
    "tool_calls": "calls",
    "tool_errors": "errors",
    "tool_refusals": "refused",
    "tool_interruptions": "interrupted",
    "tool_unanswered": "unanswered",
}
"""Columns of the index by the fields of a row that they are."""
_HOLDING = """(title LIKE ? ESCAPE '\\' OR branch LIKE ? ESCAPE '\\' OR project LIKE ? ESCAPE '\\'
OR key LIKE ? ESCAPE '\\' OR key IN (SELECT value FROM json_each(?)))"""
_PROJECTS = "SELECT DISTINCT project FROM session"
_TERMS = "SELECT id FROM terms WHERE model LIKE ? ESCAPE '\\'"
_MODEL = """SELECT id FROM session WHERE EXISTS (SELECT 1 FROM request
WHERE request.session = session.id AND terms IN (SELECT value FROM json_each(?)))"""
_CHANGED = """SELECT log.session, count(DISTINCT touch.file) FROM log JOIN turn ON turn.log = log.id
JOIN touch ON touch.turn = turn.id AND touch.how > 0
WHERE log.session IN (SELECT value FROM json_each(?)) GROUP BY log.session"""


class _Used(msgspec.Struct):
    model: str = ""


class _OverviewPart(msgspec.Struct):
    """The few figures that no column has, of the whole overview that the index keeps packed."""

    calls: tuple[_Used, ...] = ()
    agents: int = 0
    compactions: int = 0
    problems: int = 0


_DECODER = msgspec.msgpack.Decoder(_OverviewPart)


class FoundSessions(NamedTuple):
    """Some sessions of a list, and how many there are in all."""

    rows: tuple[SessionRow, ...]
    total: int
    kinds: dict[str, int]
    """How many there are of each kind, whatever kind was asked for."""
    notes: tuple[str, ...] = ()
    """What was asked for and means nothing."""
    before: SessionRow | None = None
    """The last session of the page before this."""
    after: SessionRow | None = None
    """The first session of the page after this."""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE_SIZE))


class SessionFinder:
    """Asks the index for sessions; a session that several logs are of is the one that was active last."""

    def __init__(self, db: apsw.Connection, marks: AllMarks, zone: tzinfo | None = None) -> None:
        self._db, self._marks, self._zone = db, marks, zone

    def page(self, query: SessionQuery, size: int = PAGE_SIZE) -> FoundSessions:
        """One page of the sessions asked for, with those just before and after it."""
        first = (query.page - 1) * size
        start = max(first - 1, 0)
        found = self.find(query, start, first + size + 1 - start)
        rows = found.rows[first - start :]
        return found._replace(
            rows=rows[:size],
            before=found.rows[0] if rows and start < first else None,
            after=rows[size] if len(rows) > size else None,
        )

    def find(
        self, query: SessionQuery, skip: int, limit: int, also: Sequence[SqlCondition] = (), *, everything: bool = False
    ) -> FoundSessions:
        """So many of the sessions asked for, which fulfil further conditions too.

        With `everything`, hidden projects and sessions that lists leave out are among them.
        """
        found, ordered = self._selected(query, also, everything=everything)
        if not found.total:
            return found
        rows = self._db.execute(f"{ordered.sql} LIMIT ? OFFSET ?", (*ordered.values, limit, skip))
        return found._replace(rows=self.rows([number for (number,) in rows]))

    def around(self, query: SessionQuery, key: str, size: int = PAGE_SIZE) -> tuple[SessionRow, ...]:
        """The sessions of a list that stand around one of them, in its order; none where it is not in the list."""
        found, ordered = self._selected(query)
        if not found.total:
            return ()
        ids = cached_answer(self._db, ordered, lambda: [number for (number,) in self._db.execute(*ordered)])
        own: Any = self._db.execute("SELECT id FROM session WHERE key = ? AND version_of IS NULL", (key,)).fetchone()
        if own is None or own[0] not in ids:
            return ()
        first = max(0, min(ids.index(own[0]) - size // 2, len(ids) - size))
        return self.rows(ids[first : first + size])

    def named(self, keys: Sequence[str]) -> tuple[SessionRow, ...]:
        """The sessions of these ids, in their order."""
        sql = "SELECT key, id FROM session WHERE version_of IS NULL AND key IN (SELECT value FROM json_each(?))"
        known: dict[str, int] = dict(self._db.execute(sql, (json.dumps(keys),)))
        return self.rows([known[key] for key in dict.fromkeys(keys) if key in known])

    def _selected(
        self, query: SessionQuery, also: Sequence[SqlCondition] = (), *, everything: bool = False
    ) -> tuple[FoundSessions, SqlCondition]:
        """How many sessions are asked for, and the question for their numbers, in order."""
        conditions, notes = self._conditions(query)
        if self._marks.hidden and not (query.project or everything):
            conditions.append(_among("project NOT", sorted(self._marks.hidden)))
        where = all_of([*conditions, *also])
        counted = f"SELECT kind, count(*), sum({IS_LISTED}) FROM session WHERE {where.sql} GROUP BY kind"  # noqa: S608
        counts: list[Any] = self._db.execute(counted, where.values).fetchall()
        kinds, wanted = {kind: count for kind, count, _ in counts}, query.kind or (ANY_KIND if everything else "")
        if not wanted:
            where, total = all_of([where, SqlCondition(IS_LISTED)]), sum(listed for _, _, listed in counts)
        else:
            chosen = [kind for kind in kinds if wanted in (ANY_KIND, kind)]
            where, total = all_of([where, _among("kind", chosen)]), sum(kinds[kind] for kind in chosen)
        values = where.values
        if query.sort == "title":
            titles = {key: mark.title for key, mark in self._marks.marks.items() if mark.title}
            values = (*values, json.dumps(titles))
        sql = f"SELECT id FROM session WHERE {where.sql} ORDER BY {_ORDERS[query.sort]}, id DESC"  # noqa: S608
        return FoundSessions((), total, kinds, notes), SqlCondition(sql, values)

    def rows(self, ids: Sequence[int]) -> tuple[SessionRow, ...]:
        """Sessions by their numbers, in their order."""
        wanted = json.dumps(ids)
        columns = ", ".join(("id", "overview", "cost", *_COLUMNS.values()))
        sql = f"SELECT {columns} FROM session WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  ours
        changed = dict(self._db.execute(_CHANGED, (wanted,)))
        rows: Iterable[Any] = self._db.execute(sql, (wanted,))
        found = {one[0]: _row(one, changed.get(one[0], 0)) for one in rows}
        return tuple(found[number] for number in ids if number in found)

    def _conditions(self, query: SessionQuery) -> tuple[list[SqlCondition], tuple[str, ...]]:
        """What the filters ask for, and notes on those that mean nothing."""
        makers = {
            "project": self._of_project,
            "agent": lambda name: SqlCondition("agent = ?", (name,)),
            "title": lambda text: SqlCondition("title LIKE ? ESCAPE '\\'", (sessions_holding(text),)),
            "model": self._using_model,
            "starred": lambda _: _marked([key for key, mark in self._marks.marks.items() if mark.starred]),
            "tag": lambda tag: _marked(self._marks.tagged(tag)),
            "q": self._holding,
        }
        found = [make(value) for name, make in makers.items() if (value := getattr(query, name))]
        if query.branch is not None:
            found.append(SqlCondition("branch = ?", (query.branch,)))
        found.append(SqlCondition("version_of IS NULL"))
        notes = []
        for name, sign, parse in (("since", ">=", parse_since), ("until", "<", parse_until)):
            try:
                second = parse(getattr(query, name), self._zone)
            except UsageProblem as problem:
                notes.append(f"{name} {str(problem).removesuffix('.')}, and was left out.")
            else:
                found += [SqlCondition(f"{_WHEN} {sign} ?", (second,))] if second is not None else []
        return found, tuple(notes)

    def _of_project(self, text: str) -> SqlCondition:
        paths = cached_answer(self._db, _PROJECTS, lambda: [path for (path,) in self._db.execute(_PROJECTS)])
        return _among("project", [path for path in paths if matches_project(path, text)])

    def _using_model(self, model: str) -> SqlCondition:
        terms = [number for (number,) in self._db.execute(_TERMS, (sessions_holding(model),))]
        ids = self._numbers(_MODEL, json.dumps(terms))
        return SqlCondition("id IN (SELECT value FROM json_each(?))", (ids,))

    def _holding(self, text: str) -> SqlCondition:
        """Sessions whose title, branch, project or id holds a text, or whose mark does."""
        part = text.casefold()
        marked = [
            key
            for key, mark in self._marks.marks.items()
            if any(part in one.casefold() for one in (mark.title, mark.note, *mark.tags))
        ]
        return SqlCondition(_HOLDING, (*[sessions_holding(text)] * 4, json.dumps(marked)))

    def _numbers(self, sql: str, *values: str) -> str:
        """Numbers of sessions, as JSON; asked again only when the index has changed."""
        return cached_answer(
            self._db, (sql, values), lambda: json.dumps([number for (number,) in self._db.execute(sql, values)])
        )


def _row(columns: Sequence[Any], files: int) -> SessionRow:
    _, packed, cost, *others = columns
    values = dict(zip(_COLUMNS, others, strict=True))
    for name in ("started", "ended"):
        values[name] = None if values[name] is None else local_time(values[name], UTC)
    unfinished = values.pop("open")
    part = _DECODER.decode(packed) if packed else _OverviewPart()
    return SessionRow(
        **values,
        files=files,
        agents=part.agents,
        compactions=part.compactions,
        problems=part.problems,
        amount=Decimal(cost) / PICO,
        known=not values["unpriced"] and not unfinished,
        models=tuple(one.model for one in part.calls if one.model),
    )


def _marked(names: list[str]) -> SqlCondition:
    """Sessions of these keys, or of these ids: another agent may have come to have one since it was marked."""
    values = json.dumps(names)
    within = "IN (SELECT value FROM json_each(?))"
    return SqlCondition(f"(key {within} OR session_id {within})", (values, values))


def _among(column: str, values: Iterable[str]) -> SqlCondition:
    sql = f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608  the name is this module's own
    return SqlCondition(sql, (json.dumps(list(values)),))
