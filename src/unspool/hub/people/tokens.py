"""What lets a person in: tokens, kept as digests, and invitations, which make a person once."""

import secrets
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from unspool.hub.errors import BadRequest, Forbidden, NotVisible, StoreFull, StoreUnavailable
from unspool.hub.people import projects, users
from unspool.hub.people.users import Person, checked_name
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.database import Database, Row, Value, placeholders

SCOPES = ("all", "read", "push", "metrics")
READING = ("all", "read")
"""Those by which one sees what one may see."""
OWN = ("all", "read", "push")
"""Those that one may give to a token of one's own; figures of the whole hub are for admins to give."""
BROWSER = 30
"""Days for which a browser is let in."""
_PREFIX = "uns_"
_LABEL = 100
_USED_EVERY = 60_000
"""Milliseconds between two notes of a token's use."""
_HOLDS = "token.ended IS NULL AND (token.expires IS NULL OR token.expires > ?)"


class Token(NamedTuple):
    """A token as it is listed: all but the secret, which nobody can be told again."""

    id: str
    person: str
    name: str
    kind: str
    scope: str
    label: str
    created: int
    expires: int | None
    used: int | None
    ended: int | None
    parent: str | None
    """The id of the one that it was made with; empty: none, None: not known."""


def token_digest(secret: str) -> str:
    """What is kept of a secret of 256 bits: such a one needs no salt and no slowness."""
    return sha256(secret.encode(errors="replace")).hexdigest()


def create_token(
    db: Database, person: str, label: str, scope: str = "all", expires: int | None = None, parent: str = ""
) -> str:
    """A new token; nobody can be told it again. It ends with `parent`, the id of the one that it is made with."""
    if scope not in SCOPES:
        raise BadRequest(f"A token is good for one of: {', '.join(SCOPES)}.")
    return _create(db, parent, person=person, kind="token", scope=scope, label=label[:_LABEL], expires=expires)


def create_browser(db: Database, person: str, label: str = "browser", scope: str = "all", parent: str = "") -> str:
    """What a browser is let in by for a while; it ends with `parent`, and expires no later."""
    row = db.row("SELECT expires FROM token WHERE id = ?", parent)
    latest = now() + BROWSER * DAY
    expires = min(latest, row[0]) if row is not None and row[0] is not None else latest
    return _create(db, parent, person=person, kind="browser", scope=scope, label=label, expires=expires)


def _create(db: Database, parent: str, **columns: Value) -> str:
    secret = _PREFIX + secrets.token_urlsafe(32)
    row = {"id": secrets.token_hex(8), "digest": token_digest(secret), "created": now(), "parent": parent, **columns}
    with db.transaction():
        check_parent(db, parent)
        db.run(f"INSERT INTO token({', '.join(row)}) VALUES({placeholders(list(row))})", *row.values())
    return secret


def check_parent(db: Database, parent: str) -> None:
    """Forbidden where what something is to be made with was revoked; in the transaction that makes it."""
    if not parent:
        return
    db.alone("tokens")
    if db.row("SELECT 1 FROM token WHERE id = ? AND ended IS NULL", parent) is None:
        raise Forbidden("What let you in was revoked meanwhile.")


def person_of_token(db: Database, secret: str, kind: str = "token") -> Person | None:
    """The person that a secret lets in, if it is one that still holds."""
    found = db.row(
        "SELECT person.id, person.name, person.admin, token.scope, token.id, token.used FROM token"  # noqa: S608
        f" JOIN person ON person.id = token.person WHERE token.digest = ? AND token.kind = ? AND {_HOLDS}"
        " AND person.ended IS NULL",
        token_digest(secret), kind, now(),
    )  # fmt: skip
    if found is None:
        return None
    person, name, admin, scope, token, used = found
    if used is None or now() - used > _USED_EVERY:
        with suppress(StoreFull, StoreUnavailable):  # a full disk keeps nobody from reading
            db.run("UPDATE token SET used = ? WHERE id = ?", now(), token)
    return Person(person, name, bool(admin), scope, kind, token)


def list_tokens(db: Database, person: str = "", *, everything: bool = False) -> list[Token]:
    """Tokens of a person or of all, newest first; `everything`: also those that do not hold any more."""
    only = "" if everything else f" AND {_HOLDS}"
    sql = (
        "SELECT token.id, token.person, person.name, token.kind, token.scope, token.label, token.created,"  # noqa: S608
        " token.expires, token.used, token.ended, token.parent FROM token JOIN person ON person.id = token.person"
        f" WHERE (? = '' OR token.person = ?){only} ORDER BY token.created DESC, token.id"
    )
    return [Token(*row) for row in db.rows(sql, person, person, *(() if everything else (now(),)))]


