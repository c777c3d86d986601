"""Small JSON files of the agent's own, read with a bound: an object, or nothing."""

import stat
from pathlib import Path

import msgspec

from unspool.formats.claude_code.values import mapping
from unspool.model import Json

LARGEST = 4 * 1024 * 1024


def regular(path: Path, largest: int = LARGEST) -> bool:
    """Whether a path is a plain file of reasonable size; a link could lead anywhere, and a pipe would never end."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= largest


def read(path: Path) -> dict[str, Json] | None:
    """The object that a file holds; None where it cannot be read or holds something else."""
    try:
        data = msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError, RecursionError):
        return None
    return mapping(data) if isinstance(data, dict) else None
