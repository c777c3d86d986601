"""Users of a hub: persons and services, their names and quotas."""

import re
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from unspool.hub.errors import BadRequest, Conflict, NotVisible, TooManyRequests
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database, Row, Value, batches, placeholders


class Person(NamedTuple):
    """Whoever asks. `scope` is what their token is good for: all, read or push."""

    id: str
    name: str
    admin: bool = False
    scope: str = "all"
    by: str = "token"
    """How they came in: token, browser (a cookie), proxy (an identity header)."""
    token: str = ""
    """The id of the token or browser that they came in by, if any."""

    @property
    def known(self) -> bool:
        return bool(self.id)


ANYBODY = Person("", "anonymous", by="")
"""Whoever did not say who they are."""
HUB = Person("", "the hub", admin=True, by="")
"""The hub itself, where it does something by itself."""


MOST = 100
"""Characters of a name."""
_FORBIDDEN = frozenset('/\\,"<>')
_ID = re.compile("[0-9a-f]{16,}")


def checked_name(name: str) -> str:
    """A name as it is kept; BadRequest where it is none that a page, an address and a terminal can all show."""
    kept = unicodedata.normalize("NFC", name).strip()
    if not kept or len(kept) > MOST:
        raise BadRequest(f"A name has 1 to {MOST} characters.")
    if not kept.isprintable() or not _FORBIDDEN.isdisjoint(kept):
        raise BadRequest("A name has no control characters, slashes, commas, quotes or angle brackets.")
    if kept.startswith((".", "-")):
        raise BadRequest("A name begins with neither a dot nor a hyphen.")
    if _ID.fullmatch(kept):
        raise BadRequest("A name does not look like an id: it could be taken for another's.")
    return kept


KINDS = ("person", "service")
OWNER = "owner"
"""The kind of the one that the first start makes: no header of a proxy can be taken for it."""
_COLUMNS = "SELECT id, name, kind, admin, quota, created, ended FROM person"


class User(NamedTuple):
    id: str
    name: str
    kind: str
    admin: bool
    quota: int | None
    """Bytes that they may keep; None: as many as everybody."""
    created: int
    ended: int | None


def add_user(db: Database, name: str, kind: str = "person", admin: bool = False, quota: int | None = None) -> str:
    """The id of somebody new; Conflict where the name is taken, were it by somebody who left."""
    if kind not in (*KINDS, OWNER):
        raise BadRequest(f"Somebody is one of: {', '.join(KINDS)}.")
    person = secrets.token_hex(16)
    done = db.run(
        "INSERT INTO person(id, name, kind, admin, quota, created) VALUES(?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(name) DO NOTHING",
        person, checked_name(name), kind, int(admin), _quota(quota), now(),
    )  # fmt: skip
    if not done:
        raise Conflict("Somebody of that name is or was here.")
    return person


def list_users(db: Database, *, everybody: bool = False) -> list[User]:
    """All who may come in, by name; `everybody`: also who left."""
    only = "" if everybody else " WHERE ended IS NULL"
    return [_entry(row) for row in db.rows(f"{_COLUMNS}{only} ORDER BY name")]


def find_user(db: Database, named: str) -> User:
    row = db.row(f"{_COLUMNS} WHERE id = ? OR name = ? ORDER BY id = ? DESC", named, named, named)
    if row is None:
        raise NotVisible("There is nobody of that name.")
    return _entry(row)


def get_user(db: Database, person: str) -> User:
    row = db.row(f"{_COLUMNS} WHERE id = ?", person)
    if row is None:
        raise NotVisible("There is nobody of that id.")
    return _entry(row)


def change_user(db: Database, person: str, *, admin: bool | None = None, quota: int | None = None) -> None:
    """Make somebody an admin or none, with whom their open invitations end; give them a quota, -1 for the usual one."""
    with db.transaction():
        db.alone("admins")
        who = find_user(db, person)
        if admin is not None:
            db.run("UPDATE person SET admin = ? WHERE id = ?", int(admin), who.id)
            if not admin:
                _revoke_invitations(db, who.id)
            _check_admin_left(db, who)
        if quota is not None:
            db.run("UPDATE person SET quota = ? WHERE id = ?", None if quota == -1 else _quota(quota), who.id)


def deactivate_user(db: Database, person: str) -> None:
    """Revoke somebody's access at once: their tokens, browsers and open invitations end with them.

    So does what they made for others; what they shared and pushed stays. The last admin cannot be ended.
    """
    with db.transaction():
        db.alone("admins")
        who = find_user(db, person)
        db.run("UPDATE person SET ended = ? WHERE id = ? AND ended IS NULL", now(), who.id)
        end_tokens(db, "person = ?", who.id)
        _revoke_invitations(db, who.id)
        _check_admin_left(db, who)


