"""A share as the tables have it."""

import re
from typing import Any, NamedTuple

import msgspec

from unspool.hub.errors import NotVisible
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database

NOTHING = "There is nothing at this address."
BUNDLE, DOCUMENT, INDEX = "bundle.tar.gz", "session-share.json", "index.html"
_ADDRESS = re.compile(r"[A-Za-z0-9_-]{22}")


class ShareFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What lists and previews tell of a share."""

    description: str = ""
    """What the session adds up to, on a line."""
    agent: str = ""
    session: str = ""
    started: str = ""
    turns: int = 0
    own_title: bool = False
    """Whether its title was given by whoever shared it, and not by the session."""
    made: str = ""
    """What its pages were made by."""


class HubShare(NamedTuple):
    """What is shared, without its files."""

    address: str
    owner: str
    title: str
    password: str
    raw: int
    listed: int
    version: int
    size: int
    facts: str
    created: int
    updated: int
    expires: int | None
    ended: int | None

    @property
    def told(self) -> ShareFacts:
        """Its facts."""
        return msgspec.json.decode(self.facts or "{}", type=ShareFacts)

    @property
    def state(self) -> str:
        """live, expired or deleted."""
        if self.expires is not None and self.expires <= (self.ended or now()):
            return "expired"
        return "live" if self.ended is None else "deleted"

    def data(self) -> dict[str, Any]:
        facts = self.told
        return {
            "address": self.address,
            "title": self.title,
            "state": self.state,
            "description": facts.description,
            "session": facts.session,
            "version": self.version,
            "size": self.size,
            "password": bool(self.password),
            "raw": bool(self.raw),
            "listed": bool(self.listed),
            "created": self.created,
            "updated": self.updated,
            "expires": self.expires,
        }


class ShareFile(NamedTuple):
    """A file of a share: its name, what it holds and of what kind that is."""

    name: str
    digest: str
    kind: str


COLUMNS = ", ".join(HubShare._fields)
LIVE = "ended IS NULL AND (expires IS NULL OR expires > ?)"
"""What is shown; the value is the time."""


def live_share(db: Database, address: str) -> HubShare:
    """What is shown at an address; Hidden where there is nothing, never was, or is no more."""
    if not _ADDRESS.fullmatch(address):
        raise NotVisible(NOTHING)
    found = db.row(f"SELECT {COLUMNS} FROM share WHERE address = ? AND {LIVE}", address, now())  # noqa: S608
    if found is None:
        raise NotVisible(NOTHING)
    return HubShare(*found)


def any_share(db: Database, address: str) -> HubShare | None:
    """What has, or had, an address."""
    found = db.row(f"SELECT {COLUMNS} FROM share WHERE address = ?", address)  # noqa: S608
    return HubShare(*found) if found is not None else None


def share_file(db: Database, address: str, name: str) -> ShareFile:
    """A file of a share by its exact name; Hidden where there is none."""
    found = db.row("SELECT name, digest, kind FROM share_file WHERE address = ? AND name = ?", address, name)
    if found is None:
        raise NotVisible(NOTHING)
    return ShareFile(*found)
