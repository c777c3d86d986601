"""Files written whole or not at all, locks, and private folders for a while."""

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
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


_FILES, _LOCK = "files", "lock"
_UNMARKED = 3600.0
"""Seconds after which a folder that never got its lock is nobody's; a process makes both within an instant."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder, readable by its user alone; gone when the `with` ends, or after the process did."""
    base = cache_folder("scratch")
    _swept(base)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=base))
    lock = _take_lock(folder)
    try:
        (folder / _FILES).mkdir(mode=0o700)
        yield folder / _FILES
    finally:
        shutil.rmtree(folder / _FILES, ignore_errors=True)
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _take_lock(folder: Path) -> int:
    """The lock of a new folder. It gets its name once it is taken: whoever sweeps must not come in between."""
    path = folder / _LOCK
    part = path if os.name == "nt" else path.with_suffix(".part")  # an open file cannot be renamed there
    lock = os.open(part, os.O_RDWR | os.O_CREAT, 0o600)
    with suppress(OSError):  # without locks nobody sweeps here either
        locked(lock)
    part.replace(path)
    return lock


def cache_folder(name: str) -> Path:
    """A private folder for what can be made again, in the user's cache; in the system's folder for temporary files
    where there can be none."""
    cache_ = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for place in (cache_ / "unspool" / name, Path(tempfile.gettempdir()) / f"unspool-{_user()}-{name}"):
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _private(place):
                return place
    return Path(tempfile.gettempdir())


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "scratch"


def _private(place: Path) -> bool:
    """Whether a folder is ours and can be written: in a place that all share, another user may have been quicker."""
    mine = not hasattr(os, "getuid") or place.lstat().st_uid == os.getuid()
    return mine and not place.is_symlink() and os.access(place, os.W_OK)


@cache
def _swept(base: Path) -> None:
    """Remove what processes left that are no more; once a process is enough."""
    for folder in base.glob("[0-9]*-*"):
        with suppress(OSError):
            if _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    """Whether whoever made a folder has ended; OSError where that cannot be told."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return time.time() - folder.lstat().st_mtime > _UNMARKED
    try:
        return locked(lock)
    finally:
        os.close(lock)


def plain_files(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links lead anywhere, and are not followed."""
    if folder.is_symlink():
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file() and not path.is_symlink())


def file_size(path: Path) -> int:
    """Bytes of a file; none where there is no file."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
