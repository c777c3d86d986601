"""One watcher an archive: a lock that the system takes back when its holder ends, however it ends."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unspool.errors import AlreadyRunning

NAME = "watch.lock"
_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}


@contextmanager
def sole(folder: Path) -> Iterator[None]:
    """Be the only watcher of the archive in that folder; AlreadyRunning where another one is."""
    path = folder / NAME
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(descriptor, path)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        _lock(descriptor)
    except OSError as error:
        if error.errno in _TAKEN:
            holder = _holder(path)
            raise AlreadyRunning(
                f"Another `unspool watch`{holder} keeps the archive in {path.parent} up to date already."
            ) from None
        # A file system without locks: two watchers would only do the same work twice.


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(path: Path) -> str:
    try:
        number = path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
    return f" (process {number})" if number.isdecimal() else ""
