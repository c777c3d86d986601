"""One sync at a time for an archive: a lock that the system takes back when its holder ends, however it ends."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unspool.archive.place import prepared
from unspool.errors import AlreadyRunning, Unreadable

_NAME = "sync.lock"
_PAUSE = 0.1


@contextmanager
def waiting(folder: Path, seconds: float = 600) -> Iterator[None]:
    """Wait for our turn in a folder, made where it is missing; AlreadyRunning where another sync goes on longer."""
    descriptor = _opened(folder)
    deadline = time.monotonic() + seconds
    try:
        while not _taken(descriptor):
            if time.monotonic() > deadline:
                raise AlreadyRunning(f"Another sync of the archive in {folder} goes on.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


def _opened(folder: Path) -> int:
    try:
        return os.open(prepared(folder) / _NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unreadable(f"Cannot write in the folder of the archive, {folder}: {error.strerror or error}.") from None


def _taken(descriptor: int) -> bool:
    """Whether the lock is ours now."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
