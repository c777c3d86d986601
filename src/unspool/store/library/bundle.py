"""Sessions that somebody sent: bundles and single logs unpacked, pictures embedded."""

import gzip
import io
import os
import re
import shutil
import struct
import tarfile
import uuid
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from unspool.agents.checkout import web_remote
from unspool.errors import FetchFailed, NotFound, Unreadable
from unspool.files import scratch_folder
from unspool.http import fetch
from unspool.redact.log import decode_line, encode_line
from unspool.render.sanitize import one_line
from unspool.store.library.discover import head_agent, single_log
from unspool.store.library.inputs import as_lines, is_bundle, is_url, open_log
from unspool.store.library.read import REMOTE

_MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
_MOST = 256 * 1024**2
"""Bytes of pictures that are put into one log, which may name one of them a million times."""


def embed(log: Path, images: Path) -> None:
    """Write a log anew with the pictures of a folder in it, each by its whole path; other lines stay as they are."""
    part, pictures = log.with_suffix(".part"), _Pictures(images)
    with log.open("rb") as lines, part.open("wb") as made:
        made.writelines(map(pictures.line, lines))
    part.replace(log)


class _Pictures:
    """The pictures of a folder, no more of them than may be."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._left = folder, _MOST

    def line(self, line: bytes) -> bytes:
        """A line with the pictures that it names."""
        if b'"image"' not in line or b'"path"' not in line:
            return line
        body = line.rstrip(b"\r\n")
        value = decode_line(body)
        try:
            made = self._made(value)
        except RecursionError:
            return line
        return line if made is value else encode_line(made) + line[len(body) :]

    def _made(self, value: Any) -> Any:
        """The value with its pictures; the very value where there are none."""
        if isinstance(value, list):
            items = [self._made(one) for one in value]
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if not isinstance(value, dict):
            return value
        if value.get("type") == "image" and not value.get("source") and isinstance(value.get("path"), str):
            return self._picture(value, value["path"])
        pairs = {name: self._made(one) for name, one in value.items()}
        return value if all(pairs[name] is value[name] for name in value) else pairs

    def _picture(self, block: dict[str, Any], path: str) -> dict[str, Any]:
        media = _MEDIA.get(os.path.splitext(path)[1].lower())  # noqa: PTH122  it may be no path at all
        if media is None or "\0" in path or ".." in path.split("/"):
            return block
        try:
            data = self._folder.joinpath(path.lstrip("/")).read_bytes()
        except (OSError, ValueError):
            return block
        self._left -= len(data)
        if self._left < 0:
            return block
        text = b64encode(data).decode("ascii")
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": text}}


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


def unpack_bundle(path: Path, root: Path, called: str) -> list[Path]:
    """The logs of a bundle, laid out below an empty folder as an agent keeps them, each with what belongs to it.

    The session itself comes first. Unreadable, told of what is `called` so, where anything is wrong with it.
    """
    _extract(path, root / "bundle", called)
    return _laid_out(root / "bundle", root / "projects" / "imported", called)


def bytes_allowed(path: Path) -> int:
    """How many bytes may come out of a packed file."""
    return min(_BYTES, max(_FREE, path.stat().st_size * _RATIO))


def too_large(called: str) -> Unreadable:
    return Unreadable(f"{called} holds more than a session does; it was refused.")


def _extract(path: Path, to: Path, called: str) -> None:
    to.mkdir()
    try:
        with path.open("rb") as packed:
            stream = _Guarded(packed, bytes_allowed(path), called)
            with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as archive:
                _take_all(archive, stream.allowed, to, called)
            stream.drain()
    except _BROKEN as error:
        reason = one_line(str(error)) or type(error).__name__
        raise Unreadable(f"{called} is no bundle that can be read: {reason}.") from None


def _take_all(archive: tarfile.TarFile, most: int, to: Path, called: str) -> None:
    total = 0
    for count, member in enumerate(archive):
        total += member.size
        if count >= _MEMBERS or member.size < 0 or total > most:
            raise too_large(called)
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
            raise too_large(self._called)
        return self._stream.read(size)

    def seek(self, place: int, whence: int = 0, /) -> int:
        if whence or not 0 <= place <= self.allowed * 2:
            raise too_large(self._called)
        return self._stream.seek(place)

    def drain(self) -> None:
        """Read on to the end, where packed data says whether it is whole."""
        while self.read(1 << 20):
            self.tell()

    def tell(self) -> int:
        place = self._stream.tell()
        if place > self.allowed * 2:
            raise too_large(self._called)
        return place


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path, called: str) -> None:
    if member.isdir():
        return
    shown = one_line(member.name[:200])
    if not member.isreg() or not is_plain(member.name):
        raise Unreadable(f"{called} holds “{shown}”, which is no plain file inside it; it was refused.")
    place = to.joinpath(*PurePosixPath(member.name).parts)
    stream = archive.extractfile(member)
    if stream is None or place.exists():
        raise Unreadable(f"{called} holds “{shown}” twice, or not at all; it was refused.")
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
    told = _told(bundle)
    session = told.get("SESSION_ID", "")
    session = session if _is_id(session) else session_of(bundle / _LOG)
    logs = [(bundle / _LOG).rename(folder / f"{session}.jsonl")]
    _go_along(bundle, logs[0])
    if remote := web_remote(told.get("GIT_REMOTE", "")):
        (folder / session).mkdir(exist_ok=True)
        (folder / session / REMOTE).write_text(f"{remote}\n", "utf-8")
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


def _told(bundle: Path) -> dict[str, str]:
    """What the bundle says of itself."""
    meta = bundle / _META
    text = meta.read_bytes()[:65536].decode("utf-8", "replace") if meta.is_file() else ""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {name: value.strip() for name, value in pairs}


def session_of(log: Path) -> str:
    """The session's id by its lines; a new one where they name none."""
    agent = head_agent(str(log))
    with log.open("rb") as lines:
        said = agent.owner(lines) if agent is not None else ""
    return said if _is_id(said) else str(uuid.uuid4())


