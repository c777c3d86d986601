"""Lists of pushed sessions, the last active first, in pages that neither skip nor repeat while others push."""

from collections.abc import Mapping
from typing import NamedTuple

from unspool.hub.people.person import Person
from unspool.hub.sessions.asking import OWN, Condition, Span, beyond, conditions, cursor, together, visible
from unspool.hub.sessions.facts import COLUMNS, TABLES, Facts, Who, facts
from unspool.hub.store.database import Database
from unspool.hub.trouble import Hidden
from unspool.index.query import Filter

NAMES = ("project", "person", "model", "branch", "kind", "since", "until")
"""What may be asked for in an address; `q` is looked for in titles."""


class Listed(NamedTuple):
    """A part of a list; `next` is what leads to the part after it, empty at the end."""

    sessions: list[Facts]
    next: str


def asked(given: Mapping[str, str]) -> list[Filter]:
    """The filters that an address names."""
    found = [Filter(name, given[name]) for name in NAMES if given.get(name)]
    return [*found, *([Filter(OWN[2], given["q"])] if given.get("q") else [])]


def listed(db: Database, person: Person, filters: list[Filter], span: Span, project: str = "") -> Listed:
    """Sessions that a person may see; of one project, where its id is given."""
    sessions, _, _ = conditions(db, filters)
    within = [Condition("session.project = ?", (project,))] if project else [visible(db, person)]
    where = together([*within, *sessions, *beyond(span.after)])
    found = rows(db, where, span.most + 1)
    return Listed(found[: span.most], cursor(found[span.most - 1].place) if len(found) > span.most else "")


def rows(db: Database, where: Condition, most: int) -> list[Facts]:
    """The sessions that fulfil a condition, the last active first."""
    sql = (
        f"SELECT {COLUMNS} FROM {TABLES} WHERE {where.sql}"  # noqa: S608  values are bound
        f" ORDER BY session.finished DESC, session.id DESC LIMIT {most:d}"
    )
    return [facts(row) for row in db.rows(sql, *where.values)]


def one(db: Database, session: str) -> Facts:
    """A session by its id, for somebody who may see it."""
    found = rows(db, Condition("session.id = ?", (session,)), 1)
    if not found:
        raise Hidden("There is nothing at this address.")
    return found[0]


def people(db: Database, person: Person) -> list[Who]:
    """Who pushed what a person may see, by name; nobody is told of others."""
    where = visible(db, person)
    found = db.rows(
        f"SELECT id, name FROM person WHERE EXISTS (SELECT 1 FROM session WHERE session.person = person.id AND {where.sql})"  # noqa: S608, E501
        " ORDER BY name",
        *where.values,
    )
    return [Who(*row) for row in found]
