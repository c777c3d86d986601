"""Contents proved: read from the object store and compared with their digests."""

from hashlib import sha256
from typing import NamedTuple

from unspool.errors import NotFound
from unspool.hub.store.blobs import PREFIX
from unspool.hub.store.database import Database
from unspool.hub.store.objects import Objects
from unspool.hub.store.packing import Damaged, unpacked

_MANY = 10_000
"""Contents that are looked at in one go."""
_ROWS = "SELECT digest, size, stored, encoding, key FROM blob WHERE digest >= ? AND digest < ? ORDER BY digest"


class Kept(NamedTuple):
    """A content, as its row says."""

    digest: str
    size: int
    stored: int
    encoding: str
    key: str


def parts(db: Database) -> tuple[str, ...]:
    """The beginnings of digests: what is done for all contents is done for a part of many at a time."""
    many = db.row("SELECT 1 FROM blob LIMIT 1 OFFSET ?", _MANY)
    return tuple(f"{number:02x}" for number in range(256)) if many else ("",)


def keys(objects: Objects, part: str) -> set[str]:
    """The keys of all objects of contents whose digests begin so."""
    return set(objects.keys(f"{PREFIX}{part}/" if part else PREFIX))


def kept(db: Database, part: str) -> list[Kept]:
    """The contents whose digests begin so."""
    return [Kept(*row) for row in db.rows(_ROWS, part, f"{part}g")]


def there(db: Database, one: Kept) -> bool:
    """Whether a content is still kept, and there."""
    return db.row("SELECT 1 FROM blob WHERE digest = ? AND key = ?", one.digest, one.key) is not None


def wrong(objects: Objects, one: Kept) -> str:
    """What is wrong with a content in an object store, in a sentence; empty where it is as it should be."""
    proof, size = sha256(), 0
    try:
        for piece in unpacked(objects.get(one.key), one.encoding):
            proof.update(piece)
            size += len(piece)
    except NotFound:
        return f"The content {one.digest} is missing in the object store."
    except Damaged:
        return f"The content {one.digest} is damaged in the object store."
    if proof.hexdigest() != one.digest:
        return f"The content {one.digest} is damaged in the object store."
    if size != one.size or objects.size(one.key) != one.stored:
        return f"The content {one.digest} is of another size than its row says."
    return ""
