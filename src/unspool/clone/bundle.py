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
from pathlib import Path, PurePosixPath
from typing import IO, cast

from unspool.clone.embed import embed
from unspool.errors import Unreadable
from unspool.formats import FORMATS

_MEMBERS, _BYTES, _FREE, _RATIO = 10_000, 4 * 1024**3, 64 * 1024**2, 200
"""How many files and bytes a bundle may hold, and from how many bytes on how tightly it may be packed."""
_DEEP, _LONG, _PART, _AT_ONCE = 32, 1000, 255, 4 * 1024**2
"""How deep a file may lie, how long its name and each part of it may be, and how many bytes a header may have."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_GZIP = b"\x1f\x8b"
_META, _LOG, _PLANNING, _CHAIN = "metadata.txt", "session.jsonl", "source-session.jsonl", "chain"
_IMAGES = "images"
_BESIDE = ("subagents", "tool-results", "workflows", _IMAGES)
_BROKEN = (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError, RecursionError, struct.error)


def unpack(path: Path, root: Path, called: str) -> list[Path]:
    """The logs of a bundle, laid out below an empty folder as an agent keeps them, each with what belongs to it.

    The session itself comes first. Unreadable, told of what is `called` so, where anything is wrong with it.
    """
    _extract(path, root / "bundle", called)
    return _laid_out(root / "bundle", root / "projects" / "imported", called)


def allowed(path: Path) -> int:
    """How many bytes may come out of a packed file."""
    return min(_BYTES, max(_FREE, path.stat().st_size * _RATIO))


def too_much(called: str) -> Unreadable:
    return Unreadable(f"{called} holds more than a session does; it was refused.")


def _extract(path: Path, to: Path, called: str) -> None:
    to.mkdir()
    try:
        with path.open("rb") as packed:
            stream = _Guarded(packed, allowed(path), called)
            with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as archive:
                _take_all(archive, stream.allowed, to, called)
            stream.drain()
    except _BROKEN as error:
        raise Unreadable(f"{called} is no bundle that can be read: {str(error) or type(error).__name__}.") from None


def _take_all(archive: tarfile.TarFile, most: int, to: Path, called: str) -> None:
    total = 0
    for count, member in enumerate(archive):
        total += member.size
        if count >= _MEMBERS or member.size < 0 or total > most:
            raise too_much(called)
        _take(archive, member, to, called)


class _Guarded(io.RawIOBase):
    """What is packed, no more of it than is allowed: neither altogether, nor at once where a header asks for it."""

    def __init__(self, packed: IO[bytes], most: int, called: str) -> None:
        head = packed.read(2)
        packed.seek(0)
        self._stream: IO[bytes] = cast("IO[bytes]", gzip.GzipFile(fileobj=packed)) if head == _GZIP else packed
        self._called = called
        self.allowed = most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _AT_ONCE:
            raise too_much(self._called)
        return self._stream.read(size)

    def seek(self, place: int, whence: int = 0, /) -> int:
        if whence or not 0 <= place <= self.allowed * 2:
            raise too_much(self._called)
        return self._stream.seek(place)

    def drain(self) -> None:
        """Read on to the end, where packed data says whether it is whole."""
        while self.read(1 << 20):
            self.tell()

    def tell(self) -> int:
        place = self._stream.tell()
        if place > self.allowed * 2:
            raise too_much(self._called)
        return place


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path, called: str) -> None:
    if member.isdir():
        return
    if not member.isreg() or not is_plain(member.name):
        raise Unreadable(f"{called} holds “{member.name[:200]}”, which is no plain file inside it; it was refused.")
    place = to.joinpath(*PurePosixPath(member.name).parts)
    stream = archive.extractfile(member)
    if stream is None or place.exists():
        raise Unreadable(f"{called} holds “{member.name[:200]}” twice, or not at all; it was refused.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        while chunk := stream.read(1 << 20):
            file.write(chunk)


def is_plain(name: str) -> bool:
    """Whether a name leads to one place inside, on every system, and looks like what it is."""
    path = PurePosixPath(name)
    inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts and len(path.parts) <= _DEEP
    if not inside or not name.isprintable() or set(name) & set('\\:*?"<>|'):
        return False
    return len(name) <= _LONG and all(len(part.encode()) <= _PART for part in path.parts)


def _laid_out(bundle: Path, folder: Path, called: str) -> list[Path]:
    """The logs as an agent keeps them, so that every reader knows them."""
    if not (bundle / _LOG).is_file():
        raise Unreadable(f"{called} holds no {_LOG}; it is no bundle of a session.")
    folder.mkdir(parents=True)
    session = _session(bundle)
    logs = [(bundle / _LOG).rename(folder / f"{session}.jsonl")]
    _go_along(bundle, logs[0])
    for log in (bundle / _PLANNING, *sorted((bundle / _CHAIN).glob("*.jsonl"))):
        if log.is_file():
            named = session_of(log)
            name = named if not (folder / f"{named}.jsonl").exists() else str(uuid.uuid4())
            logs.append(log.rename(folder / f"{name}.jsonl"))
            _go_along(bundle / _CHAIN / named, logs[-1])
    return logs


def _go_along(bundle: Path, log: Path) -> None:
    """What belongs to a session goes to the folder of its name, and pictures that its log names go into that."""
    if (bundle / _IMAGES).is_dir():
        embed(log, bundle / _IMAGES)
    home = log.with_suffix("")
    for name in _BESIDE:
        if (bundle / name).is_dir():
            home.mkdir(exist_ok=True)
            (bundle / name).rename(home / name)


def _session(bundle: Path) -> str:
    """The session's id by the bundle's own word, else by its lines."""
    meta = bundle / _META
    text = meta.read_bytes()[:65536].decode("utf-8", "replace") if meta.is_file() else ""
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    said = pairs.get("SESSION_ID", "").strip()
    return said if _is_id(said) else session_of(bundle / _LOG)


def session_of(log: Path) -> str:
    """The session's id by its lines; a new one where they name none."""
    with log.open("rb") as lines:
        said = FORMATS[0].owner(lines)
    return said if _is_id(said) else str(uuid.uuid4())


def _is_id(said: str) -> bool:
    """Whether it may be a session's name; those of other files would make it a subagent's."""
    return bool(_NAME.fullmatch(said)) and not said.startswith("agent-") and said != "journal"
