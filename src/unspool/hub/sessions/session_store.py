"""Pushed sessions: a push taken in, pieces first and then the session in one step; their rows, files and pages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from unspool.files import scratch_folder
from unspool.hub.errors import BadRequest, Gone, PolicyViolation, StoreUnavailable, TooLarge
from unspool.hub.people import erasure, users
from unspool.hub.people.rate_limit import count_bytes
from unspool.hub.people.users import Person, bytes_allowed
from unspool.hub.policy import policy_of
from unspool.hub.routes import Hub
from unspool.hub.sessions.process_push import SENT, MadeSession, RequestRow, make_session, read_rows
from unspool.hub.store.blobs import DAY, Blobs, MadeFile, now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database, Value, batches, placeholders
from unspool.hub.store.texts import TextPart, ensure_year, known_parts, known_texts, place_parts, write_texts, year_of
from unspool.hub.workers import worker_pool
from unspool.hub_client.manifest import PIECE, FilePiece, ManifestFile, PushManifest, manifest_fault

Read = Callable[[str], Iterator[bytes]]


class FileRelation(Enum):
    SAME = "same"
    LONGER = "longer"
    """It begins with all of the old one."""
    SHORTER = "shorter"
    """The old one begins with all of it."""
    OTHER = "other"


def relate_files(old: Sequence[FilePiece], new: Sequence[FilePiece], read: Read) -> FileRelation:
    """What new pieces are to old ones; `read` gives a piece by its digest."""
    common = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        common += 1
    before, after = old[common:], new[common:]
    length = sum(piece.size for piece in after) - sum(piece.size for piece in before)
    streams = ((chunk for piece in pieces for chunk in read(piece.digest)) for pieces in (before, after))
    if before and after and not _begins_alike(*streams):
        return FileRelation.OTHER
    return FileRelation.SAME if length == 0 else FileRelation.LONGER if length > 0 else FileRelation.SHORTER


def _begins_alike(one: Iterator[bytes], other: Iterator[bytes]) -> bool:
    """Whether two streams are the same for as long as both go on."""
    mine = theirs = b""
    while True:
        mine, theirs = mine or next(one, b""), theirs or next(other, b"")
        if not mine or not theirs:
            return True
        size = min(len(mine), len(theirs))
        if mine[:size] != theirs[:size]:
            return False
        mine, theirs = mine[size:], theirs[size:]


Files = dict[str, tuple[FilePiece, ...]]


def kept_files(db: Database, session: str) -> Files:
    found: dict[str, list[FilePiece]] = {}
    query = "SELECT name, digest, size FROM piece WHERE session = ? ORDER BY name, position"
    for name, digest, size in db.rows(query, session):
        found.setdefault(name, []).append(FilePiece(digest, size))
    return {name: tuple(pieces) for name, pieces in found.items()}


def join_files(before: Mapping[str, tuple[FilePiece, ...]], new: Iterable[ManifestFile], read: Read) -> Files | None:
    """All files after a push; None where nothing in it is new, for all of it is how what is kept begins."""
    files, fresh = dict(before), False
    for file in new:
        how = relate_files(before.get(file.name, ()), file.pieces, read) if file.name in before else FileRelation.LONGER
        if how is FileRelation.OTHER:
            number = 1
            while f"{file.name}~{number}" in files:
                number += 1
            files[f"{file.name}~{number}"] = before[file.name]
        if how in (FileRelation.OTHER, FileRelation.LONGER):
            files[file.name] = file.pieces
            fresh = True
    return files if fresh or not before else None


def total_size(files: Mapping[str, tuple[FilePiece, ...]]) -> int:
    """Bytes of all of them; a piece that several have counts once."""
    return sum({piece.digest: piece.size for pieces in files.values() for piece in pieces}.values())


_AT_ONCE = 500


def execute_batches(db: Database, sql: str, rows: Iterable[Sequence[Value]]) -> None:
    waiting = iter(rows)
    while some := list(islice(waiting, _AT_ONCE)):
        db.many(sql, some)


def assemble_file(blobs: Blobs, parts: tuple[FilePiece, ...], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for piece in parts:
            file.writelines(blobs.read(piece.digest))


def assemble_session(store: Store, session: str, folder: Path) -> None:
    """The files of a session as they are now, where those are looked for that make something of them."""
    for name, parts in kept_files(store.db, session).items():
        if "~" not in name:
            assemble_file(store.blobs, parts, folder / SENT / name)


_OF_SESSION = ("piece", "session_page", "request")


class PushedRow(NamedTuple):
    id: str
    project: str
    person: str
    key: str
    state: str
    made: str = ""
    """What made its pages; empty until somebody looks at them."""


def state_of(db: Database, session: str) -> str:
    """What a session consists of now; empty where there is none."""
    found = db.row("SELECT state FROM session WHERE id = ?", session)
    return str(found[0]) if found else ""


def write_session(store: Store, row: PushedRow, made: MadeSession, files: Files, folder: Path, *, is_new: bool) -> None:
    """Put a session in place of what was known of it, if it is not new, inside the caller's transaction."""
    db = store.db
    _write_row(db, row, made, total_size(files))
    for table in () if is_new else _OF_SESSION:
        db.run(f"DELETE FROM {table} WHERE session = ?", row.id)  # noqa: S608  names of tables
    pieces = ((row.id, name, at, one.digest, one.size) for name, parts in files.items() for at, one in enumerate(parts))
    execute_batches(db, "INSERT INTO piece(session, name, position, digest, size) VALUES(?, ?, ?, ?, ?)", pieces)
    write_made_texts(store, row.id, made, folder)
    _requests(db, row.id, folder)


