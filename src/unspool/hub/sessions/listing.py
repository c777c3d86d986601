"""The list of sessions: its filters, its order and its pages."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from unspool.hub.errors import BadRequest, NotVisible
from unspool.hub.people.projects import readable_projects
from unspool.hub.people.users import Person
from unspool.hub.sessions.process_push import LoggedFacts, SessionColumns
from unspool.hub.store.database import Database, Row
from unspool.store.index.conditions import SqlCondition, all_of, any_of, one_of
from unspool.store.index.filters import sessions_holding
from unspool.store.index.query import Filter
from unspool.store.index.schema import KINDS, PICO, ROLES
from unspool.store.index.times import parse_moment

_CURSOR = re.compile(r"(\d{1,16})-([0-9a-f]{1,64})")
_COST = re.compile(r"(>=|<=|>|<)?\$?(\d{1,9}(?:\.\d{1,6})?)")
_HOLDS = "LIKE ? ESCAPE '\\'"
_PROJECTS = 500
"""Values that are listed in a statement."""


Made = Callable[[Database, str], SqlCondition | frozenset[str]]
"""What a filter asks of sessions, or the kinds of passages that it asks for."""


class ListPage(NamedTuple):
    after: tuple[int, str] | None = None
    most: int = 50


def parse_page(after: str, most: str, usual: int = 50) -> ListPage:
    found = _CURSOR.fullmatch(after) if after else None
    if (after and found is None) or (most and not most.isdecimal()):
        raise BadRequest("`after` is what a list gave as `next`, `limit` a number.")
    number = min(200, max(1, int(most[:6]))) if most else usual
    return ListPage((int(found[1]), found[2]) if found else None, number)


def page_cursor(place: tuple[int, str]) -> str:
    return f"{place[0]}-{place[1]}"


def visible_to(db: Database, person: Person) -> SqlCondition:
    if person.admin:
        return SqlCondition("TRUE")
    projects = visible_projects(db, person)
    if projects is None:
        sql, values = readable_projects(person)
        return SqlCondition(f"session.project IN ({sql})", values)
    return one_of("session.project", projects)


def visible_projects(db: Database, person: Person) -> list[str] | None:
    """The projects that somebody may read; None for all of them, and for too many to name."""
    if person.admin:
        return None
    sql, values = readable_projects(person)
    projects = sorted(project for (project,) in db.rows(sql, *values))
    return None if len(projects) > _PROJECTS else projects


class FilterConditions(NamedTuple):
    sessions: list[SqlCondition]
    kinds: frozenset[str] | None
    """Of passages; None where nothing is asked of them."""
    notes: list[str]
    """On filters that a hub does not know."""


def filter_conditions(db: Database, filters: Sequence[Filter]) -> FilterConditions:
    sessions: dict[tuple[str, bool], list[SqlCondition]] = {}
    passages: dict[tuple[str, bool], frozenset[str]] = {}
    notes: list[str] = []
    for number, one in enumerate(filters):
        name = "person" if one.name == "by" else one.name
        if name not in _FILTERS:
            notes.append(f"{name}: is not asked of a hub and was left out.")
            continue
        made = _FILTERS[name](db, one.value.strip())
        key = f"{name}{number}" if name in ("since", "until", "cost") else name, one.excluded
        if isinstance(made, frozenset):
            passages[key] = passages.get(key, frozenset()) | made
        else:
            sessions.setdefault(key, []).append(made)
    kinds = frozenset(KINDS)
    for (_, excluded), some in passages.items():
        kinds = kinds - some if excluded else kinds & some
    return FilterConditions(_alternatives(sessions), kinds if passages else None, notes)


def _alternatives(groups: dict[tuple[str, bool], list[SqlCondition]]) -> list[SqlCondition]:
    """One condition a filter: any of the values that were given for it, or none of them where they are excluded."""
    made = [(any_of(found), excluded) for (_, excluded), found in groups.items()]
    return [SqlCondition(f"NOT ({one.sql})", one.values) if excluded else one for one, excluded in made]


def after_cursor(after: tuple[int, str] | None) -> list[SqlCondition]:
    return [SqlCondition("(session.finished, session.id) < (?, ?)", after)] if after else []


def _like(column: str) -> Made:
    return lambda _, value: SqlCondition(f"lower({column}) {_HOLDS}", (sessions_holding(value.lower()),))


def _named(table: str) -> Made:
    """By id, by the whole name, or else by a part of it; looked up first, for a database plans better by values."""
    known = f"SELECT id FROM {table} WHERE"  # noqa: S608

    def condition(db: Database, value: str) -> SqlCondition:
        found = db.rows(f"{known} id = ? OR lower(name) = ?", value, value.lower())
        found = found or db.rows(f"{known} lower(name) {_HOLDS} LIMIT {_PROJECTS}", sessions_holding(value.lower()))
        return one_of(f"session.{table}", [id_ for (id_,) in found])

    return condition


def parse_time(value: str) -> float:
    """Seconds of the epoch; BadRequest where it is no time."""
    found = parse_moment(value.strip())
    if found is None:
        raise BadRequest(f"“{value}” is neither a date (2026-01-31) nor an age (12h, 3d, 2w, 6m, 1y).")
    return found


def _time(column: str, sign: str) -> Made:
    return lambda _, value: SqlCondition(f"{column} {sign} ?", (round(parse_time(value) * 1000),))


def _kind(_: Database, value: str) -> SqlCondition | frozenset[str]:
    if value.lower() in KINDS:
        return frozenset({value.lower()})
    return SqlCondition("session.kind = ?", (value.lower(),))


def _role(_: Database, value: str) -> frozenset[str]:
    kinds = ROLES.get(value.lower())
    if kinds is None:
        raise BadRequest(f"role:{value} means nothing; it can be {', '.join(ROLES)}.")
    return frozenset(kinds)


def _cost(_: Database, value: str) -> SqlCondition:
    found = _COST.fullmatch(value)
    if found is None:
        raise BadRequest(f"cost:{value} is no amount, such as cost:>1 or cost:<0.5.")
    return SqlCondition(f"session.cost {found[1] or '>='} ?", (round(float(found[2]) * PICO),))


_FILTERS: dict[str, Made] = {
    "project": _named("project"),
    "person": _named("person"),
    "model": _like("session.models"),
    "branch": _like("session.branch"),
    "title": _like("session.title"),
    "session": lambda _, value: SqlCondition(f"session.key {_HOLDS}", (sessions_holding(value)[1:],)),
    "since": _time("session.finished", ">="),
    "until": _time("session.finished", "<"),
    "kind": _kind,
    "role": _role,
    "cost": _cost,
}


_LOGGED = SessionColumns.__struct_fields__
COLUMNS = (
    "session.id, session.key, session.project, project.name, session.person, person.name, session.size,"
    f" session.created, session.updated, {', '.join(f'session.{name}' for name in _LOGGED)}"
)
TABLES = "session LEFT JOIN project ON project.id = session.project LEFT JOIN person ON person.id = session.person"
"""What COLUMNS are of. Somebody who was erased has no name."""


class NamedThing(msgspec.Struct, frozen=True):
    id: str
    name: str


class SessionFacts(LoggedFacts, frozen=True, kw_only=True):
    """A session as it is told of; times are milliseconds of the epoch."""

    id: str
    key: str
    """The session's own id."""
    project: NamedThing
    person: NamedThing
    cost: float
    """Dollars at list prices, of the requests whose price is known."""
    size: int
    created: int
    updated: int

    @property
    def place(self) -> tuple[int, str]:
        """What lists are in the order of, the greatest first."""
        return self.finished or 0, self.id


