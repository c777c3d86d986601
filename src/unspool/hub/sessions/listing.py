"""Lists of pushed sessions, what is told of each, and the story of a change."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from unspool.hub.errors import NotVisible
from unspool.hub.people.users import Person
from unspool.hub.sessions.filters import (
    OWN,
    ListPage,
    SqlCondition,
    after_cursor,
    all_of,
    filter_conditions,
    one_of,
    page_cursor,
    visible_to,
)
from unspool.hub.store.database import Database, Row
from unspool.store.index.query import Filter
from unspool.store.index.schema import PICO

COLUMNS = (
    "session.id, session.key, session.project, project.name, session.person, person.name, session.agent, session.title,"
    " session.kind, session.branch, session.slug, session.source, session.started, session.finished, session.turns,"
    " session.messages, session.calls, session.errors, session.tokens, session.cost, session.unpriced, session.models,"
    " session.size, session.created, session.updated"
)
TABLES = "session LEFT JOIN project ON project.id = session.project LEFT JOIN person ON person.id = session.person"
"""What COLUMNS are of. Somebody who was erased has no name."""


class NamedThing(msgspec.Struct, frozen=True):
    """A person or a project."""

    id: str
    name: str


class SessionFacts(msgspec.Struct, frozen=True):
    """A session as it is told of; times are milliseconds of the epoch."""

    id: str
    key: str
    """The session's own id."""
    project: NamedThing
    person: NamedThing
    agent: str
    title: str
    kind: str
    branch: str
    slug: str
    source: str
    """The key of the session that it goes on from."""
    started: int | None
    finished: int | None
    turns: int
    messages: int
    calls: int
    errors: int
    tokens: int
    cost: float
    """Dollars at list prices, of the requests whose price is known."""
    unpriced: int
    """Requests whose price is not known."""
    models: tuple[str, ...]
    size: int
    created: int
    updated: int

    @property
    def place(self) -> tuple[int, str]:
        """What lists are in the order of, the greatest first."""
        return self.finished or 0, self.id


def session_facts(row: Row) -> SessionFacts:
    """The facts of a row of COLUMNS."""
    id_, key, project, named, person, called, *rest = row
    agent, title, kind, branch, slug, source, started, finished, *counts = rest
    turns, messages, calls, errors, tokens, cost, unpriced, models, size, created, updated = counts
    known: Any = msgspec.json.decode(models)
    return SessionFacts(
        id_,
        key,
        NamedThing(project, named or ""),
        NamedThing(person, called or ""),
        agent,
        title,
        kind,
        branch,
        slug,
        source,
        started,
        finished or None,
        turns,
        messages,
        calls,
        errors,
        tokens,
        cost / PICO,
        unpriced,
        tuple(known),
        size,
        created,
        updated,
    )


NAMES = ("project", "person", "model", "branch", "kind", "since", "until")
"""What may be asked for in an address; `q` is looked for in titles."""


class SessionPage(NamedTuple):
    """A part of a list; `next` is what leads to the part after it, empty at the end."""

    sessions: list[SessionFacts]
    next: str


def parse_filters(given: Mapping[str, str]) -> list[Filter]:
    """The filters that an address names."""
    found = [Filter(name, given[name]) for name in NAMES if given.get(name)]
    return [*found, *([Filter(OWN[2], given["q"])] if given.get("q") else [])]


def list_sessions(
    db: Database, person: Person, filters: list[Filter], span: ListPage, project: str = ""
) -> SessionPage:
    """Sessions that a person may see; of one project, where its id is given."""
    sessions, _, _ = filter_conditions(db, filters)
    within = [SqlCondition("session.project = ?", (project,))] if project else [visible_to(db, person)]
    where = all_of([*within, *sessions, *after_cursor(span.after)])
    found = session_rows(db, where, span.most + 1)
    return SessionPage(found[: span.most], page_cursor(found[span.most - 1].place) if len(found) > span.most else "")


def session_rows(db: Database, where: SqlCondition, most: int) -> list[SessionFacts]:
    """The sessions that fulfil a condition, the last active first."""
    sql = (
        f"SELECT {COLUMNS} FROM {TABLES} WHERE {where.sql}"  # noqa: S608  values are bound
        f" ORDER BY session.finished DESC, session.id DESC LIMIT {most:d}"
    )
    return [session_facts(row) for row in db.rows(sql, *where.values)]


def get_session_facts(db: Database, session: str) -> SessionFacts:
    """A session by its id, for somebody who may see it."""
    found = session_rows(db, SqlCondition("session.id = ?", (session,)), 1)
    if not found:
        raise NotVisible("There is nothing at this address.")
    return found[0]


def people_who_pushed(db: Database, person: Person) -> list[NamedThing]:
    """Who pushed what a person may see, by name; nobody is told of others."""
    where = visible_to(db, person)
    found = db.rows(
        f"SELECT id, name FROM person WHERE EXISTS (SELECT 1 FROM session WHERE session.person = person.id AND {where.sql})"  # noqa: S608, E501
        " ORDER BY name",
        *where.values,
    )
    return [NamedThing(*row) for row in found]


_MOST = 100
_ROUNDS = 20
_APART = 30 * 86_400_000
"""Milliseconds that two sessions of one slug may be apart."""

Role = Literal["planning", "implementation", "further"]


class StoryStep(msgspec.Struct, frozen=True):
    """A session and its part in the story."""

    role: Role
    session: SessionFacts


def story(db: Database, person: Person, session: str) -> list[StoryStep]:
    """The sessions of the story that a session is of, in the order they began; a session alone is its own story."""
    known = {session: get_session_facts(db, session)}
    fresh, seen = list(known.values()), visible_to(db, person)
    for _ in range(_ROUNDS):
        found = [link for link in _around(db, seen, fresh) if link.id not in known]
        if not found or len(known) >= _MOST:
            break
        known.update((link.id, link) for link in found[: _MOST - len(known)])
        fresh = found
    told = sorted(known.values(), key=lambda facts: (facts.started or facts.finished or 0, facts.id))
    return _roles(told)


def _around(db: Database, seen: SqlCondition, fresh: list[SessionFacts]) -> list[SessionFacts]:
    """What is directly before and after some sessions."""
    keys = {facts.key for facts in fresh}
    names = keys | {facts.source for facts in fresh if facts.source}
    slugs = {facts.slug for facts in fresh if facts.slug}
    found = session_rows(db, all_of([one_of("session.key", sorted(names)), seen]), _MOST)
    found += session_rows(db, all_of([one_of("session.source", sorted(keys)), seen]), _MOST)
    named = session_rows(db, all_of([one_of("session.slug", sorted(slugs)), seen]), _MOST) if slugs else []
    found += [facts for facts in named if any(_near(facts, one) for one in fresh)]
    return list({facts.id: facts for facts in found}.values())


def _near(one: SessionFacts, other: SessionFacts) -> bool:
    """Whether two sessions carry the same slug at about the same time: agents make them up, and in time again."""
    apart = abs((one.started or one.finished or 0) - (other.started or other.finished or 0))
    return one.slug == other.slug and apart < _APART


def _roles(told: list[SessionFacts]) -> list[StoryStep]:
    """Who plans is what somebody goes on from before anything is carried out; what comes after that is further work."""
    built = next((number for number, facts in enumerate(told) if facts.kind == "implementation"), None)
    if built is None:
        sources = {facts.source for facts in told}
        return [StoryStep("planning" if facts.key in sources else "further", facts) for facts in told]
    key = told[built].key
    return [
        StoryStep("planning" if at < built else "implementation" if facts.key == key else "further", facts)
        for at, facts in enumerate(told)
    ]
