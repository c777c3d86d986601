"""New files, all or none: the log of a copy is proven before it gets its name, and gets it last."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.errors import Exists, NoRoom, Unreadable
from unspool.files import place_new

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Paper(NamedTuple):
    """A file to be written."""

    path: Path
    chunks: Callable[[], Iterable[bytes]]


class Written(msgspec.Struct, frozen=True):
    """A file that was written, as it was then."""

    path: str
    size: int
    digest: str


class Published(NamedTuple):
    """What was written, the log first, and the folders that were made for it, outer before inner."""

    files: list[Written]
    folders: list[str]


Proof = Callable[[Path], None]
"""Looks at a finished log and raises where it is not sound."""


@contextmanager
def published(log: Paper, others: Iterable[Paper], proof: Proof) -> Iterator[Published]:
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

    def done(self, log: Paper, others: Iterable[Paper], proof: Proof) -> Published:
        part, written = self._part(log)
        proof(part)
        files = [written, *(self._other(paper) for paper in others)]
        self._place(part, log.path)
        return Published(files, [str(folder) for folder in self.folders])

    def cleared(self) -> None:
        """Take back what has no other name, and what was placed and not kept."""
        for path in (*self.parts, *self.placed):
            path.unlink(missing_ok=True)
        emptied(self.folders)

    def _other(self, paper: Paper) -> Written:
        part, written = self._part(paper)
        self._place(part, paper.path)
        part.unlink(missing_ok=True)
        return written

    def _place(self, part: Path, path: Path) -> None:
        place_new(part, path)
        self.placed.append(path)

    def _part(self, paper: Paper) -> tuple[Path, Written]:
        """The file under a name that nobody looks for."""
        if os.path.lexists(paper.path):
            raise FileExistsError(errno.EEXIST, "File exists", str(paper.path))
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
        return Path(name), Written(str(paper.path), size, digest.hexdigest())

    def _folder(self, folder: Path) -> Path:
        """The folder, made private where it is missing."""
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(mode=0o700, exist_ok=True)
            self.folders.append(one)
        return folder


def emptied(folders: Iterable[Path]) -> None:
    """Remove folders, given outer before inner, where nothing is in them."""
    for folder in reversed(list(folders)):
        with suppress(OSError):
            folder.rmdir()
