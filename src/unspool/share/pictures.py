"""Pictures that a log names by their paths: carried along where they are there, and are pictures indeed.

A log comes from anyone and may name any file, so what lies at a path must begin as pictures of its kind do.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from unspool.redact.log import decoded
from unspool.share.beside import File, FileKind

FOLDER = "images"
_FLAT = "pictures"
"""Where they lie by number before they have a name that may be told."""
_MOST, _LARGEST = 500, 32 * 1024**2
_BEGIN = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
    ".webp": (b"RIFF",),
    ".svg": (b"<svg", b"<?xml"),
}


def pictures(logs: Iterable[File], folder: Path) -> Iterator[File]:
    """The pictures that logs name, kept below a folder; each is called `images/` and its whole path."""
    named = dict.fromkeys(path for file in logs if file.kind == "log" for path in _named(file.path))
    for number, path in enumerate(list(named)[:_MOST]):
        data = _read(path)
        if data is not None:
            name = path.lstrip("/")
            place = folder / _FLAT / str(number)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            kind: FileKind = "drawing" if path.lower().endswith(".svg") else "picture"
            yield File(f"{folder.name}/{FOLDER}/{name}", kind, place)


def _named(log: Path) -> Iterator[str]:
    with log.open("rb") as lines:
        for line in lines:
            if b'"image"' in line and b'"path"' in line:
                with suppress(RecursionError):
                    yield from list(_paths(decoded(line.rstrip(b"\r\n"))))


def _paths(value: Any) -> Iterator[str]:
    """The path of every picture in a value that has one."""
    if isinstance(value, list):
        for one in value:
            yield from _paths(one)
    elif isinstance(value, dict):
        source = value.get("source")
        if value.get("type") == "image":
            yield from (one for one in (value.get("path"), _of(source)) if isinstance(one, str))
        for one in value.values():
            yield from _paths(one)


def _of(source: Any) -> Any:
    return source.get("path") if isinstance(source, dict) else None


def _read(path: str) -> bytes | None:
    """The picture at a path; None where there is none, or something else."""
    begin = _BEGIN.get(os.path.splitext(path)[1].lower())  # noqa: PTH122  it may be no path at all
    if begin is None or "\0" in path or not path.startswith("/") or os.path.normpath(path) != path:
        return None
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > _LARGEST:
            return None
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return None
    return data if data.startswith(begin) else None
