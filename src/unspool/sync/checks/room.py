"""Whether the disk that the archive lies on, or would, has room."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from unspool import human
from unspool.sync.finding import Finding, Level
from unspool.sync.scene import Scene

NAME = "room"
_LITTLE, _NONE = 2_000_000_000, 200_000_000


def room(scene: Scene) -> Iterator[Finding]:
    """Bytes that are free."""
    there = _existing(scene.archive)
    try:
        free = shutil.disk_usage(there).free
    except OSError:
        return
    level: Level = "bad" if free < _NONE else "warn" if free < _LITTLE else "ok"
    remedy = "" if level == "ok" else "Make room there, or put the archive elsewhere: --archive DIR"
    yield Finding(level, NAME, f"{human.size(free)} are free where the archive lies.", (str(there),), remedy)


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest above it that is there."""
    return next((one for one in (folder, *folder.absolute().parents) if one.is_dir()), folder)
