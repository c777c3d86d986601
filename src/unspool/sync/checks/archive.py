"""The archive itself: whether it is there, can be read and written, is private, and is up to date."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from unspool import human
from unspool.archive.place import ARCHIVE, INDEX
from unspool.sync.finding import Finding, Level
from unspool.sync.scene import DAY, Holding, Scene

NAME = "archive"
_LATE = 7
"""Days without a sync that are worth a word."""


def archive(scene: Scene) -> Iterator[Finding]:
    """One finding a trouble; one that says all is well where there is none."""
    place = str(scene.archive)
    if scene.holding is None:
        yield Finding("warn", NAME, "There is no archive yet: nothing is kept.", (place,), "unspool sync")
        return
    if scene.holding.trouble:
        level: Level = "note" if scene.holding.busy else "bad"
        yield Finding(level, NAME, scene.holding.trouble, (place,), "" if scene.holding.busy else "unspool verify")
    found = [*_private(scene.archive), *_writable(scene.archive), *_fresh(scene, scene.holding)]
    yield from found
    if not found and not scene.holding.trouble:
        kept = human.count(len(scene.holding.sessions), "session")
        yield Finding("ok", NAME, f"The archive holds {kept}.", (place,))


def _private(folder: Path) -> Iterator[Finding]:
    """Logs hold whatever an agent saw, so that nobody else may read them."""
    if os.name != "posix":
        return
    shared = [path for path in (folder, *_files(folder)) if _mode(path) & 0o077]
    if shared:
        remedy = f"chmod u=rwX,go= {' '.join(map(str, shared))}"
        yield Finding("warn", NAME, "Others on this machine may read the archive.", tuple(map(str, shared)), remedy)


def _files(folder: Path) -> list[Path]:
    names = (ARCHIVE, INDEX)
    return [path for name in names for path in sorted(folder.glob(f"{name}*")) if path.is_file()]


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


def _writable(folder: Path) -> Iterator[Finding]:
    closed = [path for path in (folder, folder / ARCHIVE) if not os.access(path, os.W_OK)]
    if closed:
        remedy = "Give yourself the right to write there, or name another place: --archive DIR"
        yield Finding("bad", NAME, "The archive may not be written to.", tuple(map(str, closed)), remedy)


def _fresh(scene: Scene, holding: Holding) -> Iterator[Finding]:
    """A sync of long ago is no matter where nothing happened since."""
    if holding.synced is None or all(map(scene.is_kept, scene.belongings)):
        return
    days = (scene.now - holding.synced) / DAY
    if days > _LATE:
        since = human.count(int(days), "day")
        yield Finding("warn", NAME, f"The last sync was {since} ago.", (str(scene.archive),), "unspool sync")
