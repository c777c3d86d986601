"""What a person may do with a project."""

from enum import IntEnum

from unspool.hub.people.person import Person
from unspool.hub.store.database import Database


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


def right(db: Database, person: Person, project: str) -> Right:
    """What a person may do with a project: what they were given themselves, or else the most of their teams."""
    if not person.known:
        return Right.NONE
    if person.admin:
        return Right.OWN
    found = db.row(_ONE, person.id, person.id, project)
    return Right(found[0]) if found else Right.NONE


def readable(person: Person) -> tuple[str, tuple[str, ...]]:
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
