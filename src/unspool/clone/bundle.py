"""Sessions that somebody packed: unpacked into a folder of our own, and nothing but what is expected.

A bundle comes from anyone. Whatever is no plain file at a plain place, or is more than a session ever was, refuses
the whole of it, and nothing stays behind.
"""

import re
import tarfile
import tempfile
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from unspool.errors import NotFound, Unreadable
from unspool.formats import FORMATS

_MEMBERS, _BYTES, _FREE, _RATIO = 10_000, 4 * 1024**3, 64 * 1024**2, 200
"""How many files and bytes a bundle may hold, and from how many bytes on how tightly it may be packed."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_META, _LOG, _PLANNING = "metadata.txt", "session.jsonl", "source-session.jsonl"
_BESIDE = ("subagents", "tool-results", "workflows", "images")


@contextmanager
def unpacked(path: Path) -> Iterator[list[Path]]:
    """The logs of a bundle, each with what belongs to it, the session itself first; gone when the `with` ends."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    if path.is_dir():
        raise Unreadable(f"{path} is a folder, not a bundle.")
    with tempfile.TemporaryDirectory(prefix="unspool-", ignore_cleanup_errors=True) as scratch:
        root = Path(scratch)
        _extract(path, root / "bundle")
        yield _laid_out(root / "bundle", root / "projects" / "imported", path)


def _extract(path: Path, to: Path) -> None:
    to.mkdir()
    try:
        with tarfile.open(path) as archive:
            allowed = max(_FREE, path.stat().st_size * _RATIO)
            total = 0
            for count, member in enumerate(archive):
                total += member.size
                if count >= _MEMBERS or total > _BYTES or total > allowed:
                    raise Unreadable(f"{path} holds more than a session does; it was refused.")
                _take(archive, member, to, path)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise Unreadable(f"{path} is no bundle that can be read: {error}.") from None


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path, path: Path) -> None:
    if member.isdir():
        return
    name = PurePosixPath(member.name)
    odd = name.is_absolute() or ".." in name.parts or "\\" in member.name or ":" in member.name or "\0" in member.name
    if odd or not member.isreg():
        raise Unreadable(f"{path} holds “{member.name[:200]}”, which is no plain file inside it; it was refused.")
    place = to.joinpath(*name.parts)
    stream = archive.extractfile(member)
    if stream is None or place.exists():
        raise Unreadable(f"{path} holds “{member.name[:200]}” twice, or not at all; it was refused.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        _copy(stream, file)


def _copy(stream: IO[bytes], file: IO[bytes]) -> None:
    while chunk := stream.read(1 << 20):
        file.write(chunk)


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
    return [log, planning.rename(folder / f"{_named(planning)}.jsonl")] if planning.is_file() else [log]


def _session(bundle: Path) -> str:
    """The session's id by the bundle's own word, else by its lines."""
    meta = bundle / _META
    text = meta.read_text("utf-8", "replace")[:65536] if meta.is_file() else ""
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    said = pairs.get("SESSION_ID", "").strip()
    return said if _NAME.fullmatch(said) else _named(bundle / _LOG)


def _named(log: Path) -> str:
    with log.open("rb") as lines:
        said = FORMATS[0].owner(lines)
    return said if _NAME.fullmatch(said) else str(uuid.uuid4())
