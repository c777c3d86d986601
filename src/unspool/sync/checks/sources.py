"""Whether the folders that logs are looked for in are there, and can be read."""

import os
from collections.abc import Iterator
from pathlib import Path

from unspool import human
from unspool.sync.finding import Finding
from unspool.sync.places import Place
from unspool.sync.scene import Scene

NAME = "sources"


def sources(scene: Scene) -> Iterator[Finding]:
    """Folders that are missing, and files and folders that may not be read."""
    yield from (_missing(root) for root in scene.sources if not root.is_dir())
    if not scene.roots and not scene.sources:
        places = " or ".join(str(root) for root in scene.usual)
        yield Finding("warn", NAME, f"No agent has kept anything under {places}.", remedy="Name a folder: --source DIR")
        return
    closed = [path for path, mode in _looked_at(scene) if not os.access(path, mode)]
    if closed:
        yield Finding(
            "bad",
            NAME,
            f"{human.count(len(closed), 'folder or file', 'folders and files')} may not be read.",
            tuple(closed),
            "Give yourself the right to read them: chmod -R u+rwX PATH",
        )
    elif scene.roots:
        found = human.count(len(scene.logs), "session")
        yield Finding("ok", NAME, f"{found} can be read.", tuple(map(str, scene.roots)))


def _missing(root: Path) -> Finding:
    why = "is no folder" if root.exists() else "is not there"
    return Finding(
        "bad", NAME, f"The source {root} {why}.", (str(root),), "Name a folder that holds projects/, or is one."
    )


def _looked_at(scene: Scene) -> Iterator[tuple[str, int]]:
    """The folders of projects and every file of a session, each with what it must allow."""
    for place in scene.places:
        yield from ((str(folder), os.R_OK | os.X_OK) for folder in _folders(place))
    yield from ((one.path, os.R_OK) for one in scene.belongings)


def _folders(place: Place) -> Iterator[Path]:
    yield place.source
    projects = place.root / "projects"
    if place.source == place.root and projects.is_dir():
        yield projects
    if place.source in (place.root, projects):
        yield from sorted(path for path in projects.glob("*") if path.is_dir())
