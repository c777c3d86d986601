"""Where the archive and the index lie."""

import os
from pathlib import Path

ARCHIVE, INDEX = "archive.db", "index.db"


def folder(given: Path | None = None) -> Path:
    """The folder named, else the one the environment names, else unspool's in the user's data folder."""
    named = given or os.environ.get("UNSPOOL_ARCHIVE")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "unspool"


def prepared(place: Path) -> Path:
    """The folder, made where it is missing, readable by its owner alone."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place
