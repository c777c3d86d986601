"""Sessions that somebody packed: unpacked into a folder of our own, and nothing but what is expected.

A bundle comes from anyone. Whatever is no plain file at a plain place, or is more than a session ever was, refuses
the whole of it, and nothing stays behind.
"""

import gzip
import io
import re
import struct
import tarfile
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from unspool.errors import NotFound, Unreadable
from unspool.formats import FORMATS
from unspool.library.scratch import scratch

_MEMBERS, _BYTES, _FREE, _RATIO = 10_000, 4 * 1024**3, 64 * 1024**2, 200
"""How many files and bytes a bundle may hold, and from how many bytes on how tightly it may be packed."""
_DEEP, _AT_ONCE = 10, 4 * 1024**2
"""How deep a file may lie, and how many bytes a header may have."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_GZIP = b"\x1f\x8b"
_META, _LOG, _PLANNING = "metadata.txt", "session.jsonl", "source-session.jsonl"
_BESIDE = ("subagents", "tool-results", "workflows", "images")
_BROKEN = (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError, RecursionError, struct.error)


@contextmanager
def unpacked(path: Path) -> Iterator[list[Path]]:
    """The logs of a bundle, each with what belongs to it, the session itself first; gone when the `with` ends."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    if not path.is_file():
        raise Unreadable(f"{path} is no file, and so no bundle.")
    with scratch() as root:
        _extract(path, root / "bundle")
        yield _laid_out(root / "bundle", root / "projects" / "imported", path)


def _extract(path: Path, to: Path) -> None:
    to.mkdir()
    try:
        with path.open("rb") as packed:
            stream = _Guarded(packed, path)
            with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as archive:
                _take_all(archive, stream.allowed, to, path)
            stream.drain()
    except _BROKEN as error:
        raise Unreadable(f"{path} is no bundle that can be read: {str(error) or type(error).__name__}.") from None


def _take_all(archive: tarfile.TarFile, allowed: int, to: Path, path: Path) -> None:
    total = 0
    for count, member in enumerate(archive):
        total += member.size
        if count >= _MEMBERS or member.size < 0 or total > allowed:
            raise _too_much(path)
        _take(archive, member, to, path)


def _too_much(path: Path) -> Unreadable:
    return Unreadable(f"{path} holds more than a session does; it was refused.")


class _Guarded(io.RawIOBase):
    """What is packed, no more of it than is allowed: neither altogether, nor at once where a header asks for it."""

    def __init__(self, packed: IO[bytes], path: Path) -> None:
        head = packed.read(2)
        packed.seek(0)
        self._stream: IO[bytes] = cast("IO[bytes]", gzip.GzipFile(fileobj=packed)) if head == _GZIP else packed
        self._path = path
        self.allowed = min(_BYTES, max(_FREE, path.stat().st_size * _RATIO))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _AT_ONCE:
            raise _too_much(self._path)
        return self._stream.read(size)

    def seek(self, place: int, whence: int = 0, /) -> int:
        if whence or not 0 <= place <= self.allowed * 2:
            raise _too_much(self._path)
        return self._stream.seek(place)

    def drain(self) -> None:
        """Read on to the end, where packed data says whether it is whole."""
        while self.read(1 << 20):
            self.tell()

    def tell(self) -> int:
        place = self._stream.tell()
        if place > self.allowed * 2:
            raise _too_much(self._path)
        return place


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path, path: Path) -> None:
    if member.isdir():
        return
    if not member.isreg() or not _is_plain(member.name):
        raise Unreadable(f"{path} holds “{member.name[:200]}”, which is no plain file inside it; it was refused.")
    place = to.joinpath(*PurePosixPath(member.name).parts)
    stream = archive.extractfile(member)
    if stream is None or place.exists():
        raise Unreadable(f"{path} holds “{member.name[:200]}” twice, or not at all; it was refused.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        while chunk := stream.read(1 << 20):
            file.write(chunk)


def _is_plain(name: str) -> bool:
    """Whether a name leads to one place inside, on every system, and looks like what it is."""
    path = PurePosixPath(name)
    inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts and len(path.parts) <= _DEEP
    return inside and name.isprintable() and not set(name) & set('\\:*?"<>|')


def _laid_out(bundle: Path, folder: Path, path: Path) -> list[Path]:
    """The logs as an agent keeps them, so that every reader knows them."""
    if not (bundle / _LOG).is_file():
        raise Unreadable(f"{path} holds no {_LOG}; it is no bundle of a session.")
    folder.mkdir(parents=True)
    session = _session(bundle)
    log = (bundle / _LOG).rename(folder / f"{session}.jsonl")
    for name in _BESIDE:
        if (bundle / name).is_dir():
            (folder / session).mkdir(exist_ok=True)
            (bundle / name).rename(folder / session / name)
    planning = bundle / _PLANNING
    if not planning.is_file():
        return [log]
    named = _named(planning)
    other = named if named != session else str(uuid.uuid4())
    return [log, planning.rename(folder / f"{other}.jsonl")]


def _session(bundle: Path) -> str:
    """The session's id by the bundle's own word, else by its lines."""
    meta = bundle / _META
    text = meta.read_bytes()[:65536].decode("utf-8", "replace") if meta.is_file() else ""
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    said = pairs.get("SESSION_ID", "").strip()
    return said if _is_id(said) else _named(bundle / _LOG)


def _named(log: Path) -> str:
    with log.open("rb") as lines:
        said = FORMATS[0].owner(lines)
    return said if _is_id(said) else str(uuid.uuid4())


def _is_id(said: str) -> bool:
    """Whether it may be a session's name; those of other files would make it a subagent's."""
    return bool(_NAME.fullmatch(said)) and not said.startswith("agent-") and said != "journal"
