"""What outlives a session's log: files in other folders that bear its id."""

import re
from collections.abc import Iterator
from pathlib import Path

from unspool.formats.claude_code.belongings import walk
from unspool.formats.traces import Leaving

_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_FOLDERS = {
    "todos": "todos",
    "tasks": "task",
    "file-history": "file-history",
    "session-env": "environment",
    "image-cache": "image",
    "uploads": "upload",
    "debug": "debug",
}
_NOTHING = 2
"""An empty list in JSON: a file of so few bytes says nothing."""

Key = tuple[str, str, str, str]
"""Session, kind, path below the agent's folder, and project folder."""


def leavings(root: Path) -> Iterator[Leaving]:
    """The files below the agent's folder that name a session by their path, together by session and folder."""
    found: dict[Key, list[tuple[int, float]]] = {}
    for key, path in _named(root):
        try:
            status = path.lstat()
        except OSError:
            continue
        found.setdefault(key, []).append((status.st_size, status.st_mtime))
    for (session, kind, where, folder), files in found.items():
        times = [modified for _, modified in files]
        holding = sum(size > _NOTHING for size, _ in files)
        yield Leaving(session, kind, where, holding, min(times), max(times), folder)


def _named(root: Path) -> Iterator[tuple[Key, Path]]:
    for folder, kind in _FOLDERS.items():
        for names, entry in walk(root / folder):
            session = _SESSION.match(names[0])
            if session is not None:
                yield (session[0], kind, f"{folder}/{names[0]}", ""), Path(entry.path)
    for names, entry in walk(root / "projects"):
        if len(names) > 2 and _SESSION.fullmatch(names[1]):
            yield (names[1], "session folder", f"projects/{names[0]}/{names[1]}", names[0]), Path(entry.path)
