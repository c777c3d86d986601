"""Contents kept once by digest: packed, unpacked and proved; what an object store does, and the one in a folder."""

import os
import secrets
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple, Protocol, cast

import zstandard

from unspool.errors import NotFound
from unspool.files import settle
from unspool.hub.errors import NO_ROOM, StoreFull, StoreUnavailable
from unspool.hub.store.database import Database, batches, placeholders

CHUNK = 256 * 1024
"""Bytes that are held in memory at a time."""


class Objects(Protocol):
    """An open object store, for all threads of a process. StoreUnavailable where it cannot be reached or has no room.

    Keys are made by the hub alone: letters, digits, `-`, `.` and `/`, never taken from what anybody sends.
    """

    def put(self, key: str, data: Iterable[bytes]) -> int:
        """Keep what comes, in place of what was there; its size. Nobody ever sees a part of it."""

    def get(self, key: str) -> Iterator[bytes]:
        """What is kept, piece by piece; NotFound before the first piece where there is nothing."""

    def get_part(self, key: str, start: int, size: int) -> bytes:
        """So many bytes from a place on, fewer where it ends before; NotFound where there is nothing."""

    def size(self, key: str) -> int | None:
        """How large it is; None where there is nothing."""

    def delete(self, key: str) -> None:
        """Have nothing under a key any more."""

    def keys(self, prefix: str) -> Iterator[str]:
        """All keys that begin so, in order; they are held in memory, so ask for a part of many."""

    def sweep(self) -> int:
        """Remove what somebody who was killed left half written, more than a day ago; how many there were."""

    def well(self) -> bool:
        """Whether the object store answers now."""


_LEVEL = 6


class DamagedContent(StoreUnavailable):
    """What was stored cannot be unpacked."""


def pack(data: bytes, encoding: str) -> bytes:
    if encoding == "zstd":
        return zstandard.ZstdCompressor(_LEVEL).compress(data)
    if encoding == "gzip":
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        return packer.compress(data) + packer.flush()
    return data


