"""The doctor: every check in order, each of which says what it saw and what to do. Imports the checks of sync."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from unspool.store.library.discover import usual_roots
from unspool.store.sync.archive_checks import check_archive, check_ghosts, check_index, check_room, check_watching
from unspool.store.sync.doctor_scene import DoctorFinding, DoctorScene, Finding, archive_holding
from unspool.store.sync.source_checks import check_cleanup, check_keeping, check_reading, check_sources, check_stalled

Check = Callable[[DoctorScene], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "sources": check_sources,
    "cleanup": check_cleanup,
    "keeping": check_keeping,
    "stalled": check_stalled,
    "reading": check_reading,
    "archive": check_archive,
    "index": check_index,
    "room": check_room,
    "watching": check_watching,
    "ghosts": check_ghosts,
}


def diagnose(
    sources: Sequence[Path], archive: Path, now: datetime, key: str | None = None
) -> tuple[DoctorFinding, ...]:
    """Every finding about the sources (the agents' own folders where none is named) and the archive in a folder."""
    scene = DoctorScene(sources, usual_roots(), archive, now)
    scene.holding = archive_holding(archive, scene.places, key)
    return tuple(finding for name in CHECKS for finding in run_check(name, scene))


def run_check(name: str, scene: DoctorScene) -> Iterator[DoctorFinding]:
    """What the check of that name finds."""
    for level, message, details, remedy in CHECKS[name](scene):
        yield DoctorFinding(level, name, message, tuple(map(str, details)), remedy)
