"""What the archive lacks is told, and louder where it has lacked it for long."""

from pathlib import Path

import pytest

from tests.store.sync.scenes import age, aged, keep, levels, put, seen
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.chain import name_digest
from unspool.store.sync.scan import sync_places
from unspool.store.sync.source_checks import check_keeping


def test_all_kept_is_well(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    log = aged(root, 3)
    put(root / "tasks" / log.session_id / "1.json", "{}", 3)
    keep(archive, root)
    (finding,) = seen(check_keeping, archive, root)
    assert (finding.level, "2 files" in finding.message) == ("ok", True)


def test_new_files_are_told_the_old_ones_louder(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 3, "kept")
    keep(archive, root)
    fresh = aged(root, 0.5, "fresh")
    (finding,) = seen(check_keeping, archive, root)
    assert (finding.level, finding.remedy) == ("note", "unspool sync")
    assert finding.details == (str(root / fresh.path),)
    aged(root, 2, "old")
    (finding,) = seen(check_keeping, archive, root)
    assert (finding.level, len(finding.details)) == ("warn", 2)
    assert finding.message.startswith("2 files of 2 sessions (")


def test_a_log_that_grew_since_is_told(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    log = aged(root, 3)
    keep(archive, root)
    path = root / log.path
    path.write_bytes(path.read_bytes() + b"{}\n")
    age(path, 0.1)
    (finding,) = seen(check_keeping, archive, root)
    assert (finding.level, finding.details) == ("note", (str(path),))
    keep(archive, root)
    assert levels(seen(check_keeping, archive, root)) == ["ok"]


def test_a_log_rewritten_in_the_same_size_is_told(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    log = aged(root, 3)
    keep(archive, root)
    age(root / log.path, 2)
    assert levels(seen(check_keeping, archive, root)) == ["warn"]


def test_without_an_archive_there_is_nothing_to_compare(tmp_path: Path) -> None:
    aged(tmp_path / "root", 3)
    assert seen(check_keeping, tmp_path / "archive", tmp_path / "root") == []


def test_a_source_reached_by_a_link_is_the_same_source(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 3)
    keep(archive, root)
    (tmp_path / "link").symlink_to(root)
    assert levels(seen(check_keeping, archive, tmp_path / "link")) == ["ok"]


def test_projects_that_are_a_link_are_kept_under_their_own_name(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 3)
    (root / "projects").rename(tmp_path / "elsewhere")
    (root / "projects").symlink_to(tmp_path / "elsewhere")
    keep(archive, root)
    assert levels(seen(check_keeping, archive, root)) == ["ok"]


def test_the_same_path_of_another_machine_keeps_nothing_of_this_one(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 3)
    (here,) = sync_places([root])
    keep(archive, root, here.origin._replace(machine="elsewhere"))
    assert levels(seen(check_keeping, archive, root)) == ["warn"]


@pytest.mark.parametrize("source", ["", "projects", "project"])
def test_a_part_of_a_source_is_compared_with_the_same_files(source: str, tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    log = aged(root, 3)
    keep(archive, root)
    part = root / {"project": log.folder}.get(source, source)
    assert levels(seen(check_keeping, archive, part)) == ["ok"]


def test_what_was_forgotten_is_not_missed(tmp_path: Path) -> None:
    root, archive = tmp_path / "root", tmp_path / "archive"
    aged(root, 3)
    keep(archive, root)
    forgotten = aged(root, 3, "forgotten")
    assert levels(seen(check_keeping, archive, root)) == ["warn"]
    with ArchiveDatabase.open(archive) as kept, kept.writing():
        kept.db.execute("INSERT INTO tombstone VALUES(?, 0)", (name_digest(kept.salt, forgotten.path),))
    assert levels(seen(check_keeping, archive, root)) == ["ok"]
