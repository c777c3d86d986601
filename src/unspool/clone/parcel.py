"""What somebody sent, by file or address: a bundle, or a log by itself, laid out as an agent keeps its sessions."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unspool.clone.bundle import allowed, session_of, too_much, unpack
from unspool.clone.documents import as_lines
from unspool.errors import FetchFailed, NotFound, Unreadable
from unspool.library.inputs import fetch, is_url, opened
from unspool.library.scratch import scratch
from unspool.library.sources import alone

_LOGS = (".jsonl", ".json", ".jsonl.gz", ".jsonl.zst")
_HEAD, _AT_ONCE = 512, 1 << 20
_TAR = slice(257, 262)


@contextmanager
def received(name: str) -> Iterator[list[Path]]:
    """The logs that came, each with what belongs to it, the session itself first; gone when the `with` ends."""
    with scratch() as root:
        path = _fetched(name, root / "fetched") if "://" in name else _file(name)
        yield _bare(path, root, name) if _is_log(path) else unpack(path, root, name)


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
    with opened(str(path)) as stream:
        head = stream.read(_HEAD)
    return head[_TAR] != b"ustar" and head.lstrip()[:1] in (b"{", b"[")


def _bare(path: Path, root: Path, called: str) -> list[Path]:
    """A log by itself, with what lies around it where it is at home."""
    folder = root / "projects" / "imported"
    folder.mkdir(parents=True)
    log = _unpacked(path, root / "log.jsonl", allowed(path), called)
    log = as_lines(str(log), root / "lines") or log
    found = alone(path)
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
    with opened(str(path)) as stream, to.open("wb") as file:
        while chunk := stream.read(min(_AT_ONCE, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise too_much(called)
            file.write(chunk)
    os.utime(to, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns))
    return to
