"""Keeping files: what is new of each goes into the archive, and nothing that was there is lost."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from unspool.store.archive.archive import ArchiveDatabase, KeptFile, path_for_database
from unspool.store.archive.chain import FileStatus, Outcome, bytes_digest, first_link, next_link
from unspool.store.archive.database import sqlite_errors_told
from unspool.store.archive.line_filter import CUT, FilteredFile, OpenFile
from unspool.store.archive.pack_writer import Packer
from unspool.store.archive.packs import PACK

_COMMIT_BYTES = 4 * PACK
_TICK_NS = 20_000_000
"""A file system's clock may stand still for so long: a file just changed may change again without showing it."""
_LOOK_AGAIN = 0


class _Growing(NamedTuple):
    """A generation as it is being written: its number in the table, its size and its chain so far."""

    id: int
    size: int
    chain: bytes


class Keeper:
    """Writes to an archive. Use it in a `with`: what was kept is safe when it ends, and every few packs before."""

    def __init__(self, archive: ArchiveDatabase) -> None:
        self._archive = archive
        self._db = archive.db
        self._packer = Packer(archive)
        self._since_commit = 0
        self.bytes = 0
        """Bytes that were taken in."""

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self._packer.close()
            self._undo()

    def keep(
        self,
        origin: int,
        path: str,
        source: Path | FilteredFile,
        status: FileStatus,
        last: KeptFile | None,
        *,
        apart: bool = False,
    ) -> Outcome:
        """Take in what a file holds up to the size that `status` tells, and that the archive does not hold yet; of one
        that is filtered, `status` tells the size of what is left. `apart`: each state is a generation of its own, also
        one that only has more at its end.

        OSError where the file cannot be read; what was read of it is kept. Any other error takes back everything
        since the last commit.
        """
        if last is not None and _same(status, last):
            return "same"
        opened = source if isinstance(source, FilteredFile) else source.open("rb", buffering=0)
        with opened as stream, ExitStack() as unless_all_is_well:
            unless_all_is_well.callback(self._undo)
            try:
                with sqlite_errors_told(self._archive.path):
                    outcome = self._keep(origin, path, stream, status, apart=apart)
            except OSError:
                unless_all_is_well.pop_all()
                raise
            unless_all_is_well.pop_all()
            return outcome

    def _keep(self, origin: int, path: str, stream: OpenFile, status: FileStatus, *, apart: bool) -> Outcome:
        self._begin()
        last = self._archive.last(origin, path)  # another process may have been here since the caller looked
        if last is None:
            self._db.execute("INSERT INTO file(origin, path) VALUES(?, ?)", (origin, path_for_database(path)))
            self._store_rest(self._generation(self._db.last_insert_rowid(), path, 1, b""), stream, status)
            return "new"
        if _same(status, last):
            return "same"
        goes_on = status.size == last.size if apart else status.size >= last.size
        if goes_on and self._continues(stream, last):
            self._store_rest(_Growing(last.generation, last.size, last.chain), stream, status)
            return "grown" if status.size > last.size else "same"
        self._store_rest(self._generation(last.file, path, last.number + 1, last.chain), stream, status)
        return "rewritten"

    def missed(self, file: int) -> None:
        """Note that a file is no longer where it came from."""
        with sqlite_errors_told(self._archive.path):
            self._begin()
            self._db.execute("UPDATE generation SET gone = ? WHERE file = ? AND gone IS NULL", (time.time(), file))

    def commit(self) -> None:
        """Make everything kept so far safe; where that fails, none of it is in the archive."""
        try:
            with sqlite_errors_told(self._archive.path):
                if self._db.in_transaction:
                    self._packer.flush()
                    self._db.execute("COMMIT")
        finally:
            self._undo()
        self._since_commit = 0

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
            self._packer.begin()

    def _undo(self) -> None:
        """Take back what is not committed, if anything."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _generation(self, file: int, path: str, number: int, before: bytes) -> _Growing:
        chain = first_link(path, number, before)
        self._db.execute(
            "INSERT INTO generation(file, number, size, modified, changed, inode, seen, chain)"
            " VALUES(?, ?, 0, 0, 0, 0, ?, ?)",
            (file, number, time.time(), chain),
        )
        return _Growing(self._db.last_insert_rowid(), 0, chain)

    def _continues(self, stream: OpenFile, last: KeptFile) -> bool:
        """Whether the file still begins with what is kept of it."""
        stream.seek(0)
        pieces = self._archive.pieces(last.generation)
        return all(bytes_digest(_read(stream, piece.size)) == piece.digest for piece in pieces)

    def _store_rest(self, generation: _Growing, stream: OpenFile, status: FileStatus) -> None:
        number, size, chain = generation
        looked, failure = time.time_ns(), None
        try:
            stream.seek(size)
            while size < status.size and (data := _read(stream, min(CUT - size % CUT, status.size - size))):
                chain = next_link(chain, len(data), self._packer.store(number, size, data, reuse=True))
                size += len(data)
                self.bytes += len(data)
                self._since_commit += len(data)
        except OSError as error:  # what was read is kept
            failure = error
        sure = size == status.size and abs(looked - status.changed) > _TICK_NS
        self._db.execute(
            "UPDATE generation SET size = ?, modified = ?, changed = ?, inode = ?, gone = NULL, chain = ? WHERE id = ?",
            (size, status.modified, status.changed if sure else _LOOK_AGAIN, status.inode, chain, number),
        )
        if failure is not None:
            raise failure
        if self._since_commit >= _COMMIT_BYTES:
            self.commit()


def _same(status: FileStatus, last: KeptFile) -> bool:
    return status == (last.size, last.modified, last.changed, last.inode) and last.gone is None


def _read(stream: OpenFile, size: int) -> bytes:
    """Up to so many bytes; fewer only where the file ends."""
    data = stream.read(size)
    while 0 < len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return data
