"""A user's home with projects in which sessions worked, and the files that they ran under, version by version."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.log_builder.builder import LogBuilder
from unspool.store.archive import ArchiveDatabase
from unspool.store.sync import SyncChoices, SyncReport, sync

NOW = datetime.now(UTC).replace(microsecond=0)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


class ContextScene:
    """The home, its projects below `home/work`, and an archive."""

    def __init__(self, home: Path) -> None:
        self.home, self.archive = home, home / "archive"
        self.agent = home / ".claude"

    def project(self, name: str, *, repository: bool = True) -> Path:
        folder = self.home / "work" / name
        (folder / ".git" if repository else folder).mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, path: Path, text: str | bytes, when: datetime) -> Path:
        """Write a file as it was written then."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(path, (when.timestamp(), when.timestamp()))
        return path

    def session(self, seed: str, folder: Path, when: datetime, **more: Any) -> LogBuilder:
        """A session that worked in a folder, not written yet."""
        log = LogBuilder(seed=seed, cwd=str(folder), start=when, home=str(self.agent), **more)
        return log.prompt(f"Please mend the {seed}").assistant(log.text(f"The {seed} is mended."))

    def ran(self, seed: str, folder: Path, when: datetime, **more: Any) -> str:
        """Write a session that worked in a folder; its id."""
        log = self.session(seed, folder, when, **more)
        log.write(self.agent)
        return log.session_id

    def sync(self, *, projects: bool = True) -> SyncReport:
        report = sync(self.archive, (), choices=SyncChoices(context_files=projects))
        assert report.failures == []
        return report

    def kept_at(self, path: Path, when: datetime) -> None:
        """Have the archive say that the last generation of a file was first kept then: a sync keeps it now."""
        with ArchiveDatabase.open(self.archive) as archive, archive.writing():
            file = (
                "SELECT file.id FROM file JOIN origin ON origin.id = origin WHERE rtrim(root, '/') || '/' || path = ?"
            )
            last = "SELECT max(number) FROM generation AS other WHERE other.file = generation.file"
            change = f"UPDATE generation SET seen = ? WHERE file = ({file}) AND number = ({last})"  # noqa: S608
            archive.db.execute(change, (when.timestamp(), str(path)))
