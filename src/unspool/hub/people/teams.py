"""Teams: people who are given rights together."""

import secrets
from typing import NamedTuple

from unspool.hub.errors import Conflict, NotVisible
from unspool.hub.people.users import checked_name, keep_owners
from unspool.hub.people.users import find_user as somebody
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database


class TeamMember(NamedTuple):
    """Somebody in a team."""

    id: str
    name: str


class Team(NamedTuple):
    """A team."""

    id: str
    name: str
    members: tuple[TeamMember, ...]


def create_team(db: Database, name: str) -> str:
    """The id of a new team."""
    team = secrets.token_hex(16)
    sql = "INSERT INTO team(id, name, created) VALUES(?, ?, ?) ON CONFLICT(name) DO NOTHING"
    if not db.run(sql, team, checked_name(name), now()):
        raise Conflict("There is a team of that name.")
    return team


def find_team(db: Database, named: str) -> str:
    """The id of a team, by id or name."""
    row = db.row("SELECT id FROM team WHERE id = ? OR name = ? ORDER BY id = ? DESC", named, named, named)
    if row is None:
        raise NotVisible("There is no such team.")
    team: str = row[0]
    return team


def list_teams(db: Database, person: str = "") -> list[Team]:
    """Teams by name, with who is in them; those that a person is in, where one is named."""
    rows = db.rows(
        "SELECT id, name FROM team WHERE ? = '' OR id IN (SELECT team FROM member WHERE person = ?) ORDER BY name",
        person,
        person,
    )
    return [Team(team, name, team_members(db, team)) for team, name in rows]


def team_members(db: Database, team: str) -> tuple[TeamMember, ...]:
    """Who is in a team, by name; who left the hub is not."""
    rows = db.rows(
        "SELECT person.id, person.name FROM member JOIN person ON person.id = member.person"
        " WHERE member.team = ? AND person.ended IS NULL ORDER BY person.name",
        team,
    )
    return tuple(TeamMember(*row) for row in rows)


def add_member(db: Database, team: str, person: str) -> None:
    """Have somebody in a team; again changes nothing."""
    db.run(
        "INSERT INTO member(team, person) VALUES(?, ?) ON CONFLICT(team, person) DO NOTHING",
        find_team(db, team),
        somebody(db, person).id,
    )


def remove_member(db: Database, team: str, person: str) -> None:
    """Have somebody no longer in a team."""
    with keep_owners(db):
        db.run("DELETE FROM member WHERE team = ? AND person = ?", find_team(db, team), somebody(db, person).id)


def delete_team(db: Database, team: str) -> None:
    """Have a team no more, nor any right it was given."""
    which = find_team(db, team)
    with keep_owners(db):
        db.run("DELETE FROM member WHERE team = ?", which)
        db.run("DELETE FROM permit WHERE kind = 'team' AND subject = ?", which)
        db.run("UPDATE invitation SET ended = ? WHERE team = ? AND taken IS NULL AND ended IS NULL", now(), which)
        db.run("DELETE FROM team WHERE id = ?", which)
