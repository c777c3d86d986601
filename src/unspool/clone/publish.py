"""New files, all or none: the log of a copy is proven before it gets its name, and gets it last."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.errors import Exists, NoRoom, Unreadable
from unspool.files import place_new


class Paper(NamedTuple):
    """A file to be written."""

    path: Path
    chunks: Callable[[], Iterable[bytes]]


class Written(msgspec.Struct, frozen=True):
    """A file that was written, as it was then."""

    path: str
    size: int
    digest: str


Proof = Callable[[Path], None]
"""Looks at a finished log and raises where it is not sound."""


def publish(log: Paper, others: Iterable[Paper], proof: Proof) -> list[Written]:
    """Write the log and what comes with it, the log first in the answer; never over a file that is there."""
    try:
        return _published(log, others, proof)
    except FileExistsError as error:
        raise Exists(f"{error.filename2 or error.filename} is there already; nothing was written.") from None
    except OSError as error:
        kind = NoRoom if error.errno == errno.ENOSPC else Unreadable
        told = f"Cannot write {error.filename or log.path}: {error.strerror or error}. Nothing was written."
        raise kind(told) from None


def _published(log: Paper, others: Iterable[Paper], proof: Proof) -> list[Written]:
    folder = _made(log.path.parent)
    parts: list[Path] = []
    placed: list[Path] = []
    done: list[Written] = []
    try:
        part, written = _part(log, folder, parts)
        proof(part)
        done = [written, *_others(others, parts, placed)]
        place_new(part, log.path)
        placed.clear()
    finally:
        for path in (*parts, *placed):
            path.unlink(missing_ok=True)
        _prune(placed)
    return done


def _others(papers: Iterable[Paper], parts: list[Path], placed: list[Path]) -> Iterator[Written]:
    for paper in papers:
        part, written = _part(paper, _made(paper.path.parent), parts)
        place_new(part, paper.path)
        placed.append(paper.path)
        yield written


def _part(paper: Paper, folder: Path, parts: list[Path]) -> tuple[Path, Written]:
    """The file under a name that nobody looks for."""
    if paper.path.exists():
        raise FileExistsError(errno.EEXIST, "File exists", str(paper.path))
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".unspool-", suffix=".part")
    parts.append(Path(name))
    digest, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "wb", buffering=1 << 20) as file:
        for chunk in paper.chunks():
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
        file.flush()
        os.fsync(file.fileno())
    return Path(name), Written(str(paper.path), size, digest.hexdigest())


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _prune(paths: Iterable[Path]) -> None:
    """Remove the folders of files taken back, where they are empty."""
    for folder in {path.parent for path in paths}:
        try:
            folder.rmdir()
        except OSError:
            continue
