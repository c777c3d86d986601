"""What the logs of a session look like from outside: as long as that stays the same, what was read of them holds."""

import os

from unspool.formats import Found

State = tuple[tuple[str, int, int], ...]
"""Path, size and time of each log: another one, and the session is read again."""


def state(found: Found) -> State:
    """How the logs of a session look now."""
    if found.origin:  # only the archive has it
        return ((found.path, found.size, int(found.modified * 1e9)),)
    return tuple(_looks(path) for path in (found.path, *(agent.path for agent in found.agents)))


def _looks(path: str) -> tuple[str, int, int]:
    try:
        told = os.stat(path)  # noqa: PTH116  hot
    except OSError:
        return path, -1, 0
    return path, told.st_size, told.st_mtime_ns
