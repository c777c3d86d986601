"""Projects of the team archive, teams, and who was granted which right."""

import secrets
from enum import IntEnum
from typing import NamedTuple

from unspool.hub.errors import BadRequest, Conflict, Forbidden, NotVisible
from unspool.hub.people import users
from unspool.hub.people.users import Person, checked_name, keep_owners
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, find_id, get_setting


class NamedId(NamedTuple):
    """A person or a project in a list of names."""

    id: str
    name: str


class Team(NamedTuple):
    id: str
    name: str
    members: tuple[NamedId, ...]


def create_team(db: Database, name: str) -> str:
    team = secrets.token_hex(16)
    sql = "INSERT INTO team(id, name, created) VALUES(?, ?, ?) ON CONFLICT(name) DO NOTHING"
    if not db.run(sql, team, checked_name(name), now()):
        raise Conflict("There is a team of that name.")
    return team


def find_team(db: Database, named: str) -> str:
    return _find(db, "team", named)


def _find(db: Database, table: str, named: str) -> str:
    found = find_id(db, table, named)
    if found is None:
        raise NotVisible(f"There is no such {table}.")
    return found


def list_teams(db: Database, person: str = "") -> list[Team]:
    """Teams by name, with who is in them; those that a person is in, where one is named."""
    sql = "SELECT id, name FROM team WHERE ? = '' OR id IN (SELECT team FROM member WHERE person = ?) ORDER BY name"
    return [Team(team, name, team_members(db, team)) for team, name in db.rows(sql, person, person)]


def team_members(db: Database, team: str) -> tuple[NamedId, ...]:
    """Who is in a team, by name; who left the hub is not."""
    sql = (
        "SELECT person.id, person.name FROM member JOIN person ON person.id = member.person"
        " WHERE member.team = ? AND person.ended IS NULL ORDER BY person.name"
    )
    return tuple(NamedId(*row) for row in db.rows(sql, team))


def add_member(db: Database, team: str, person: str) -> None:
    sql = "INSERT INTO member(team, person) VALUES(?, ?) ON CONFLICT(team, person) DO NOTHING"
    db.run(sql, find_team(db, team), users.find_user(db, person).id)


def remove_member(db: Database, team: str, person: str) -> None:
    with keep_owners(db):
        db.run("DELETE FROM member WHERE team = ? AND person = ?", find_team(db, team), users.find_user(db, person).id)


def delete_team(db: Database, team: str) -> None:
    which = find_team(db, team)
    with keep_owners(db):
        db.run("DELETE FROM member WHERE team = ?", which)
        db.run("DELETE FROM permit WHERE kind = 'team' AND subject = ?", which)
        db.run("UPDATE invitation SET ended = ? WHERE team = ? AND taken IS NULL AND ended IS NULL", now(), which)
        db.run("DELETE FROM team WHERE id = ?", which)


class Right(IntEnum):
    """What may be done; each includes those before it."""

    NONE = 0
    READ = 1
    WRITE = 2
    OWN = 3


LEVEL = (
    "coalesce((SELECT own.level FROM permit AS own WHERE own.project = project.id AND own.kind = 'person'"
    " AND own.subject = ?), (SELECT max(permit.level) FROM permit JOIN member ON member.team = permit.subject"
    " WHERE permit.project = project.id AND permit.kind = 'team' AND member.person = ?), 0)"
)
"""What somebody who is no admin may do with a `project` of a query; the values are their id, twice."""
_ONE = f"SELECT {LEVEL} FROM project WHERE project.id = ?"  # noqa: S608


def right_on_project(db: Database, person: Person, project: str) -> Right:
    """What a person may do with a project: what they were given themselves, or else the most of their teams."""
    if not person.known:
        return Right.NONE
    if person.admin:
        return Right.OWN
    found = db.row(_ONE, person.id, person.id, project)
    return Right(found[0]) if found else Right.NONE


def readable_projects(person: Person) -> tuple[str, tuple[str, ...]]:
    """A subquery of the ids of all projects that a person may read, and its values: `project IN (…)`."""
    if person.admin:
        return "SELECT id FROM project", ()
    return (
        "SELECT permit.project FROM permit WHERE permit.kind = 'person' AND permit.subject = ? AND permit.level >= 1"
        " UNION SELECT permit.project FROM permit JOIN member ON member.team = permit.subject"
        " WHERE permit.kind = 'team' AND member.person = ? AND permit.level >= 1 AND NOT EXISTS"
        " (SELECT 1 FROM permit AS own WHERE own.project = permit.project AND own.kind = 'person' AND own.subject = ?)",
        (person.id, person.id, person.id),
    )


