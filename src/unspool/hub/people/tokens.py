"""What lets a person in: a secret that only its holder has, kept here as a digest."""

import secrets
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from unspool.hub.errors import BadRequest, NotVisible, StoreFull, StoreUnavailable
from unspool.hub.people.users import Person
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database

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


class NewTokenOptions(NamedTuple):
    """What a token is to be like."""

    person: str
    label: str
    kind: str = "token"
    scope: str = "all"
    expires: int | None = None


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


def token_digest(secret: str) -> str:
    """What is kept of a secret of 256 bits: such a one needs no salt and no slowness."""
    return sha256(secret.encode(errors="replace")).hexdigest()


def create_token(db: Database, wish: NewTokenOptions) -> str:
    """A new token; nobody can be told it again."""
    if wish.scope not in SCOPES:
        raise BadRequest(f"A token is good for one of: {', '.join(SCOPES)}.")
    secret = _PREFIX + secrets.token_urlsafe(32)
    db.run(
        "INSERT INTO token(id, person, digest, kind, scope, label, created, expires) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        secrets.token_hex(8), wish.person, token_digest(secret), wish.kind, wish.scope, wish.label[:_LABEL], now(),
        wish.expires,
    )  # fmt: skip
    return secret


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
    return Person(person, name, bool(admin), scope, kind)


def session_end(db: Database, secret: str, latest: int) -> int:
    """When what somebody is given for a token ends: at a time, or with the token where that is sooner."""
    row = db.row("SELECT expires FROM token WHERE digest = ?", token_digest(secret))
    return min(latest, row[0]) if row is not None and row[0] is not None else latest


def list_tokens(db: Database, person: str = "", *, everything: bool = False) -> list[Token]:
    """Tokens of a person or of all, newest first; `everything`: also those that do not hold any more."""
    said = ["(? = '' OR token.person = ?)", "1 = 1" if everything else _HOLDS]
    rows = db.rows(
        "SELECT token.id, token.person, person.name, token.kind, token.scope, token.label, token.created,"  # noqa: S608
        " token.expires, token.used, token.ended FROM token JOIN person ON person.id = token.person"
        f" WHERE {' AND '.join(said)} ORDER BY token.created DESC, token.id",
        *(person, person, *(() if everything else (now(),))),
    )
    return [Token(*row) for row in rows]


def revoke_token(db: Database, token: str, person: str = "") -> None:
    """End a token from this moment; of this person, where one is named."""
    done = db.run(
        "UPDATE token SET ended = ? WHERE id = ? AND ended IS NULL AND (? = '' OR person = ?)",
        now(), token, person, person,
    )  # fmt: skip
    if not done:
        raise NotVisible("There is no such token.")
