"""Durable writes: a file is there whole, or as it was before.

Written to a temporary file in the same folder, flushed to the disk and moved into place; readable by its
owner alone, because a log holds whatever an agent saw. What the disk itself loses is beyond this module.
"""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """Write `chunks` to `path`, private to the user; a failure on the way leaves what was there before."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    settle(path.parent)


def settle(folder: Path) -> None:
    """Make the move itself durable; only POSIX lets a folder be flushed."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