def unpack(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A content as it was, from how it is stored, in pieces of bounded size; DamagedContent where that fails."""
    try:
        yield from _UNPACK[encoding](pieces)
    except (zlib.error, zstandard.ZstdError) as error:
        raise DamagedContent("A content is damaged in the object store.") from error


def _of_gzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(31)
    for piece in pieces:
        rest = piece
        while rest and not unpacker.eof:
            if made := unpacker.decompress(rest, CHUNK):
                yield made
            rest = unpacker.unconsumed_tail


def _of_zstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Of one frame, or of several that follow each other."""
    source = cast("IO[bytes]", _Pieces(piece for piece in pieces if piece))
    reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
    while made := reader.read(CHUNK):
        yield made


class _Pieces:
    """Pieces, as one who reads from a file wants them."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def read(self, size: int) -> bytes:
        """At most so many bytes, nothing at the end: more would be written past the end of the reader's memory."""
        held = self._left or next(self._pieces, b"")
        self._left = held[size:]
        return held[:size]


_UNPACK: dict[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {"": iter, "zstd": _of_zstd, "gzip": _of_gzip}


HOUR = 3_600_000
DAY = 24 * HOUR
"""Milliseconds: what nothing refers to for so long is swept."""
PREFIX = "blobs/"
AUDIT_MARK = "audit/head"
"""The key of the object by which it shows when the audit log was cut."""
REFERENCES = ("share_file", "session_page", "piece", "session_text")
"""The tables whose `digest` keeps a content."""
UNREFERRED = " AND ".join(
    f"NOT EXISTS (SELECT 1 FROM {table} WHERE {table}.digest = blob.digest)"  # noqa: S608
    for table in REFERENCES
)
_COLUMNS = "digest, size, stored, encoding, key"


class Blob(NamedTuple):
    digest: str
    size: int
    stored: int
    """Bytes that it takes."""
    encoding: str
    key: str
    """Where its object lies."""


class MadeFile(NamedTuple):
    """A file that a worker made, packed as it will be kept; `digest` and `size` are of what it is when unpacked."""

    name: str
    path: Path
    digest: str
    size: int
    encoding: str
    kind: str


def make_file(name: str, data: bytes, path: Path, kind: str) -> MadeFile:
    path.write_bytes(pack(data, "gzip"))
    return MadeFile(name, path, sha256(data).hexdigest(), len(data), "gzip", kind)


def now() -> int:
    """Milliseconds of the epoch, as the hub keeps times."""
    return time.time_ns() // 1_000_000


def new_key(digest: str) -> str:
    """A key for an object, which was never used and says when it was made."""
    return f"{PREFIX}{digest[:2]}/{digest}.{now():x}-{secrets.token_hex(4)}"


def key_time(key: str) -> int:
    """When a key was made; 0 for one that `new_key` did not make."""
    stamp = key.rpartition(".")[2].partition("-")[0]
    try:
        return int(stamp, 16)
    except ValueError:
        return 0


class Blobs:
    """The contents of a hub. What is kept but not referred to in the same breath is swept after a day."""

    def __init__(self, db: Database, objects: Objects) -> None:
        self._db, self._objects = db, objects

    def keep(self, data: bytes, encoding: str = "zstd") -> Blob:
        """Keep a content that is small enough for memory; again costs nothing."""
        digest = sha256(data).hexdigest()
        return self.find(digest, touch=True) or self._kept(digest, len(data), encoding, [pack(data, encoding)])

    def keep_packed(self, digest: str, size: int, packed: bytes) -> Blob:
        """Keep a content that came packed with zstd, as it came; whoever calls has unpacked it, and seen that it is."""
        return self.find(digest, touch=True) or self._kept(digest, size, "zstd", [packed])

    def keep_file(self, file: MadeFile) -> Blob:
        with file.path.open("rb") as opened:
            chunks = iter(lambda: opened.read(CHUNK), b"")
            return self.find(file.digest, touch=True) or self._kept(file.digest, file.size, file.encoding, chunks)

    def find(self, digest: str, *, touch: bool = False) -> Blob | None:
        """A content that is kept; `touch` keeps it from being swept for most of a day more."""
        found = self._db.row(f"SELECT {_COLUMNS}, created FROM blob WHERE digest = ?", digest)  # noqa: S608
        if found and touch and found[-1] < now() - HOUR:  # nothing, where it was swept in between
            sql = f"UPDATE blob SET created = ?, unused = NULL WHERE digest = ? RETURNING {_COLUMNS}, created"  # noqa: S608
            found = self._db.row(sql, now(), digest)
        return Blob(*found[:-1]) if found else None

    def packed(self, digest: str) -> tuple[Blob, Iterator[bytes]]:
        blob = self.find(digest)
        if blob is None:
            raise NotFound(f"There is no content {digest}.")
        return blob, self._objects.get(blob.key)

    def read(self, digest: str) -> Iterator[bytes]:
        """A content, piece by piece; StoreUnavailable at its end where it is not what it should be."""
        blob, pieces = self.packed(digest)
        proof = sha256()
        for piece in unpack(pieces, blob.encoding):
            proof.update(piece)
            yield piece
        if proof.hexdigest() != digest:
            raise StoreUnavailable(f"The content {digest} is damaged in the object store.")

    def held(self, digests: Iterable[str]) -> bool:
        """Whether all of some contents are here; inside the transaction that refers to them, so that they stay."""
        wanted = sorted(set(digests))
        sql = "UPDATE blob SET created = ?, unused = NULL WHERE digest IN ({})"
        found = (self._db.run(sql.format(placeholders(lot)), now(), *lot) for lot in batches(wanted))
        return len(wanted) == sum(found)

    def drop(self, digest: str, before: int | None = None) -> bool:
        """Remove a content at once where nothing refers to it; outside a transaction. False where something does.

        `before`: only where it has been unused since before that time, and nobody has sent it again.
        """
        old = "" if before is None else f" AND unused < {before:d} AND created < {before:d}"
        with self._db.transaction():
            # whoever is about to refer to it is waited for, and what they did is seen by the next statement
            self._db.run("UPDATE blob SET created = created WHERE digest = ?", digest)
            gone = self._db.row(f"DELETE FROM blob WHERE digest = ?{old} AND {UNREFERRED} RETURNING key", digest)  # noqa: S608
            if gone is None:
                return self.find(digest) is None
            self._db.run("DELETE FROM sent WHERE digest = ?", digest)
        self._objects.delete(gone[0])
        return True

    def _kept(self, digest: str, size: int, encoding: str, data: Iterable[bytes]) -> Blob:
        """Keep what nobody has kept; where somebody else was quicker, theirs stays."""
        key = new_key(digest)
        stored = self._objects.put(key, data)
        found = self._db.row(
            f"INSERT INTO blob({_COLUMNS}, created) VALUES(?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT(digest) DO UPDATE SET created = excluded.created, unused = NULL RETURNING {_COLUMNS}",
            digest, size, stored, encoding, key, now(),
        )  # fmt: skip
        blob = Blob(*found) if found else Blob(digest, size, stored, encoding, key)
        if blob.key != key:
            self._objects.delete(key)
        return blob


_PART = ".part"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_DAY = 86_400


class FolderObjects(Objects):
    """An object store in a folder. A link in it is no object: it could lead anywhere."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with _as_hub_errors():
            _made(folder)

    def put(self, key: str, data: Iterable[bytes]) -> int:
        path = self._folder / key
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}{_PART}")
        with _as_hub_errors():
            _made(path.parent)
        try:
            size = _written(part, data)
            with _as_hub_errors():
                part.replace(path)
                settle(path.parent)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        return size

    def get(self, key: str) -> Iterator[bytes]:
        try:
            with _as_hub_errors():
                number = os.open(self._folder / key, os.O_RDONLY | _NO_LINK)
        except FileNotFoundError:
            raise NotFound(f"There is no object {key}.") from None
        return _pieces(number)

    def get_part(self, key: str, start: int, size: int) -> bytes:
        try:
            with _as_hub_errors(), self._opened(key) as file:
                file.seek(start)
                return file.read(size)
        except FileNotFoundError:
            raise NotFound(f"There is no object {key}.") from None

    def _opened(self, key: str) -> IO[bytes]:
        return os.fdopen(os.open(self._folder / key, os.O_RDONLY | _NO_LINK), "rb", buffering=0)

    def size(self, key: str) -> int | None:
        with suppress(FileNotFoundError), _as_hub_errors():
            return (self._folder / key).lstat().st_size
        return None

    def delete(self, key: str) -> None:
        with _as_hub_errors():
            (self._folder / key).unlink(missing_ok=True)

    def keys(self, prefix: str) -> Iterator[str]:
        top = self._folder / prefix.rpartition("/")[0]
        with _as_hub_errors():
            found = (path.relative_to(self._folder).as_posix() for path in _files(top) if path.suffix != _PART)
            return iter(sorted(key for key in found if key.startswith(prefix)))

    def sweep(self) -> int:
        count = 0
        with _as_hub_errors():
            parts = [path for path in _files(self._folder) if path.suffix == _PART]
            for path in parts:
                with suppress(FileNotFoundError):
                    if path.lstat().st_mtime < time.time() - _DAY:
                        path.unlink()
                        count += 1
        return count

    def well(self) -> bool:
        return os.access(self._folder, os.W_OK | os.X_OK)


def _made(folder: Path) -> None:
    """Make a folder whose name stays after a loss of power."""
    if folder.is_dir():
        return
    _made(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    settle(folder.parent)


def _written(part: Path, data: Iterable[bytes]) -> int:
    """A new file with what comes, safe on the disk; its size."""
    size = 0
    with _as_hub_errors():
        number = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINK, 0o600)
    try:
        for piece in data:
            size += len(piece)
            rest = memoryview(piece)
            while rest:  # the system may take it in parts
                with _as_hub_errors():
                    rest = rest[os.write(number, rest) :]
        with _as_hub_errors():
            os.fsync(number)
    finally:
        os.close(number)
    return size


def _pieces(number: int) -> Iterator[bytes]:
    """The pieces of an open file, which is closed after the last one."""
    with os.fdopen(number, "rb", buffering=0) as file:
        while True:
            with _as_hub_errors():
                piece = file.read(CHUNK)
            if not piece:
                return
            yield piece


def _files(top: Path) -> Iterator[Path]:
    try:
        with os.scandir(top) as entries:
            found = list(entries)
    except FileNotFoundError:
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


@contextmanager
def _as_hub_errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFull("The hub's disk is full; what was kept before is safe.") from None
        raise StoreUnavailable(f"The folder of objects cannot be used: {error.strerror}.") from error