NEW = "projects.new"
"""The setting that says who may make projects: everybody, or admins."""


class Project(NamedTuple):
    id: str
    name: str
    right: str
    sessions: int
    created: int


def create_project(db: Database, by: Person, name: str) -> str:
    """The id of a new project, owned by whoever makes it; that a name is taken is told to those who may make one."""
    if not by.admin and get_setting(db, NEW) not in (None, "everybody"):
        raise Forbidden("Only admins make projects here.")
    project = secrets.token_hex(16)
    with db.transaction():
        sql = "INSERT INTO project(id, name, policy, created) VALUES(?, ?, '', ?) ON CONFLICT(name) DO NOTHING"
        if not db.run(sql, project, checked_name(name), now()):
            raise Conflict("There is a project of that name.")
        if by.known:
            db.run(
                "INSERT INTO permit(project, kind, subject, level) VALUES(?, 'person', ?, ?)",
                project, by.id, int(Right.OWN),
            )  # fmt: skip
    return project


def find_project(db: Database, named: str) -> str:
    """The id of a project by id or name, whoever asks."""
    return _find(db, "project", named)


def list_projects(db: Database, person: Person) -> list[Project]:
    level, values = ("3", ()) if person.admin else (LEVEL, (person.id, person.id))
    rows = db.rows(
        "SELECT id, name, level, sessions, created FROM (SELECT project.id, project.name, project.created,"  # noqa: S608
        f" {level} AS level, (SELECT count(*) FROM session WHERE session.project = project.id) AS sessions FROM project)"  # noqa: E501
        " AS seen WHERE level > 0 ORDER BY name",
        *values,
    )
    return [Project(project, name, Right(may).name.lower(), count, made) for project, name, may, count, made in rows]


def project_names(db: Database, person: Person) -> list[NamedId]:
    """The same, without what is in them: however many sessions there are, it takes no time."""
    inner, values = readable_projects(person)
    sql = f"SELECT id, name FROM project WHERE id IN ({inner}) ORDER BY name"  # noqa: S608  a query of ours
    return [NamedId(*row) for row in db.rows(sql, *values)]


KINDS = ("person", "team")


class Grant(NamedTuple):
    project: str
    kind: str
    subject: str
    name: str
    level: str


def parse_right(word: str) -> Right:
    try:
        return Right[word.upper()]
    except KeyError:
        raise BadRequest("A right is one of: none, read, write, own.") from None


def find_subject(db: Database, kind: str, named: str) -> str:
    if kind == "person":
        return users.find_user(db, named).id
    if kind == "team":
        return find_team(db, named)
    raise BadRequest(f"Rights are given to one of: {', '.join(KINDS)}.")


def grant_right(db: Database, project: str, kind: str, named: str, right: Right) -> str:
    """Give a person or a team a right on a project, in place of what they had; the id of whoever it is.

    A person's own right counts before those of their teams, also where it is none.
    """
    with keep_owners(db):
        who = find_subject(db, kind, named)
        db.run(
            "INSERT INTO permit(project, kind, subject, level) VALUES(?, ?, ?, ?)"
            " ON CONFLICT(project, kind, subject) DO UPDATE SET level = excluded.level",
            project, kind, who, int(right),
        )  # fmt: skip
    return who


def revoke_right(db: Database, project: str, kind: str, named: str) -> str:
    """Have a person or a team without a right of their own on a project; the id of whoever it is."""
    with keep_owners(db):
        who = find_subject(db, kind, named)
        if not db.run("DELETE FROM permit WHERE project = ? AND kind = ? AND subject = ?", project, kind, who):
            raise NotVisible("They have no right of their own here.")
    return who


def list_grants(db: Database, project: str) -> list[Grant]:
    """The rights that were given on a project: the highest first."""
    rows = db.rows(
        "SELECT permit.project, permit.kind, permit.subject, coalesce(person.name, team.name), permit.level"
        " FROM permit LEFT JOIN person ON permit.kind = 'person' AND person.id = permit.subject"
        " LEFT JOIN team ON permit.kind = 'team' AND team.id = permit.subject"
        " WHERE permit.project = ? ORDER BY permit.level DESC, permit.kind, permit.subject",
        project,
    )
    return [
        Grant(project, kind, subject, name or "", Right(level).name.lower())
        for project, kind, subject, name, level in rows
    ]
