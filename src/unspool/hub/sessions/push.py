"""A push: what was sent becomes a session, whole, in one step that everybody sees or nobody.

Whoever is interrupted sends the same manifest again: what is done already answers as it did, and nothing is done twice.
"""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from unspool.hub.hub import Hub
from unspool.hub.people import erase, quota
from unspool.hub.people.person import Person
from unspool.hub.policy import policy_of
from unspool.hub.sessions import contents, keeping, pieces, versions
from unspool.hub.sessions.making import SENT, Made, make
from unspool.hub.store.database import Database
from unspool.hub.trouble import Gone, TooLarge, Trouble, Unfit, Unwanted
from unspool.hub.work import work
from unspool.library.scratch import scratch
from unspool.remote.manifest import Manifest, wrong
from unspool.site.build.fingerprint import fingerprint

_TRIES = 5


class Outcome(NamedTuple):
    """What became of a push."""

    session: str
    state: str
    """Of what is kept now; another one than was sent where more was kept already."""
    lacks: tuple[str, ...] = ()
    """Pieces that have to be sent first; nothing was done."""


def identity(project: str, person: str, key: str) -> str:
    """The id of a session: the same for the same, so that one that was erased is known again."""
    return sha256(f"{project}\0{person}\0{key}".encode()).hexdigest()[:32]


def push(hub: Hub, person: Person, project: str, manifest: Manifest) -> Outcome:
    """Take a session in, or say which pieces are lacking."""
    if reason := wrong(manifest):
        raise Unfit(f"The manifest cannot be taken: {reason}.")
    if manifest.size > hub.terms.upload:
        raise TooLarge(f"A session has at most {hub.terms.upload:,} bytes here.")
    session = identity(project, person.id, manifest.key)
    _not_erased(hub.store.db, person.id, manifest.key)
    for _ in range(_TRIES):
        before = keeping.state_of(hub.store.db, session)
        if before == manifest.state:
            return Outcome(session, before)
        if lacks := _lacks(hub, person, manifest):
            return Outcome(session, before, tuple(lacks))
        row = keeping.Row(session, project, person.id, manifest.key, manifest.state, fingerprint())
        if done := _taken(hub, row, manifest, before):
            return done
    raise Trouble("This session is pushed from several places at once; try again.")


def _not_erased(db: Database, person: str, key: str) -> None:
    if erase.buried(db, person, key):
        raise Gone("This session was erased here, and is not taken again.")


def _lacks(hub: Hub, person: Person, manifest: Manifest) -> list[str]:
    """The pieces that are not here; Unfit where one is not as large as is said."""
    db, wanted = hub.store.db, {piece.digest: piece.size for piece in manifest.pieces()}
    lacks = pieces.lacking(db, person.id, wanted)
    there = pieces.sizes(db, person.id, list(wanted))
    if any(wanted[digest] != size for digest, size in there.items()):
        raise Unfit("A piece is not as large as the manifest says.")
    return lacks


def _taken(hub: Hub, row: keeping.Row, manifest: Manifest, before: str) -> Outcome | None:
    """What becomes of it; None where somebody else was quicker, and it is to be tried again."""
    blobs = hub.store.blobs
    files = versions.joined(versions.kept(hub.store.db, row.id), manifest.files, blobs.read)
    if files is None:
        return Outcome(row.id, before)
    policy = policy_of(hub.store.db, row.project) if hub.terms.door else None
    with scratch() as folder:
        for file in manifest.files:
            contents.assembled(blobs, file.pieces, folder / SENT / file.name)
        try:
            made = work().run(make, folder, manifest.key, hub.store.db.dialect, policy)
        except Unwanted:
            pieces.let_go(blobs, (piece.digest for piece in manifest.pieces()))
            raise
        contents.keep_pages(blobs, made.pages, folder)
        return _committed(hub, row, before, (made, files, folder))


def _committed(hub: Hub, row: keeping.Row, before: str, what: tuple[Made, versions.Files, Path]) -> Outcome | None:
    db = hub.store.db
    with db.transaction():
        db.alone(f"session {row.id}")
        if keeping.state_of(db, row.id) != before:
            return None
        db.alone(f"hold session {row.id}")  # whoever erases it waits, or is waited for
        _not_erased(db, row.person, row.key)
        made, files, folder = what
        if not hub.store.blobs.held(_contents(files, made)):
            return None
        keeping.write(db, row, made, files, folder)
        quota.within(db, row.person, hub.terms.quota)
    return Outcome(row.id, row.state)


def _contents(files: versions.Files, made: Made) -> set[str]:
    """The digests of all that a session refers to."""
    return {piece.digest for parts in files.values() for piece in parts} | {page.digest for page in made.pages}
