"""Projects of the team archive: made by an admin, or by whoever pushes to a new one, where that is allowed."""

import secrets
from typing import NamedTuple

from unspool.hub.people.names import fit
from unspool.hub.people.person import Person
from unspool.hub.people.rights import LEVEL, Right, readable, right
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database
from unspool.hub.trouble import Conflict, Hidden, Refused

NEW = "projects.new"
"""The setting that says who may make projects: everybody, or admins."""


class Project(NamedTuple):
    """A project, as one person has it."""

    id: str
    name: str
    right: str
    sessions: int
    created: int


class Named(NamedTuple):
    """A project by its name."""

    id: str
    name: str


def made(db: Database, by: Person, name: str) -> str:
    """The id of a new project, owned by whoever makes it; that a name is taken is told to those who may make one."""
    if not by.admin and not open_to_all(db):
        raise Refused("Only admins make projects here.")
    project = secrets.token_hex(16)
    with db.transaction():
        sql = "INSERT INTO project(id, name, policy, created) VALUES(?, ?, '', ?) ON CONFLICT(name) DO NOTHING"
        if not db.run(sql, project, fit(name), now()):
            raise Conflict("There is a project of that name.")
        if by.known:
            db.run(
                "INSERT INTO permit(project, kind, subject, level) VALUES(?, 'person', ?, ?)",
                project, by.id, int(Right.OWN),
            )  # fmt: skip
    return project


def wanted(db: Database, by: Person, name: str) -> str:
    """The id of the project that somebody pushes to, made where it is new and they may."""
    row = db.row("SELECT id FROM project WHERE name = ?", fit(name))
    if row is not None and right(db, by, row[0]) >= Right.WRITE:
        project: str = row[0]
        return project
    return made(db, by, name)


def found(db: Database, named: str) -> str:
    """The id of a project by id or name, whoever asks."""
    row = db.row("SELECT id FROM project WHERE id = ? OR name = ? ORDER BY id = ? DESC", named, named, named)
    if row is None:
        raise Hidden("There is no such project.")
    project: str = row[0]
    return project


def listed(db: Database, person: Person) -> list[Project]:
    """The projects that a person may read, by name."""
    level, values = ("3", ()) if person.admin else (LEVEL, (person.id, person.id))
    rows = db.rows(
        "SELECT id, name, level, sessions, created FROM (SELECT project.id, project.name, project.created,"  # noqa: S608
        f" {level} AS level, (SELECT count(*) FROM session WHERE session.project = project.id) AS sessions FROM project)"  # noqa: E501
        " AS seen WHERE level > 0 ORDER BY name",
        *values,
    )
    return [Project(project, name, Right(may).name.lower(), count, made) for project, name, may, count, made in rows]


def names(db: Database, person: Person) -> list[Named]:
    """The same, without what is in them: however many sessions there are, it takes no time."""
    inner, values = readable(person)
    sql = f"SELECT id, name FROM project WHERE id IN ({inner}) ORDER BY name"  # noqa: S608  a query of ours
    return [Named(*row) for row in db.rows(sql, *values)]


def open_to_all(db: Database) -> bool:
    """Whether everybody may make projects, as they may unless an admin said otherwise."""
    row = db.row("SELECT value FROM setting WHERE key = ?", NEW)
    return row is None or row[0] == "everybody"


def let(db: Database, *, everybody: bool) -> None:
    """Say who may make projects."""
    db.run(
        "INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        NEW,
        "everybody" if everybody else "admins",
    )
