"""Opening an archive where people put theirs."""

from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from tests.store.archive.making import clean
from unspool.errors import Busy
from unspool.store.archive import ArchiveDatabase, database


def test_links_in_the_path_lead_to_the_archive(tmp_path: Path) -> None:
    """A home that is a link, as on many machines, and a linked file are followed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    with ArchiveDatabase.open(tmp_path / "link" / "kept") as archive:
        archive.note("said", "here")
    with ArchiveDatabase.open(tmp_path / "real" / "kept", readonly=True) as archive:
        assert archive.meta("said") == "here"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "archive.db").symlink_to(tmp_path / "real" / "kept" / "archive.db")
    with ArchiveDatabase.open(tmp_path / "other", readonly=True) as archive:
        assert archive.meta("said") == "here"


def test_an_archive_that_another_process_makes_meanwhile_is_no_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What tells an archive from a damaged one is read at one moment."""
    opened = database.open_connection

    def interrupted(path: Path, key: str | None, *, readonly: bool) -> apsw.Connection:
        db = opened(path, key, readonly=readonly)

        def trace(_: object, statement: str, __: object) -> bool:
            if "application_id" in statement:
                db.exec_trace = None
                monkeypatch.setattr(database, "open_connection", opened)
                with suppress(Busy):
                    ArchiveDatabase.open(tmp_path).close()
            return True

        db.exec_trace = trace
        return db

    monkeypatch.setattr(database, "_WAIT_MS", 20)
    monkeypatch.setattr(database, "open_connection", interrupted)
    ArchiveDatabase.open(tmp_path).close()
    clean(tmp_path)
