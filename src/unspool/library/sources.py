"""The folders sessions are looked for in."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from unspool.errors import NotFound, Unreadable
from unspool.formats import FORMATS, Found


def usual_roots() -> list[Path]:
    """Where the agents keep their logs on this machine, whether anything is there or not."""
    return [root for format_ in FORMATS for root in format_.roots(os.environ, Path.home())]


def discovered(sources: Sequence[Path]) -> list[Found]:
    """Every session of the given folders, or of the default ones; newest first."""
    for source in sources:
        if not source.is_dir():
            raise NotFound(f"There is no folder {source}.")
    found: dict[str, Found] = {}
    for root in sources or [root for root in usual_roots() if root.is_dir()]:
        for log in _below(root):
            found.setdefault(os.path.realpath(log.path), log)
    return sorted(found.values(), key=lambda log: (-log.modified, log.path))


def _below(root: Path) -> Iterable[Found]:
    try:
        return [log for format_ in FORMATS for log in format_.discover(root)]
    except PermissionError:
        raise Unreadable(f"No permission to read {root}.") from None


def alone(path: Path) -> Found | None:
    """A log named by its path, with the companions that lie around it; None where it is no kept session."""
    try:
        beside = [log for format_ in FORMATS for log in format_.discover(path.parent)]
    except OSError:
        return None
    wanted = os.path.realpath(path)
    return next((log for log in beside if os.path.realpath(log.path) == wanted), None)