def session_facts(row: Row) -> SessionFacts:
    id_, key, project, project_name, person, person_name, size, created, updated, *columns = row
    logged: dict[str, Any] = dict(zip(_LOGGED, columns, strict=True))
    logged["finished"] = logged["finished"] or None
    logged["cost"] /= PICO
    logged["models"], logged["forked"] = tuple(msgspec.json.decode(logged["models"])), bool(logged["forked"])
    logged["project"], logged["person"] = NamedThing(project, project_name or ""), NamedThing(person, person_name or "")
    return SessionFacts(id=id_, key=key, size=size, created=created, updated=updated, **logged)


NAMES = ("project", "person", "model", "branch", "kind", "since", "until")
"""What may be asked for in an address; `q` is looked for in titles."""


class SessionPage(NamedTuple):
    """A part of a list; `next` is what leads to the part after it, empty at the end."""

    sessions: list[SessionFacts]
    next: str


def parse_filters(given: Mapping[str, str]) -> list[Filter]:
    found = [Filter(name, given[name]) for name in NAMES if given.get(name)]
    return [*found, Filter("title", given["q"])] if given.get("q") else found


def list_sessions(
    db: Database, person: Person, filters: list[Filter], span: ListPage, project: str = ""
) -> SessionPage:
    """Sessions that a person may see; of one project, where its id is given."""
    sessions = filter_conditions(db, filters).sessions
    within = [SqlCondition("session.project = ?", (project,))] if project else [visible_to(db, person)]
    where = all_of([*within, *sessions, *after_cursor(span.after)])
    found = session_rows(db, where, span.most + 1)
    page = with_own_figures(db, person, found[: span.most])
    return SessionPage(page, page_cursor(found[span.most - 1].place) if len(found) > span.most else "")