def revoke_token(db: Database, token: str, person: str = "") -> None:
    """End a token, and all that was made with it, from this moment; of this person, where one is named.

    A browser of which it is not known what it was signed in with ends with any token of its person.
    """
    sql = "SELECT person, kind FROM token WHERE id = ? AND ended IS NULL AND (? = '' OR person = ?)"
    with db.transaction():
        row = db.row(sql, token, person, person)
        if row is None:
            raise NotVisible("There is no such token.")
        users.end_tokens(db, "id = ?", token)
        if row[1] == "token":
            users.end_tokens(db, "person = ? AND kind = 'browser' AND parent IS NULL", row[0])


_ID = 16
"""Characters of a digest by which an invitation is called."""
_LONGEST = 90
"""Days that one may be open."""
_COLUMNS = (
    f"SELECT substr(digest, 1, {_ID}), made_by, name, coalesce(team, ''), admin, created, expires, taken, ended"  # noqa: S608
    " FROM invitation"
)
NONE = "This invitation is unknown, was revoked, taken or has expired; ask for another one."


class Invitation(NamedTuple):
    """An invitation, without the secret that its link holds."""

    id: str
    made_by: str
    name: str
    team: str
    admin: bool
    created: int
    expires: int
    taken: int | None
    ended: int | None


class AcceptedInvitation(NamedTuple):
    person: str
    name: str
    secret: str
    """A token, or what a browser is signed in by."""


def create_invitation(
    db: Database, by: Person, name: str = "", team: str = "", admin: bool = False, days: int = 7
) -> str:
    """The secret of a new invitation to a team, by its id or name; nobody can be told it again.

    Whoever takes it is called `name`, or as they say themselves where that is empty.
    """
    if not 1 <= days <= _LONGEST:
        raise BadRequest(f"An invitation is open for 1 to {_LONGEST} days.")
    secret = secrets.token_urlsafe(32)
    with db.transaction():
        check_parent(db, by.token)
        db.run(
            "INSERT INTO invitation(digest, made_by, name, team, admin, created, expires, parent)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            token_digest(secret), by.id, checked_name(name) if name else "",
            projects.find_team(db, team) if team else None, int(admin), now(), now() + days * DAY, by.token,
        )  # fmt: skip
    return secret


def open_invitation(db: Database, secret: str) -> Invitation:
    """What an invitation offers; NotVisible where it does not hold (any more)."""
    sql = f"{_COLUMNS} WHERE digest = ? AND taken IS NULL AND ended IS NULL AND expires > ?"
    row = db.row(sql, token_digest(secret), now())
    if row is None:
        raise NotVisible(NONE)
    return _invitation(row)


def check_nameable(header: str, offer: Invitation) -> None:
    """Forbidden where a proxy says who people are, and somebody would choose a name that it may give another."""
    if header and not offer.name:
        raise Forbidden("Here an invitation must say your name: ask for one that does.")


def accept_invitation(db: Database, secret: str, name: str = "", kind: str = "token") -> AcceptedInvitation:
    """Make the person whom an invitation is for, once, and let them in; `kind` is token or browser.

    They are called as the invitation says, or as they say themselves. Where that fails, as with a name that is taken,
    the invitation stays open.
    """
    with db.transaction():
        offer = open_invitation(db, secret)
        sql = "UPDATE invitation SET taken = ? WHERE digest = ? AND taken IS NULL AND ended IS NULL"
        if not db.run(sql, now(), token_digest(secret)):
            raise NotVisible(NONE)  # somebody else was quicker
        called = offer.name or checked_name(name)
        person = users.add_user(db, called, admin=offer.admin)
        if offer.team:
            projects.add_member(db, offer.team, person)
        let_in = create_browser if kind == "browser" else create_token
        return AcceptedInvitation(person, called, let_in(db, person, "invitation"))


def list_invitations(db: Database, *, everything: bool = False) -> list[Invitation]:
    """Invitations, newest first; `everything`: also those that were taken, revoked or have expired."""
    only = "" if everything else " WHERE taken IS NULL AND ended IS NULL AND expires > ?"
    rows = db.rows(f"{_COLUMNS}{only} ORDER BY created DESC, digest", *(() if everything else (now(),)))
    return [_invitation(row) for row in rows]


def revoke_invitation(db: Database, invitation: str) -> None:
    sql = f"UPDATE invitation SET ended = ? WHERE substr(digest, 1, {_ID}) = ? AND taken IS NULL AND ended IS NULL"  # noqa: S608
    if not db.run(sql, now(), invitation):
        raise NotVisible("There is no such invitation.")


def _invitation(row: Row) -> Invitation:
    return Invitation(*row)._replace(admin=bool(row[4]))