def write_made_texts(store: Store, session: str, made: MadeSession, folder: Path) -> None:
    digest = made.texts.digest if made.texts else ""
    parts = place_parts(store.blobs, digest, list(read_rows(folder, TextPart)))
    write_texts(store.db, session, digest, parts, made.facts.finished or 0)


def write_pages(db: Database, session: str, made: Sequence[MadeFile]) -> None:
    """Write which pages a session has that has none."""
    rows = ((session, page.name, page.digest, page.kind) for page in made)
    execute_batches(db, "INSERT INTO session_page(session, name, digest, kind) VALUES(?, ?, ?, ?)", rows)


def _write_row(db: Database, row: PushedRow, made: MadeSession, size: int) -> None:
    logged, time = msgspec.structs.asdict(made.facts), now()
    logged["models"], logged["forked"] = msgspec.json.encode(made.facts.models).decode(), int(made.facts.forked)
    columns: dict[str, Value] = {**row._asdict(), **logged, "size": size, "created": time, "updated": time}
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "created")
    db.run(f"INSERT INTO session({names}) VALUES({marks}) ON CONFLICT(id) DO UPDATE SET {changed}", *columns.values())


def _requests(db: Database, session: str, folder: Path) -> None:
    put = (
        "INSERT INTO request(session, number, shared, identity, day, model, input, output, cache_read, cache_write,"
        " final, cost) VALUES(?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    rows = enumerate(read_rows(folder, RequestRow))
    execute_batches(db, put, ((session, number, *one[:-2], int(one.final), one.cost) for number, one in rows))
    db.alone("requests")  # two sessions that hold the same one must not pass each other unseen
    db.run(
        "UPDATE request SET shared = 1 WHERE session = ? AND EXISTS (SELECT 1 FROM request AS other"
        " WHERE other.identity = request.identity AND other.session <> request.session)",
        session,
    )
    db.run(
        "UPDATE request SET shared = 1 WHERE session <> ? AND shared = 0"
        " AND identity IN (SELECT identity FROM request WHERE session = ? AND shared = 1)",
        session, session,
    )  # fmt: skip


_SPARE = 256 * 1024 * 1024
"""Bytes that everybody may send in a day, beside twice what they may keep."""
_WINDOW = 16 * 1024 * 1024
"""Bytes of memory that unpacking may take."""
_FRAME = 64
"""Bytes that packing may add to what it cannot make smaller."""


def missing_pieces(db: Database, person: str, digests: Iterable[str]) -> list[str]:
    """The pieces that this person has to send; what others sent is not told. Those that are here stay for a day."""
    wanted = list(dict.fromkeys(digests))
    there = _sent_sizes(db, person, wanted)
    return [digest for digest in wanted if digest not in there]


def _sent_sizes(db: Database, person: str, digests: Sequence[str]) -> dict[str, int]:
    """The pieces that are here and that this person sent, each with its size. They stay for a day."""
    found: list[tuple[str, int, int]] = []
    sql = "SELECT blob.digest, blob.size, blob.created FROM sent JOIN blob ON blob.digest = sent.digest"
    for some in batches(digests):
        found += db.rows(f"{sql} WHERE sent.person = ? AND sent.digest IN ({placeholders(some)})", person, *some)
    late = now() - DAY // 4
    for some in batches([digest for digest, _, created in found if created < late]):
        db.run(f"UPDATE blob SET created = ? WHERE digest IN ({placeholders(some)}) AND created < ?",  # noqa: S608
               now(), *some, late)  # fmt: skip
    return {digest: size for digest, size, _ in found}


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
    if is_one_frame(packed) and len(packed) < len(data) + _FRAME:
        store.blobs.keep_packed(digest, len(data), packed)
    else:
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


def is_one_frame(packed: bytes) -> bool:
    """Whether something that `unpack_piece` took has nothing beside what it unpacked, which nobody would look at."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    unpacker.decompress(packed)
    return unpacker.eof and not unpacker.unused_data


_TRIES = 5


class PushOutcome(NamedTuple):
    session: str
    state: str
    """Of what is kept now; another one than was sent where more was kept already."""
    lacks: tuple[str, ...] = ()
    """Pieces that have to be sent first; nothing was done."""


def session_identity(db: Database, project: str, person: str, manifest: PushManifest) -> str:
    """The id of a session: the same for the same. Ids of agents may be equal, so the agent belongs to it, but for
    sessions that were pushed before it did."""
    plain = f"{project}\0{person}\0{manifest.key}"
    former = sha256(plain.encode()).hexdigest()[:32]
    row = db.row("SELECT agent FROM session WHERE id = ?", former)
    if not manifest.agent or (row and row[0] == manifest.agent):
        return former
    return sha256(f"{plain}\0{manifest.agent}".encode()).hexdigest()[:32]


def push(hub: Hub, person: Person, project: str, manifest: PushManifest) -> PushOutcome:
    """Take a session in, or say which pieces are lacking."""
    if reason := manifest_fault(manifest):
        raise BadRequest(f"The manifest cannot be taken: {reason}.")
    if manifest.size > hub.terms.upload:
        raise TooLarge(f"A session has at most {hub.terms.upload:,} bytes here.")
    session = session_identity(hub.store.db, project, person.id, manifest)
    _not_erased(hub.store.db, person.id, manifest.key)
    for _ in range(_TRIES):
        before = state_of(hub.store.db, session)
        if before == manifest.state:
            return PushOutcome(session, before)
        wanted = {piece.digest: piece.size for piece in manifest.pieces()}
        there = _sent_sizes(hub.store.db, person.id, list(wanted))
        if any(wanted[digest] != size for digest, size in there.items()):
            raise BadRequest("A piece is not as large as the manifest says.")
        if lacks := [digest for digest in wanted if digest not in there]:
            return PushOutcome(session, before, tuple(lacks))
        row = PushedRow(session, project, person.id, manifest.key, manifest.state)
        if done := _taken(hub, row, manifest, before):
            return done
    raise StoreUnavailable("This session is pushed from several places at once; try again.")


def _not_erased(db: Database, person: str, key: str) -> None:
    if erasure.was_erased(db, person, key):
        raise Gone("This session was erased here, and is not taken again.")


def _taken(hub: Hub, row: PushedRow, manifest: PushManifest, before: str) -> PushOutcome | None:
    """What becomes of it; None where somebody else was quicker, and it is to be tried again."""
    blobs = hub.store.blobs
    files = join_files(kept_files(hub.store.db, row.id), manifest.files, blobs.read)
    if files is None:
        return PushOutcome(row.id, before)
    policy = policy_of(hub.store.db, row.project) if hub.terms.door else None
    with scratch_folder() as folder:
        for file in manifest.files:
            assemble_file(blobs, file.pieces, folder / SENT / file.name)
        try:
            former, known = known_texts(hub.store.db, row.id)
            made = worker_pool().run(make_session, folder, manifest.key, known, policy)
        except PolicyViolation:
            for digest in {piece.digest for piece in manifest.pieces()}:  # what was refused is not kept
                blobs.drop(digest)
            raise
        keep_made(hub.store, made)
        done = _committed(hub, row, (before, known), (made, files, folder))
    if former:
        blobs.drop(former)  # nothing of what it said before is left, once nobody refers to it
    return done


def keep_made(store: Store, made: MadeSession) -> None:
    """Put the contents of a session into the object store, and have room in the database for what refers to them."""
    for content in made.contents:
        store.blobs.keep_file(content)
    ensure_year(store.db, year_of(made.facts.finished or 0))


def _committed(
    hub: Hub, row: PushedRow, before: tuple[str, dict[int, str]], what: tuple[MadeSession, Files, Path]
) -> PushOutcome | None:
    db = hub.store.db
    with db.transaction():
        db.alone(f"session {row.id}")
        if (state_of(db, row.id), known_parts(db, row.id)) != before:
            return None
        db.alone(f"hold session {row.id}")  # whoever erases it waits, or is waited for
        _not_erased(db, row.person, row.key)
        made, files, folder = what
        pieces = {piece.digest for parts in files.values() for piece in parts}
        contents = pieces | {content.digest for content in made.contents}
        if not hub.store.blobs.held(contents):
            return None
        write_session(hub.store, row, made, files, folder, is_new=not before[0])
        users.check_quota(db, row.person, hub.terms.quota)
    return PushOutcome(row.id, row.state)
