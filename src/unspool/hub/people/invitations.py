"""Invitations: a link that makes a person, once."""

import secrets
from typing import NamedTuple

from unspool.hub.errors import BadRequest, Forbidden, NotVisible
from unspool.hub.people import teams, tokens, users
from unspool.hub.people.users import Person, checked_name
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.database import Database, Row

_ID = 16
"""Characters of a digest by which an invitation is called."""
_LONGEST = 90
"""Days that one may be open."""
_COLUMNS = (
    f"SELECT substr(digest, 1, {_ID}), made_by, name, coalesce(team, ''), admin, created, expires, taken, ended"  # noqa: S608
    " FROM invitation"
)
NONE = "This invitation does not hold (any more); ask for another one."


class NewInvitationOptions(NamedTuple):
    """Who is to be invited."""

    name: str = ""
    """What they will be called; empty: as they say themselves."""
    team: str = ""
    """The team that they will be in, by id or name."""
    admin: bool = False
    days: int = 7


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
    """What somebody has who took an invitation."""

    person: str
    name: str
    secret: str
    """A token, or what a browser is signed in by."""


def create_invitation(db: Database, by: Person, wish: NewInvitationOptions) -> str:
    """The secret of a new invitation; nobody can be told it again."""
    if not 1 <= wish.days <= _LONGEST:
        raise BadRequest(f"An invitation is open for 1 to {_LONGEST} days.")
    secret = secrets.token_urlsafe(32)
    name = checked_name(wish.name) if wish.name else ""
    team = teams.find_team(db, wish.team) if wish.team else None
    db.run(
        "INSERT INTO invitation(digest, made_by, name, team, admin, created, expires) VALUES(?, ?, ?, ?, ?, ?, ?)",
        tokens.token_digest(secret), by.id, name, team, int(wish.admin), now(), now() + wish.days * DAY,
    )  # fmt: skip
    return secret


def invitation_link(url: str, secret: str) -> str:
    """Where an invitation is taken, with a browser; `url` is where the hub is reached."""
    return f"{url.rstrip('/')}/join/{secret}"


def open_invitation(db: Database, secret: str) -> Invitation:
    """What an invitation offers; Hidden where it does not hold (any more)."""
    row = db.row(
        f"{_COLUMNS} WHERE digest = ? AND taken IS NULL AND ended IS NULL AND expires > ?",
        tokens.token_digest(secret),
        now(),
    )
    if row is None:
        raise NotVisible(NONE)
    return _invitation(row)


def check_nameable(header: str, offer: Invitation) -> None:
    """Refused where a proxy's header says who people are, and somebody would choose a name that it may give another."""
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
        if not db.run(sql, now(), tokens.token_digest(secret)):
            raise NotVisible(NONE)  # somebody else was quicker
        called = offer.name or checked_name(name)
        person = users.add_user(db, users.NewUser(called, admin=offer.admin))
        if offer.team:
            teams.add_member(db, offer.team, person)
        expires = now() + tokens.BROWSER * DAY if kind == "browser" else None
        return AcceptedInvitation(
            person, called, tokens.create_token(db, tokens.NewTokenOptions(person, "invitation", kind, expires=expires))
        )


def list_invitations(db: Database, *, everything: bool = False) -> list[Invitation]:
    """Invitations, newest first; `everything`: also those that were taken, revoked or have expired."""
    only = "" if everything else " WHERE taken IS NULL AND ended IS NULL AND expires > ?"
    rows = db.rows(f"{_COLUMNS}{only} ORDER BY created DESC, digest", *(() if everything else (now(),)))
    return [_invitation(row) for row in rows]


def revoke_invitation(db: Database, invitation: str) -> None:
    """Let nobody take an invitation any more."""
    sql = f"UPDATE invitation SET ended = ? WHERE substr(digest, 1, {_ID}) = ? AND taken IS NULL AND ended IS NULL"  # noqa: S608
    if not db.run(sql, now(), invitation):
        raise NotVisible("There is no such invitation.")


def _invitation(row: Row) -> Invitation:
    found = Invitation(*row)
    return found._replace(admin=bool(found.admin))
