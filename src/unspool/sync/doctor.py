"""Finds what endangers sessions, and says how to mend it. Reads only."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from unspool.library.sources import usual_roots
from unspool.sync.checks import CHECKS
from unspool.sync.finding import Finding
from unspool.sync.holding import holding
from unspool.sync.scene import Scene


def diagnose(sources: Sequence[Path], archive: Path, now: datetime, key: str | None = None) -> tuple[Finding, ...]:
    """Every finding about the sources (the agents' own folders where none is named) and the archive in a folder."""
    scene = Scene(sources, usual_roots(), archive, now)
    scene.holding = holding(archive, scene.places, key)
    return tuple(finding for check in CHECKS for finding in check(scene))
