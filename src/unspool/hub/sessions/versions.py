"""The files of a pushed session, and what becomes of those that a new push does not go on from.

Nothing that was pushed is lost by another push. A file that the new one begins with is part of it; any other stays,
under its name with `~1`, `~2` and so on; one that is not sent any more stays as it is.
"""

from collections.abc import Iterable, Mapping

from unspool.hub.sessions.joining import Read, Relation, relation
from unspool.hub.store.database import Database
from unspool.remote.manifest import File, Piece

Files = dict[str, tuple[Piece, ...]]


def kept(db: Database, session: str) -> Files:
    """The files of a session, by name."""
    found: dict[str, list[Piece]] = {}
    query = "SELECT name, digest, size FROM piece WHERE session = ? ORDER BY name, position"
    for name, digest, size in db.rows(query, session):
        found.setdefault(name, []).append(Piece(digest, size))
    return {name: tuple(pieces) for name, pieces in found.items()}


def joined(before: Mapping[str, tuple[Piece, ...]], new: Iterable[File], read: Read) -> Files | None:
    """All files after a push; None where nothing in it is new, for all of it is how what is kept begins."""
    files, fresh = dict(before), False
    for file in new:
        how = relation(before.get(file.name, ()), file.pieces, read) if file.name in before else Relation.LONGER
        if how is Relation.OTHER:
            files[_free(file.name, files)] = before[file.name]
        if how in (Relation.OTHER, Relation.LONGER):
            files[file.name] = file.pieces
            fresh = True
    return files if fresh or not before else None


def size(files: Mapping[str, tuple[Piece, ...]]) -> int:
    """Bytes of all of them; a piece that several have counts once."""
    return sum({piece.digest: piece.size for pieces in files.values() for piece in pieces}.values())


def _free(name: str, taken: Mapping[str, object]) -> str:
    number = 1
    while f"{name}~{number}" in taken:
        number += 1
    return f"{name}~{number}"
