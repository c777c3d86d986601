"""What the first page says of the archive, in a line."""

from pathlib import Path

from unspool import human
from unspool.app.browse.moments import ago
from unspool.app.browse.scene import Scene
from unspool.archive.place import ARCHIVE


def facts(scene: Scene, synced: str) -> tuple[tuple[str, str, str], ...]:
    """What stands before a figure, the figure, what stands after it."""
    told = []
    size: int = scene.db.execute("SELECT coalesce(sum(size), 0) FROM log").get
    kept = _size(scene.desk.folder / ARCHIVE)
    if kept and size:
        told.append(("archive", human.size(kept), f"of {human.size(size)} of logs"))
    if synced:
        told.append(("last sync", ago(float(synced), scene.now), ""))
    hidden = len(scene.said.hidden)
    if hidden:
        told.append(("", human.count(hidden, "project"), "hidden"))
    return tuple(told)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
