"""Takes in a push: pieces first, then the session in one step."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import zstandard

from unspool.files import scratch_folder
from unspool.hub.errors import BadRequest, Gone, PolicyViolation, StoreUnavailable, TooLarge
from unspool.hub.people import erasure, users
from unspool.hub.people.rate_limit import count_bytes
from unspool.hub.people.users import Person, bytes_allowed
from unspool.hub.policy import policy_of
from unspool.hub.routes import Hub
from unspool.hub.sessions import session_store
from unspool.hub.sessions.process_push import SENT, MadeSession, make_session
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.database import Database, batches, placeholders
from unspool.hub.workers import worker_pool
from unspool.hub_client.manifest import PIECE, PushManifest, manifest_fault
from unspool.site.build.manifest import fingerprint

_SPARE = 256 * 1024 * 1024
"""Bytes that everybody may send in a day, beside twice what they may keep."""
_WINDOW = 16 * 1024 * 1024
"""Bytes of memory that unpacking may take."""


def missing_pieces(db: Database, person: str, digests: Iterable[str]) -> list[str]:
    """The pieces that this person has to send; what others sent is not told. Those that are here stay for a day."""
    wanted = list(dict.fromkeys(digests))
    there = piece_sizes(db, person, wanted)
    for some in batches([digest for digest in wanted if digest in there]):
        db.run(f"UPDATE blob SET created = ? WHERE digest IN ({placeholders(some)}) AND created < ?",  # noqa: S608
               now(), *some, now() - DAY // 4)  # fmt: skip
    return [digest for digest in wanted if digest not in there]


def piece_sizes(db: Database, person: str, digests: Sequence[str]) -> dict[str, int]:
    """The pieces that are here and that this person sent, each with its size."""
    found: dict[str, int] = {}
    for some in batches(digests):
        sql = "SELECT blob.digest, blob.size FROM sent JOIN blob ON blob.digest = sent.digest WHERE sent.person = ?"
        found.update(db.rows(f"{sql} AND sent.digest IN ({placeholders(some)})", person, *some))
    return found


def unknown_states(db: Database, person: str, project: str, states: Sequence[str]) -> list[str]:
    """The states that no session has which this person pushed to a project."""
    known: set[str] = set()
    for some in batches(states):
        sql = f"SELECT state FROM session WHERE project = ? AND person = ? AND state IN ({placeholders(some)})"  # noqa: S608
        known.update(state for (state,) in db.rows(sql, project, person, *some))
    return [state for state in states if state not in known]


def take_piece(hub: Hub, person: Person, digest: str, packed: bytes) -> None:
    """Keep a piece, if it is what its digest says."""
    data = unpack_piece(packed)
    if sha256(data).hexdigest() != digest:
        raise BadRequest("What was sent is not what its digest says.")
    store = hub.store
    most = _SPARE + 2 * bytes_allowed(store.db, person.id, hub.terms.quota)
    count_bytes(store.db, f"sent {person.id}", len(data), most)  # pieces of no session yet take room too
    store.blobs.keep(data)
    store.db.run("INSERT INTO sent(person, digest) VALUES(?, ?) ON CONFLICT DO NOTHING", person.id, digest)


def unpack_piece(packed: bytes) -> bytes:
    """What was packed with zstd; BadRequest or TooLarge before it takes more memory than a piece may."""
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(packed)
        data = reader.read(PIECE + 1)
    except zstandard.ZstdError:
        raise BadRequest("What was sent is not packed with zstd, or wants too much memory.") from None
    if len(data) > PIECE:
        raise TooLarge(f"A piece has at most {PIECE:,} bytes.")
    if not data:
        raise BadRequest("A piece is not empty.")
    return data


_TRIES = 5


class PushOutcome(NamedTuple):
    session: str
    state: str
    """Of what is kept now; another one than was sent where more was kept already."""
    lacks: tuple[str, ...] = ()
    """Pieces that have to be sent first; nothing was done."""


def session_identity(project: str, person: str, key: str) -> str:
    """The id of a session: the same for the same, so that one that was erased is known again."""
    return sha256(f"{project}\0{person}\0{key}".encode()).hexdigest()[:32]


def push(hub: Hub, person: Person, project: str, manifest: PushManifest) -> PushOutcome:
    """Take a session in, or say which pieces are lacking."""
    if reason := manifest_fault(manifest):
        raise BadRequest(f"The manifest cannot be taken: {reason}.")
    if manifest.size > hub.terms.upload:
        raise TooLarge(f"A session has at most {hub.terms.upload:,} bytes here.")
    session = session_identity(project, person.id, manifest.key)
    _not_erased(hub.store.db, person.id, manifest.key)
    for _ in range(_TRIES):
        before = session_store.state_of(hub.store.db, session)
        if before == manifest.state:
            return PushOutcome(session, before)
        wanted = {piece.digest: piece.size for piece in manifest.pieces()}
        lacks = missing_pieces(hub.store.db, person.id, wanted)
        there = piece_sizes(hub.store.db, person.id, list(wanted))
        if any(wanted[digest] != size for digest, size in there.items()):
            raise BadRequest("A piece is not as large as the manifest says.")
        if lacks:
            return PushOutcome(session, before, tuple(lacks))
        row = session_store.PushedRow(session, project, person.id, manifest.key, manifest.state, fingerprint())
        if done := _taken(hub, row, manifest, before):
            return done
    raise StoreUnavailable("This session is pushed from several places at once; try again.")


def _not_erased(db: Database, person: str, key: str) -> None:
    if erasure.was_erased(db, person, key):
        raise Gone("This session was erased here, and is not taken again.")


def _taken(hub: Hub, row: session_store.PushedRow, manifest: PushManifest, before: str) -> PushOutcome | None:
    """What becomes of it; None where somebody else was quicker, and it is to be tried again."""
    blobs = hub.store.blobs
    files = session_store.join_files(session_store.kept_files(hub.store.db, row.id), manifest.files, blobs.read)
    if files is None:
        return PushOutcome(row.id, before)
    policy = policy_of(hub.store.db, row.project) if hub.terms.door else None
    with scratch_folder() as folder:
        for file in manifest.files:
            session_store.assemble_file(blobs, file.pieces, folder / SENT / file.name)
        try:
            made = worker_pool().run(make_session, folder, manifest.key, hub.store.db.dialect, policy)
        except PolicyViolation:
            for digest in {piece.digest for piece in manifest.pieces()}:  # what was refused is not kept
                blobs.drop(digest)
            raise
        for page in made.pages:
            blobs.keep_file(page)
        return _committed(hub, row, before, (made, files, folder))


def _committed(
    hub: Hub, row: session_store.PushedRow, before: str, what: tuple[MadeSession, session_store.Files, Path]
) -> PushOutcome | None:
    db = hub.store.db
    with db.transaction():
        db.alone(f"session {row.id}")
        if session_store.state_of(db, row.id) != before:
            return None
        db.alone(f"hold session {row.id}")  # whoever erases it waits, or is waited for
        _not_erased(db, row.person, row.key)
        made, files, folder = what
        contents = {piece.digest for parts in files.values() for piece in parts} | {page.digest for page in made.pages}
        if not hub.store.blobs.held(contents):
            return None
        session_store.write_session(db, row, made, files, folder)
        users.check_quota(db, row.person, hub.terms.quota)
    return PushOutcome(row.id, row.state)
