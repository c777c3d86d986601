"""Projects keep an owner: the last one can be neither removed nor made less."""

from collections.abc import Iterator
from contextlib import contextmanager

from unspool.hub.store.database import Database
from unspool.hub.trouble import Conflict

_OWNED = (
    "SELECT permit.project FROM permit JOIN person ON person.id = permit.subject AND person.ended IS NULL"
    " WHERE permit.kind = 'person' AND permit.level = 3"
    " UNION SELECT permit.project FROM permit JOIN member ON member.team = permit.subject"
    " JOIN person ON person.id = member.person AND person.ended IS NULL"
    " WHERE permit.kind = 'team' AND permit.level = 3"
)


@contextmanager
def owned(db: Database) -> Iterator[None]:
    """A transaction after which every project that somebody owned is still owned by somebody; Conflict otherwise."""
    with db.transaction():
        db.alone("owners")
        before = {row[0] for row in db.rows(_OWNED)}
        yield
        if before - {row[0] for row in db.rows(_OWNED)}:
            raise Conflict("A project would be left without an owner; name another one first.")


def unowned(db: Database) -> list[tuple[str, str]]:
    """Ids and names of projects that only admins can look after."""
    rows = db.rows(f"SELECT id, name FROM project WHERE id NOT IN ({_OWNED}) ORDER BY name")  # noqa: S608
    return [(project, name) for project, name in rows]