def reactivate_user(db: Database, person: str) -> None:
    """Give somebody access again whose access was revoked; they need new tokens."""
    db.run("UPDATE person SET ended = NULL WHERE id = ?", find_user(db, person).id)


def delete_user(db: Database, person: str) -> None:
    """For erasure, inside its transaction."""
    db.alone("admins")
    who = find_user(db, person)
    db.run("DELETE FROM person WHERE id = ?", who.id)
    _check_admin_left(db, who)


def end_tokens(db: Database, which: str, *values: Value) -> None:
    """End the tokens and browsers that a condition is true of, in a transaction.

    All that was made with them ends too: tokens and browsers, whosever they are, and open invitations.
    """
    db.alone("tokens")
    found = db.rows(
        f"WITH RECURSIVE made(id) AS (SELECT id FROM token WHERE {which}"  # noqa: S608  our own conditions
        " UNION SELECT token.id FROM token JOIN made ON token.parent = made.id) SELECT id FROM made",
        *values,
    )
    for lot in batches([row[0] for row in found]):
        marks = placeholders(lot)
        db.run(f"UPDATE token SET ended = ? WHERE ended IS NULL AND id IN ({marks})", now(), *lot)  # noqa: S608
        open_ones = f"taken IS NULL AND ended IS NULL AND parent IN ({marks})"
        db.run(f"UPDATE invitation SET ended = ? WHERE {open_ones}", now(), *lot)  # noqa: S608


def _revoke_invitations(db: Database, person: str) -> None:
    db.run("UPDATE invitation SET ended = ? WHERE made_by = ? AND taken IS NULL AND ended IS NULL", now(), person)


def _check_admin_left(db: Database, changed: User) -> None:
    if (
        changed.admin
        and changed.ended is None
        and db.row("SELECT 1 FROM person WHERE admin = 1 AND ended IS NULL LIMIT 1") is None
    ):
        raise Conflict("The last admin stays; name another one first.")


def _quota(quota: int | None) -> int | None:
    if quota is not None and not 0 <= quota < 1 << 60:
        raise BadRequest("A quota is a number of bytes.")
    return quota


def _entry(row: Row) -> User:
    return User(*row)._replace(admin=bool(row[3]))


def bytes_kept(db: Database, person: str) -> int:
    shared = "SELECT coalesce(sum(size), 0) FROM share WHERE owner = ? AND ended IS NULL"
    pushed = "SELECT coalesce(sum(size), 0) FROM session WHERE person = ?"
    row = db.row(f"SELECT ({shared}) + ({pushed})", person, person)
    return int(row[0]) if row else 0


def bytes_allowed(db: Database, person: str, usual: int) -> int:
    """Bytes that a person may keep; `usual` is what the hub's terms give to everybody."""
    row = db.row("SELECT quota FROM person WHERE id = ?", person)
    return usual if row is None or row[0] is None else int(row[0])


def check_quota(db: Database, person: str, usual: int, more: int = 0) -> None:
    """TooManyRequests where a person would keep more than they may, with `more` bytes beside what the tables say.

    Inside the transaction that adds them: of several at the same time, each sees what the ones before it added.
    """
    db.alone(f"quota {person}")
    most = bytes_allowed(db, person, usual)
    if bytes_kept(db, person) + more > most:
        raise TooManyRequests(f"With this you would keep more than the {most:,} bytes that you may.", 3600)


_OWNED = (
    "SELECT permit.project FROM permit JOIN person ON person.id = permit.subject AND person.ended IS NULL"
    " WHERE permit.kind = 'person' AND permit.level = 3"
    " UNION SELECT permit.project FROM permit JOIN member ON member.team = permit.subject"
    " JOIN person ON person.id = member.person AND person.ended IS NULL"
    " WHERE permit.kind = 'team' AND permit.level = 3"
)


@contextmanager
def keep_owners(db: Database) -> Iterator[None]:
    """A transaction after which every project that somebody owned is still owned by somebody; Conflict otherwise."""
    with db.transaction():
        db.alone("owners")
        before = {row[0] for row in db.rows(_OWNED)}
        yield
        if before - {row[0] for row in db.rows(_OWNED)}:
            raise Conflict("A project would be left without an owner; name another one first.")


def projects_without_owner(db: Database) -> list[tuple[str, str]]:
    rows = db.rows(f"SELECT id, name FROM project WHERE id NOT IN ({_OWNED}) ORDER BY name")  # noqa: S608
    return [(project, name) for project, name in rows]
