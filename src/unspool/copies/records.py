"""Files of copies written all or none, and the records by which a copy is found and undone."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape as glob_escape
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.agents import AGENTS
from unspool.copies.material import LineTally
from unspool.errors import Ambiguous, Exists, NoRoom, NotFound, Unreadable
from unspool.files import place_new, write_atomically
from unspool.store.archive.database import archive_folder, erase_file

_FULL = {errno.ENOSPC, errno.EDQUOT}


class FileToWrite(NamedTuple):
    """A file to be written."""

    path: Path
    chunks: Callable[[], Iterable[bytes]]


class WrittenFile(msgspec.Struct, frozen=True):
    """A file that was written, as it was then."""

    path: str
    size: int
    digest: str


class WrittenFiles(NamedTuple):
    """What was written, the log first, and the folders that were made for it, outer before inner."""

    files: list[WrittenFile]
    folders: list[str]


Proof = Callable[[Iterable[bytes]], None]
"""Looks at the lines of a finished log and raises where it is not sound."""


@contextmanager
def write_all_or_none(log: FileToWrite, others: Iterable[FileToWrite], proof: Proof) -> Iterator[WrittenFiles]:
    """Write the log and what comes with it, never over a file that is there; taken back where the `with` fails."""
    work = _Work()
    try:
        with _told(log.path):
            done = work.done(log, others, proof)
        yield done
        work.placed.clear()
        work.folders.clear()
    finally:
        work.cleared()


def rehearse_writing(log: FileToWrite, others: Iterable[FileToWrite], proof: Proof) -> WrittenFiles:
    """What `write_all_or_none` would write, or what it would raise; nothing is written."""
    with _told(log.path):
        check_free(log.path)
        proof(log.chunks())
        return WrittenFiles([_rehearsed(paper) for paper in (log, *others)], [])


def _rehearsed(paper: FileToWrite) -> WrittenFile:
    check_free(paper.path)
    digest, size = hashlib.sha256(), 0
    for chunk in paper.chunks():
        digest.update(chunk)
        size += len(chunk)
    return WrittenFile(str(paper.path), size, digest.hexdigest())


def check_free(path: Path) -> None:
    """Raise what writing a new file of that name would raise, as far as that shows without writing."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "File exists", str(path))
    folder = next(one for one in path.parents if os.path.lexists(one))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system says, in our words."""
    try:
        yield
    except FileExistsError as error:
        raise Exists(f"{error.filename2 or error.filename} is there already; nothing was written.") from None
    except OSError as error:
        kind = NoRoom if error.errno in _FULL else Unreadable
        told = f"Cannot write {error.filename or path}: {error.strerror or error}. Nothing was written."
        raise kind(told) from None


class _Work:
    """Files and folders made so far."""

    def __init__(self) -> None:
        self.parts: list[Path] = []
        self.placed: list[Path] = []
        self.folders: list[Path] = []

    def done(self, log: FileToWrite, others: Iterable[FileToWrite], proof: Proof) -> WrittenFiles:
        part, written = self._part(log)
        with part.open("rb") as lines:
            proof(lines)
        files = [written, *(self._other(paper) for paper in others)]
        self._place(part, log.path)
        return WrittenFiles(files, [str(folder) for folder in self.folders])

    def cleared(self) -> None:
        """Take back what has no other name, and what was placed and not kept."""
        for path in (*self.parts, *self.placed):
            path.unlink(missing_ok=True)
        remove_empty_folders(self.folders)

    def _other(self, paper: FileToWrite) -> WrittenFile:
        part, written = self._part(paper)
        self._place(part, paper.path)
        part.unlink(missing_ok=True)
        return written

    def _place(self, part: Path, path: Path) -> None:
        place_new(part, path)
        self.placed.append(path)

    def _part(self, paper: FileToWrite) -> tuple[Path, WrittenFile]:
        """The file under a name that nobody looks for."""
        check_free(paper.path)
        descriptor, name = tempfile.mkstemp(dir=self._folder(paper.path.parent), prefix=".unspool-", suffix=".part")
        self.parts.append(Path(name))
        digest, size = hashlib.sha256(), 0
        with os.fdopen(descriptor, "wb", buffering=1 << 20) as file:
            for chunk in paper.chunks():
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
            file.flush()
            os.fsync(file.fileno())
        return Path(name), WrittenFile(str(paper.path), size, digest.hexdigest())

    def _folder(self, folder: Path) -> Path:
        """The folder, made private where it is missing."""
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(mode=0o700, exist_ok=True)
            self.folders.append(one)
        return folder


def remove_empty_folders(folders: Iterable[Path]) -> None:
    """Remove folders, given outer before inner, where nothing is in them."""
    for folder in reversed(list(folders)):
        with suppress(OSError):
            folder.rmdir()


_FOLDER = "clones"
_LISTED = 12
_DECODER_ERRORS = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError)


class CopyRecord(msgspec.Struct, frozen=True):
    session: str
    source: str
    """The session it was made from."""
    source_path: str
    command: str
    """clone, fork, repair, move or import."""
    options: dict[str, object]
    made: str
    version: str
    title: str
    cwd: str
    files: list[WrittenFile]
    """The log first."""
    before: LineTally
    after: LineTally
    folders: list[str] = []
    """Those made for the files, outer before inner."""
    compressed: list[str] = []
    """Lines of the copy that a model has shortened, in it or in one that it comes from."""


def keep_record(record: CopyRecord, *, dry_run: bool = False) -> None:
    """Remember a copy; on a dry run, only raise what would keep it from being remembered."""
    place = archive_folder() / _FOLDER / f"{record.session}.json"
    try:
        if dry_run:
            check_free(place)
        else:
            write_atomically(place, [msgspec.json.format(msgspec.json.encode(record))])
    except OSError as error:
        kind = NoRoom if error.errno == errno.ENOSPC else Unreadable
        raise kind(f"{place} cannot be written ({error.strerror}), so no copy was made.") from None


def copy_records(folder: Path | None = None) -> Iterator[CopyRecord]:
    """Every copy remembered, the newest first; files that are none of ours are passed over."""
    found = []
    for path in (archive_folder(folder) / _FOLDER).glob("*.json"):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=CopyRecord))
        except (*_DECODER_ERRORS, OSError):
            continue
    return iter(sorted(found, key=lambda record: record.made, reverse=True))


def find_record(session: str) -> CopyRecord:
    """The record of the copy whose id begins so; of the newest where nothing is said."""
    fitting = [record for record in copy_records() if record.session.startswith(session)]
    if not fitting:
        raise NotFound(f"No copy is known whose id begins with “{session}”." if session else "No copy was made yet.")
    if session and len(fitting) > 1:
        listed = tuple(f"{record.session}  {record.title[:80]}" for record in fitting[:_LISTED])
        raise Ambiguous(f"{len(fitting)} copies begin with “{session}”:", listed)
    return fitting[0]


def compression_file(session: str, folder: Path | None = None) -> Path:
    """Where it is kept what of a copy was shortened by a model, before and after."""
    return archive_folder(folder) / _FOLDER / f"{session}-compression.md"


def forget_compressions(folder: Path, session: str) -> None:
    """Remove the passages of a session that were kept when it, or what it was made from, was compressed."""
    for record in copy_records(folder):
        if session in (record.session, record.source):
            erase_file(compression_file(record.session, folder))


def compressed_lines(session: str) -> frozenset[str]:
    """Lines of a session that a model has shortened already."""
    if Path(session).name != session:
        return frozenset()
    try:
        held = msgspec.json.decode((archive_folder() / _FOLDER / f"{session}.json").read_bytes(), type=CopyRecord)
    except (*_DECODER_ERRORS, OSError, ValueError):
        return frozenset()
    return frozenset(held.compressed)


def undo_copy(record: CopyRecord, *, force: bool = False) -> list[Path]:
    """Remove what a copy wrote, and its record; Exists where the session went on since."""
    there = [one for one in record.files if Path(one.path).exists()]
    changed = [one.path for one in there if file_digest(Path(one.path)) != one.digest]
    if changed and not force:
        raise Exists(
            f"{changed[0]} has changed since it was made: the session went on. --force removes it all the same."
        )
    for agent in AGENTS:
        if agent.writer is not None and record.files:
            agent.writer.unregister(Path(record.files[0].path))
    for one in there:
        Path(one.path).unlink(missing_ok=True)
    remove_empty_folders(map(Path, record.folders))
    for place in (archive_folder() / _FOLDER).glob(f"{glob_escape(record.session)}*"):
        place.unlink()
    return [Path(one.path) for one in there]


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
