"""Who was given which right on a project."""

from typing import NamedTuple

from unspool.hub.people import roster, teams
from unspool.hub.people.owners import owned
from unspool.hub.people.rights import Right
from unspool.hub.store.database import Database
from unspool.hub.trouble import Hidden, Unfit

KINDS = ("person", "team")


class Permit(NamedTuple):
    """A right that somebody was given."""

    project: str
    kind: str
    subject: str
    name: str
    level: str


def level(word: str) -> Right:
    """A right by its word: none, read, write, own."""
    try:
        return Right[word.upper()]
    except KeyError:
        raise Unfit("A right is one of: none, read, write, own.") from None


def subject(db: Database, kind: str, named: str) -> str:
    """The id of a person or team by id or name."""
    if kind == "person":
        return roster.found(db, named).id
    if kind == "team":
        return teams.found(db, named)
    raise Unfit(f"Rights are given to one of: {', '.join(KINDS)}.")


def given(db: Database, project: str, kind: str, named: str, right: Right) -> str:
    """Give a person or a team a right on a project, in place of what they had; the id of whoever it is.

    A person's own right counts before those of their teams, also where it is none.
    """
    with owned(db):
        who = subject(db, kind, named)
        db.run(
            "INSERT INTO permit(project, kind, subject, level) VALUES(?, ?, ?, ?)"
            " ON CONFLICT(project, kind, subject) DO UPDATE SET level = excluded.level",
            project, kind, who, int(right),
        )  # fmt: skip
    return who


def taken(db: Database, project: str, kind: str, named: str) -> str:
    """Have a person or a team without a right of their own on a project; the id of whoever it is."""
    with owned(db):
        who = subject(db, kind, named)
        if not db.run("DELETE FROM permit WHERE project = ? AND kind = ? AND subject = ?", project, kind, who):
            raise Hidden("They have no right of their own here.")
    return who


def listed(db: Database, project: str) -> list[Permit]:
    """The rights that were given on a project: the highest first."""
    rows = db.rows(
        "SELECT permit.project, permit.kind, permit.subject, coalesce(person.name, team.name), permit.level"
        " FROM permit LEFT JOIN person ON permit.kind = 'person' AND person.id = permit.subject"
        " LEFT JOIN team ON permit.kind = 'team' AND team.id = permit.subject"
        " WHERE permit.project = ? ORDER BY permit.level DESC, permit.kind, permit.subject",
        project,
    )
    return [
        Permit(project, kind, subject, name or "", Right(level).name.lower())
        for project, kind, subject, name, level in rows
    ]
