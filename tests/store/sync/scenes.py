"""Sources and archives for the doctor to look at."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.log_builder.builder import LogBuilder
from unspool.agents import AGENTS
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper, Origin
from unspool.store.sync.doctor import CHECKS, Check, run_check
from unspool.store.sync.doctor_scene import DAY, DoctorFinding, DoctorScene, archive_holding
from unspool.store.sync.scan import sync_places

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def aged(root: Path, days: float, seed: str = "a", **fields: Any) -> LogBuilder:
    """A session that was last written so many days before NOW."""
    log = LogBuilder(seed=seed, **fields).prompt(f"task {seed}")
    log.assistant(log.text("ok"))
    path = log.write(root)
    age(path, days)
    return log


def age(path: Path, days: float) -> None:
    """Let a file be so many days old."""
    then = NOW.timestamp() - days * DAY
    os.utime(path, (then, then))


def put(path: Path, data: str | dict[str, Any], days: float = 0.0) -> Path:
    """A file of that age."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    age(path, days)
    return path


def keep(folder: Path, root: Path, origin: Origin | None = None) -> None:
    """Take every file of a source into the archive of a folder, as it stands."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ArchiveDatabase.open(folder) as archive, Keeper(archive) as keeper:
        number = archive.origin(origin or sync_places([root])[0].origin)
        known = archive.kept(number)
        for one in AGENTS[0].kept_files(root):
            path = Path(one.path)
            name = path.relative_to(root).as_posix()
            keeper.keep(number, name, path, FileStatus.of(path.stat()), known.get(name))


def seen(check: Check, folder: Path, *sources: Path, usual: tuple[Path, ...] = ()) -> list[DoctorFinding]:
    """What one check finds, with the archive of a folder."""
    scene = DoctorScene(sources, usual, folder, NOW)
    scene.holding = archive_holding(folder, scene.places)
    return [finding for name, one in CHECKS.items() if one is check for finding in run_check(name, scene)]


def levels(findings: list[DoctorFinding]) -> list[str]:
    return [finding.level for finding in findings]
