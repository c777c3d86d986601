"""What the agent will delete is told before it does, and is bad news only where it is not kept."""

from pathlib import Path

import pytest

from tests.store.sync.scenes import age, aged, keep, levels, put, seen
from unspool.store.sync.source_checks import check_cleanup


def test_a_log_goes_when_its_age_reaches_the_setting(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    gone, going = aged(root, 30.1, "gone"), aged(root, 29.9, "going")
    aged(root, 22.9, "safe")
    setting, due, soon = seen(check_cleanup, archive, root)
    assert (setting.level, due.level, soon.level) == ("note", "bad", "bad")
    assert [Path(path).stem for path in due.details] == [gone.session_id]
    assert [Path(path).stem for path in soon.details] == [going.session_id]
    assert due.remedy == soon.remedy == "unspool sync"
    assert "1 session (1 file, " in due.message
    assert "the oldest of 2026-05-02" in due.message
    assert "none of it is kept yet" in due.message


def test_what_is_kept_may_go(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 31)
    keep(archive, root)
    _, due, soon = seen(check_cleanup, archive, root)
    assert (due.level, soon.level) == ("note", "ok")
    assert due.message.endswith("; all of it is kept.")


def test_only_what_is_not_kept_is_named(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 31, "kept")
    grown = aged(root, 31, "grown")
    keep(archive, root)
    path = root / grown.path
    path.write_bytes(path.read_bytes() + b"{}\n")
    age(path, 31)
    late = aged(root, 40, "late")
    _, due, _ = seen(check_cleanup, archive, root)
    assert due.level == "bad"
    assert [Path(name).stem for name in due.details] == [late.session_id, grown.session_id]
    assert "3 sessions (3 files, " in due.message
    assert "; 2 sessions (2 files, " in due.message


def test_the_setting_decides(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 31)
    put(root / "settings.json", {"cleanupPeriodDays": 400})
    assert levels(seen(check_cleanup, tmp_path / "archive", root)) == ["ok", "ok", "ok"]
    put(root / "settings.json", {"cleanupPeriodDays": 31})
    assert levels(seen(check_cleanup, tmp_path / "archive", root)) == ["note", "bad", "ok"]


def test_zero_days_is_bad_by_itself(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 1)
    keep(archive, root)
    put(root / "settings.json", {"cleanupPeriodDays": 0})
    setting, due, _ = seen(check_cleanup, archive, root)
    assert (setting.level, due.level) == ("bad", "note")
    assert str(root / "settings.json") in setting.remedy


def test_a_setting_that_means_nothing_is_told(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 1)
    put(root / "settings.json", {"cleanupPeriodDays": "never"})
    setting, *_ = seen(check_cleanup, tmp_path / "archive", root)
    assert setting.level == "warn"
    assert "'never'" in setting.details[0]


def test_files_around_a_log_go_by_their_own_age_and_some_never(tmp_path: Path) -> None:
    root = tmp_path / "root"
    log = aged(root, 1)
    old = put(root / "file-history" / log.session_id / "a@v1", "x", 40)
    put(root / "history.jsonl", "", 400)
    put(root / log.folder / "memory" / "MEMORY.md", "x", 400)
    _, due, soon = seen(check_cleanup, tmp_path / "archive", root)
    assert due.details == (str(old),)
    assert "0 sessions (1 file, 1 B)" in due.message
    assert soon.level == "ok"


def test_the_last_cleanup_is_told(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 1)
    put(root / ".last-cleanup", "", 2)
    assert "It last did so on 2026-05-30." in seen(check_cleanup, tmp_path / "archive", root)[0].message


def test_two_names_of_one_source_are_looked_at_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    aged(root, 31)
    once = seen(check_cleanup, tmp_path / "archive", root)
    assert seen(check_cleanup, tmp_path / "archive", root, root / "projects") == once


@pytest.mark.parametrize("modified", [0, -(10**9), 4 * 10**11])
def test_times_that_no_clock_shows_do_no_harm(modified: int, tmp_path: Path) -> None:
    root = tmp_path / "root"
    log = aged(root, 1)
    age(root / log.path, -modified / 86_400)
    assert len(seen(check_cleanup, tmp_path / "archive", root)) == 3


def test_where_the_archive_cannot_be_read_it_is_not_said_that_nothing_is_kept(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 31)
    put(archive / "archive.db", "rubble" * 1000)
    _, due, _ = seen(check_cleanup, archive, root)
    assert (due.level, due.message.endswith("whether it is kept cannot be told.")) == ("warn", True)