HISTORY_ORDER = ("coalesce({0}.started, 9000000000000000)", "{0}.forked", "{0}.finished", "{0}.key", "{0}.id")
"""Columns by which history passes from earlier to later sessions, as in `store.library.history`: whoever comes first
has paid what several hold, and there it is found."""
_EARLIER = " < ".join(f"({', '.join(column.format(name) for column in HISTORY_ORDER)})" for name in ("session", "mine"))
_PART = 10**9
"""Costs are added up in two parts, as made-up ones may be more than a database counts."""


def with_own_figures(db: Database, person: Person, sessions: list[SessionFacts]) -> list[SessionFacts]:
    """The sessions with the tokens and cost of their own requests: what they copied from one that the person may see
    counts there."""
    if not sessions:
        return sessions
    seen, these = visible_to(db, person), one_of("request.session", [facts.id for facts in sessions])
    sql = (
        f"SELECT request.session, coalesce(sum(request.cost / {_PART}), 0), coalesce(sum(request.cost % {_PART}), 0),"  # noqa: S608
        " sum(request.input + request.output + request.cache_read + request.cache_write),"
        " sum(CASE WHEN request.cost IS NULL THEN 1 ELSE 0 END), sum(1 - request.final)"
        f" FROM request JOIN session AS mine ON mine.id = request.session WHERE {these.sql} AND request.shared = 1"
        " AND EXISTS (SELECT 1 FROM request AS other JOIN session ON session.id = other.session"
        f" WHERE other.identity = request.identity AND other.shared = 1 AND {seen.sql} AND {_EARLIER})"
        " GROUP BY request.session"
    )
    copied = {row[0]: [int(value) for value in row[1:]] for row in db.rows(sql, *these.values, *seen.values)}
    return [_without(facts, *copied[facts.id]) if facts.id in copied else facts for facts in sessions]


def copied_lines(db: Database, person: Person, sessions: Sequence[str]) -> dict[str, frozenset[int]]:
    """The lines of sessions whose turns were copied from one that the person may see: they are found there."""
    seen, these = visible_to(db, person), one_of("own.session", sessions)
    sql = (
        "SELECT own.session, own.line FROM opening AS own JOIN session AS mine ON mine.id = own.session"  # noqa: S608
        f" WHERE {these.sql} AND EXISTS (SELECT 1 FROM opening JOIN session ON session.id = opening.session"
        f" WHERE opening.line = own.line AND opening.session <> own.session AND {seen.sql} AND {_EARLIER})"
    )
    found: dict[str, set[int]] = {}
    for session, line in db.rows(sql, *these.values, *seen.values):
        found.setdefault(session, set()).add(line)
    return {session: frozenset(lines) for session, lines in found.items()}


def _without(facts: SessionFacts, whole: int, rest: int, tokens: int, unpriced: int, unfinished: int) -> SessionFacts:
    return msgspec.structs.replace(
        facts,
        cost=round(facts.cost * PICO - (whole * _PART + rest)) / PICO,
        tokens=facts.tokens - tokens,
        unpriced=facts.unpriced - unpriced,
        open=facts.open - unfinished,
    )


def session_rows(db: Database, where: SqlCondition, most: int) -> list[SessionFacts]:
    """The sessions that fulfil a condition, the last active first."""
    sql = (
        f"SELECT {COLUMNS} FROM {TABLES} WHERE {where.sql}"  # noqa: S608  values are bound
        f" ORDER BY session.finished DESC, session.id DESC LIMIT {most:d}"
    )
    return [session_facts(row) for row in db.rows(sql, *where.values)]