def _is_id(said: str) -> bool:
    """Whether it may be a session's name; those of other files would make it a subagent's."""
    return bool(_NAME.fullmatch(said)) and not said.startswith("agent-") and said != "journal"


_LOGS = (".jsonl", ".json", ".jsonl.gz", ".jsonl.zst")
_HEAD, _CHUNK = 512, 1 << 20


@contextmanager
def receive_logs(name: str) -> Iterator[list[Path]]:
    """The logs that came, each with what belongs to it, the session itself first; gone when the `with` ends."""
    with scratch_folder() as root:
        path = _fetched(name, root / "fetched") if "://" in name else _file(name)
        yield _bare(path, root, name) if _is_log(path) else unpack_bundle(path, root, name)


def _fetched(name: str, to: Path) -> Path:
    if not is_url(name):
        scheme = name.partition(":")[0][:20]
        raise FetchFailed(f"Addresses that begin with {scheme}: are not fetched; those with http: and https: are.")
    to.write_bytes(fetch(name))
    return to


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.exists():
        raise NotFound(f"There is no file {name}.")
    if not path.is_file():
        raise Unreadable(f"{name} is no file, and so no bundle.")
    return path


def _is_log(path: Path) -> bool:
    """Whether it holds lines or a document, packed or not, and no tar."""
    if path.name.endswith(_LOGS):
        return True
    with open_log(str(path)) as stream:
        head = stream.read(_HEAD)
    return not is_bundle(path) and head.lstrip()[:1] in (b"{", b"[")


def _bare(path: Path, root: Path, called: str) -> list[Path]:
    """A log by itself, with what lies around it where it is at home."""
    folder = root / "projects" / "imported"
    folder.mkdir(parents=True)
    log = _unpacked(path, root / "log.jsonl", bytes_allowed(path), called)
    log = as_lines(str(log), root / "lines") or log
    found = single_log(path)
    name = found.session_id if found is not None and found.root else session_of(log)
    if found is not None and found.session_id == name:
        shutil.copytree(found.home, folder / name, ignore=_links) if found.home.is_dir() else None
        for agent in found.agents:
            for one in filter(None, (agent.path, agent.sidecar)):
                if not Path(one).is_relative_to(found.home) and not Path(one).is_symlink():
                    shutil.copy(one, folder)
    return [log.rename(folder / f"{name}.jsonl")]


def _links(folder: str, names: list[str]) -> list[str]:
    """The names in a folder that are no plain files or folders."""
    paths = (Path(folder, name) for name in names)
    return [path.name for path in paths if path.is_symlink() or not (path.is_file() or path.is_dir())]


def _unpacked(path: Path, to: Path, most: int, called: str) -> Path:
    """The lines of a log, no more than may come out of it."""
    left = most
    with open_log(str(path)) as stream, to.open("wb") as file:
        while chunk := stream.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise too_large(called)
            file.write(chunk)
    os.utime(to, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns))
    return to
