"""One at a time for an archive: locks that the system takes back when their holder ends, however it ends."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unspool.archive.place import prepared
from unspool.errors import AlreadyRunning, Unreadable
from unspool.files import locked

_SYNC, _WATCH = "sync.lock", "watch.lock"
_PAUSE = 0.1


@contextmanager
def waiting(folder: Path, seconds: float = 600) -> Iterator[None]:
    """Wait for our turn to sync in a folder, made where it is missing; AlreadyRunning where another goes on longer."""
    with _opened(folder, _SYNC) as descriptor:
        deadline = time.monotonic() + seconds
        while not _ours(descriptor):
            if time.monotonic() > deadline:
                raise AlreadyRunning(f"Another sync of the archive in {folder} goes on.")
            time.sleep(_PAUSE)
        yield


@contextmanager
def sole(folder: Path) -> Iterator[None]:
    """Be the only watcher of the archive in a folder; AlreadyRunning where another one is."""
    with _opened(folder, _WATCH) as descriptor:
        if not _ours(descriptor):
            raise AlreadyRunning(
                f"Another `unspool watch`{_holder(descriptor)} keeps the archive in {folder} up to date already."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[int]:
    try:
        descriptor = os.open(prepared(folder) / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unreadable(f"Cannot write in the folder of the archive, {folder}: {error.strerror or error}.") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _ours(descriptor: int) -> bool:
    """Whether the lock is ours now. On a file system without locks it is everybody's: two would do the same work
    twice, and what they write is guarded by the database."""
    try:
        return locked(descriptor)
    except OSError:
        return True


def _holder(descriptor: int) -> str:
    """Who has a lock, as far as its file tells."""
    try:
        number = os.read(descriptor, 32).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return f" (process {number})" if number.isdecimal() else ""
