"""Contents in a folder: one file each, written beside and moved into place, private to the user."""

import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unspool.errors import NotFound
from unspool.files import settle
from unspool.hub.errors import NO_ROOM, StoreFull, StoreUnavailable
from unspool.hub.store.blobs import CHUNK, Objects

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
