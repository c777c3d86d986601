"""Files that are there whole, or as they were before; and files held against other processes.

A file is written to a temporary file in the same folder, flushed to the disk and moved into place; readable by its
owner alone, because a log holds whatever an agent saw. What the disk itself loses is beyond this module.
"""

import errno
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}


def locked(descriptor: int) -> bool:
    """Take the lock of an open file, without waiting; False where another process has it.

    The system takes it back when the file is closed or its holder ends, however it ends. OSError where the file
    system knows no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True


def write_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """Write `chunks` to `path`, private to the user; a failure on the way leaves what was there before."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    settle(path.parent)


def place_new(part: Path, path: Path) -> None:
    """Give a finished file its name; FileExistsError where the name is taken, and then nothing changes."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the name is taken first, then filled in one step
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        part.replace(path)
    settle(path.parent)


def settle(folder: Path) -> None:
    """Make the move itself durable; only POSIX lets a folder be flushed."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
