"""The people of a hub: persons, and services that act for nobody."""

import secrets
from typing import NamedTuple

from unspool.hub.people.names import fit
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, Row
from unspool.hub.trouble import Conflict, Hidden, Unfit

KINDS = ("person", "service")
OWNER = "owner"
"""The kind of the one that the first start makes: no header of a proxy can be taken for it."""
_COLUMNS = "SELECT id, name, kind, admin, quota, created, ended FROM person"


class Entry(NamedTuple):
    """Somebody in the roster."""

    id: str
    name: str
    kind: str
    admin: bool
    quota: int | None
    """Bytes that they may keep; None: as many as everybody."""
    created: int
    ended: int | None


class Wish(NamedTuple):
    """Who is to be added."""

    name: str
    kind: str = "person"
    admin: bool = False
    quota: int | None = None


def added(db: Database, wish: Wish) -> str:
    """The id of somebody new; Conflict where the name is taken, were it by somebody who left."""
    if wish.kind not in (*KINDS, OWNER):
        raise Unfit(f"Somebody is one of: {', '.join(KINDS)}.")
    person = secrets.token_hex(16)
    done = db.run(
        "INSERT INTO person(id, name, kind, admin, quota, created) VALUES(?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(name) DO NOTHING",
        person, fit(wish.name), wish.kind, int(wish.admin), _quota(wish.quota), now(),
    )  # fmt: skip
    if not done:
        raise Conflict("Somebody of that name is or was here.")
    return person


def listed(db: Database, *, everybody: bool = False) -> list[Entry]:
    """All who may come in, by name; `everybody`: also who left."""
    only = "" if everybody else " WHERE ended IS NULL"
    return [_entry(row) for row in db.rows(f"{_COLUMNS}{only} ORDER BY name")]


def found(db: Database, named: str) -> Entry:
    """Somebody by id or name."""
    row = db.row(f"{_COLUMNS} WHERE id = ? OR name = ? ORDER BY id = ? DESC", named, named, named)
    if row is None:
        raise Hidden("There is nobody of that name.")
    return _entry(row)


def one(db: Database, person: str) -> Entry:
    """Somebody by id alone."""
    row = db.row(f"{_COLUMNS} WHERE id = ?", person)
    if row is None:
        raise Hidden("There is nobody of that id.")
    return _entry(row)


def changed(db: Database, person: str, *, admin: bool | None = None, quota: int | None = None) -> None:
    """Make somebody an admin or none, with whom their open invitations end; give them a quota, -1 for the usual one."""
    with db.transaction():
        db.alone("admins")
        who = found(db, person)
        if admin is not None:
            db.run("UPDATE person SET admin = ? WHERE id = ?", int(admin), who.id)
            if not admin:
                _uninvited(db, who.id)
            _administered(db, who)
        if quota is not None:
            db.run("UPDATE person SET quota = ? WHERE id = ?", None if quota == -1 else _quota(quota), who.id)


def ended(db: Database, person: str) -> None:
    """Let somebody in no more, from this moment: their tokens, browsers and open invitations end with them.

    What they shared and pushed stays; the last admin cannot be ended.
    """
    with db.transaction():
        db.alone("admins")
        who, time = found(db, person), now()
        db.run("UPDATE person SET ended = ? WHERE id = ? AND ended IS NULL", time, who.id)
        db.run("UPDATE token SET ended = ? WHERE person = ? AND ended IS NULL", time, who.id)
        _uninvited(db, who.id)
        _administered(db, who)


def back(db: Database, person: str) -> None:
    """Let somebody who was ended in again; they need new tokens."""
    db.run("UPDATE person SET ended = NULL WHERE id = ?", found(db, person).id)


def removed(db: Database, person: str) -> None:
    """Have nobody of this id any more; for erasure, inside its transaction."""
    db.alone("admins")
    who = found(db, person)
    db.run("DELETE FROM person WHERE id = ?", who.id)
    _administered(db, who)


def _uninvited(db: Database, person: str) -> None:
    """Have no invitation of somebody open any more: it could make an admin."""
    db.run("UPDATE invitation SET ended = ? WHERE made_by = ? AND taken IS NULL AND ended IS NULL", now(), person)


def _administered(db: Database, changed: Entry) -> None:
    """Conflict where somebody who was an admin was the last one."""
    if (
        changed.admin
        and changed.ended is None
        and db.row("SELECT 1 FROM person WHERE admin = 1 AND ended IS NULL LIMIT 1") is None
    ):
        raise Conflict("The last admin stays; name another one first.")


def _quota(quota: int | None) -> int | None:
    if quota is not None and not 0 <= quota < 1 << 60:
        raise Unfit("A quota is a number of bytes.")
    return quota


def _entry(row: Row) -> Entry:
    entry = Entry(*row)
    return entry._replace(admin=bool(entry.admin))
