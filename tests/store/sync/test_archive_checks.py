"""The archive, its index, its disk and its keeper are looked at, and nothing is written."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.fakes import on_path, program
from tests.store.sync.scenes import NOW, age, aged, keep, levels, put, seen
from unspool.store.archive import ArchiveDatabase, database
from unspool.store.index.schema import VERSION
from unspool.store.sync.archive_checks import check_archive, check_ghosts, check_index, check_room, check_watching
from unspool.store.sync.service import plan as hooks
from unspool.store.sync.service import systemd
from unspool.store.sync.service.plan import ServiceJob, WriteStep, perform_plan


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An archive of one session, of NOW."""
    aged(tmp_path / "root", 1)
    keep(tmp_path / "archive", tmp_path / "root")
    age(tmp_path / "archive" / "archive.db", 0)
    return tmp_path / "archive"


def test_no_archive_is_worth_a_word(tmp_path: Path) -> None:
    (finding,) = seen(check_archive, tmp_path / "none")
    assert (finding.level, finding.remedy) == ("warn", "unspool sync")
    assert seen(check_index, tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_an_archive_in_order_is_well(place: Path) -> None:
    (finding,) = seen(check_archive, place)
    assert (finding.level, finding.message) == ("ok", "The archive holds 1 session.")


@pytest.mark.parametrize("data", [b"no database at all" * 100, b""], ids=["rubble", "empty"])
def test_what_is_no_archive_is_bad(data: bytes, place: Path) -> None:
    (place / "archive.db").write_bytes(data)
    age(place / "archive.db", 0)
    assert levels(seen(check_archive, place)) == ["bad"]
    assert (place / "archive.db").read_bytes() == data


def test_an_archive_that_is_being_written_is_only_busy(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_WAIT_MS", 20)
    with ArchiveDatabase.open(place) as other:
        other.db.execute("BEGIN EXCLUSIVE")
        (finding,) = seen(check_archive, place)
    assert (finding.level, "Another process" in finding.message) == ("note", True)
    assert levels(seen(check_archive, place)) == ["ok"]


def test_an_encrypted_archive_is_not_taken_for_a_good_one(tmp_path: Path) -> None:
    with ArchiveDatabase.open(tmp_path / "archive", key="secret"):
        pass
    found = seen(check_archive, tmp_path / "archive")
    assert "bad" in levels(found)
    assert "encrypted" in found[0].message


def test_a_folder_in_its_place_is_bad(tmp_path: Path) -> None:
    (tmp_path / "archive" / "archive.db").mkdir(parents=True)
    assert "bad" in levels(seen(check_archive, tmp_path / "archive"))


@pytest.mark.parametrize(("name", "mode"), [("", 0o755), ("archive.db", 0o644), ("index.db", 0o640)])
def test_what_others_may_read_is_told(name: str, mode: int, place: Path) -> None:
    put(place / "index.db", "").chmod(0o600)
    assert levels(seen(check_archive, place)) == ["ok"]
    (place / name).chmod(mode)
    (finding,) = seen(check_archive, place)
    assert (finding.level, finding.details) == ("warn", (str(place / name),))
    assert finding.remedy.startswith("chmod ")


def test_an_archive_that_may_not_be_written_is_bad(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and allowed(path, mode))
    assert levels(seen(check_archive, place)) == ["bad"]


def test_a_sync_of_long_ago_is_told_where_something_is_not_kept(place: Path) -> None:
    age(place / "archive.db", 9)
    root = place.parent / "root"
    assert levels(seen(check_archive, place, root)) == ["ok"]
    aged(root, 1, "new")
    (finding,) = seen(check_archive, place, root)
    assert (finding.level, finding.message) == ("warn", "The last sync was 9 days ago.")


def sqlite_head(version: int) -> bytes:
    return b"SQLite format 3\0".ljust(60, b"\0") + version.to_bytes(4) + bytes(36)


@pytest.mark.parametrize(
    ("data", "level"),
    [(None, "warn"), (b"rubble", "warn"), (sqlite_head(VERSION), "ok"), (sqlite_head(VERSION + 1), "note")],
)
def test_the_index_is_of_this_version_or_made_anew(data: bytes | None, level: str, place: Path) -> None:
    if data is not None:
        (place / "index.db").write_bytes(data)
    assert levels(seen(check_index, place)) == [level]


class Usage(NamedTuple):
    """What the system says of a disk."""

    free: int


@pytest.mark.parametrize(("free", "level"), [(10**7, "bad"), (10**9, "warn"), (10**11, "ok")])
def test_a_full_disk_is_told(free: int, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def usage(path: Path) -> Usage:
        asked.append(path)
        return Usage(free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    assert levels(seen(check_room, tmp_path / "not" / "yet")) == [level]
    assert asked == [tmp_path]


def test_the_real_disk_is_asked(tmp_path: Path) -> None:
    assert len(seen(check_room, tmp_path)) == 1


def test_without_a_keeper_the_way_to_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(tmp_path / "bin", monkeypatch)
    program(tmp_path / "bin", "crontab", "echo '* * * * * true'")
    (finding,) = seen(check_watching, tmp_path)
    assert (finding.level, finding.remedy) == ("note", "unspool watch --install")


def installed_hook(folder: Path) -> None:
    (folder / "projects").mkdir(parents=True)
    perform_plan(hooks.install(ServiceJob(folder / "archive")))


def installed_unit(folder: Path) -> None:
    plan = systemd.install(ServiceJob(folder / "archive"))
    perform_plan(plan._replace(steps=tuple(step for step in plan.steps if isinstance(step, WriteStep))))


@pytest.mark.parametrize(
    ("installed", "name"), [(installed_hook, "hooks of Claude Code"), (installed_unit, "systemd unit")]
)
def test_what_is_installed_is_seen(
    installed: Callable[[Path], None], name: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path(tmp_path / "bin", monkeypatch)
    program(tmp_path / "bin", "crontab", "echo 'no crontab for ada' >&2; exit 1")
    installed(home / ".claude")
    (finding,) = seen(check_watching, tmp_path, usual=(home / ".claude",))
    assert (finding.level, finding.details) == ("ok", (name,))


def remembered(root: Path, **fields: Any) -> None:
    put(root / "history.jsonl", {"display": "sail", "timestamp": NOW.timestamp() * 1000, "project": "/shop", **fields})


def test_ghosts_are_counted_unless_the_archive_has_them(place: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (log,) = root.rglob("*.jsonl")
    remembered(root, sessionId="0a0a0a0a-1111-4222-8333-444444444444")
    (finding,) = seen(check_ghosts, place, root)
    assert finding.message.startswith("1 session with 1 prompt has no log any more")
    assert finding.details == ("0a0a0a0a-1111-4222-8333-444444444444 · 2026-06-01 · /shop",)
    remembered(root, sessionId=log.stem)
    log.unlink()
    assert seen(check_ghosts, place, root) == []
    assert len(seen(check_ghosts, tmp_path / "none", root)) == 1


def test_prompts_that_name_no_session_are_said_to_be_assumed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 40)
    remembered(root)
    (finding,) = seen(check_ghosts, tmp_path / "none", root)
    assert (finding.level, "an assumed 1 session" in finding.message) == ("note", True)


def test_files_without_a_session_are_counted(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 1)
    put(root / "file-history" / "0a0a0a0a-1111-4222-8333-444444444444" / "a@v1", "content")
    (finding,) = seen(check_ghosts, tmp_path / "none", root)
    assert finding.message == "Of 1 more session only files survive."