def get_session_facts(db: Database, person: Person, session: str) -> SessionFacts:
    """A session by its id, for somebody who may see it."""
    return with_own_figures(db, person, [_by_id(db, session)])[0]


def _by_id(db: Database, session: str) -> SessionFacts:
    found = session_rows(db, SqlCondition("session.id = ?", (session,)), 1)
    if not found:
        raise NotVisible("There is nothing at this address.")
    return found[0]


def people_who_pushed(db: Database, person: Person) -> list[NamedThing]:
    """Who pushed what a person may see, by name; nobody is told of others."""
    where = visible_to(db, person)
    sql = (
        "SELECT id, name FROM person WHERE EXISTS (SELECT 1 FROM session"  # noqa: S608  values are bound
        f" WHERE session.person = person.id AND {where.sql}) ORDER BY name"
    )
    return [NamedThing(*row) for row in db.rows(sql, *where.values)]


_MOST, _MANY = 100, 1000
"""Sessions of one story, and those that are looked at for a list of sessions."""
_ROUNDS = 20
_APART = 30 * 86_400_000
"""Milliseconds that two sessions of one slug may be apart."""

Role = Literal["planning", "implementation", "further"]


class StoryStep(msgspec.Struct, frozen=True):
    role: Role
    session: SessionFacts


def story(db: Database, person: Person, session: str) -> list[StoryStep]:
    """The sessions of the story that a session is of, in the order they began; a session alone is its own story."""
    known = {session: _by_id(db, session)}
    fresh, seen = list(known.values()), visible_to(db, person)
    for _ in range(_ROUNDS):
        found = [link for link in _around(db, seen, fresh, _MOST) if link.id not in known]
        if not found or len(known) >= _MOST:
            break
        known.update((link.id, link) for link in found[: _MOST - len(known)])
        fresh = found
    sessions = sorted(known.values(), key=lambda facts: (facts.started or facts.finished or 0, facts.id))
    return _with_roles(with_own_figures(db, person, sessions))


def with_stories(db: Database, person: Person, sessions: list[SessionFacts]) -> set[str]:
    """The ids of those sessions whose story has another one in it that the person may see."""
    if not sessions:
        return set()
    found = _around(db, visible_to(db, person), sessions, _MANY)
    return {facts.id for facts in sessions if any(one.id != facts.id and _belong(one, facts) for one in found)}


def _around(db: Database, seen: SqlCondition, fresh: list[SessionFacts], most: int) -> list[SessionFacts]:
    keys = {facts.key for facts in fresh}
    names = keys | {facts.source for facts in fresh if facts.source}
    slugs = {facts.slug for facts in fresh if facts.slug}
    found = session_rows(db, all_of([one_of("session.key", sorted(names)), seen]), most)
    found += session_rows(db, all_of([one_of("session.source", sorted(keys)), seen]), most)
    named = session_rows(db, all_of([one_of("session.slug", sorted(slugs)), seen]), most) if slugs else []
    found += [facts for facts in named if any(_belong(facts, one) for one in fresh)]
    return list({facts.id: facts for facts in found}.values())


def _belong(one: SessionFacts, other: SessionFacts) -> bool:
    """Whether two sessions are of one story: the same, one from the other, or of one slug at about the same time, for
    agents make slugs up, and in time again."""
    if one.key in (other.key, other.source) or one.source == other.key:
        return True
    times = [facts.started or facts.finished or 0 for facts in (one, other)]
    return bool(one.slug) and one.slug == other.slug and abs(times[0] - times[1]) < _APART


def _with_roles(sessions: list[SessionFacts]) -> list[StoryStep]:
    """Who plans is what somebody goes on from before anything is carried out; what comes after that is further work."""
    built = next((number for number, facts in enumerate(sessions) if facts.kind == "implementation"), None)
    if built is None:
        sources = {facts.source for facts in sessions}
        return [StoryStep("planning" if facts.key in sources else "further", facts) for facts in sessions]
    key = sessions[built].key
    return [
        StoryStep("planning" if at < built else "implementation" if facts.key == key else "further", facts)
        for at, facts in enumerate(sessions)
    ]
