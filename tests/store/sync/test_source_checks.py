"""Folders that are missing or closed are named."""

import os
from pathlib import Path

import pytest

from tests.store.sync.scenes import aged, levels, put, seen
from unspool.store.sync.source_checks import check_sources


def test_sources_that_can_be_read_are_well(tmp_path: Path) -> None:
    aged(tmp_path / "root", 1)
    (finding,) = seen(check_sources, tmp_path / "archive", tmp_path / "root")
    assert (finding.level, finding.message) == ("ok", "1 session can be read.")


def test_a_source_that_was_named_must_be_there(tmp_path: Path) -> None:
    file = put(tmp_path / "file", "x")
    aged(tmp_path / "root", 1)
    missing, wrong, well = seen(check_sources, tmp_path / "archive", tmp_path / "gone", file, tmp_path / "root")
    assert (missing.level, "is not there" in missing.message) == ("bad", True)
    assert (wrong.level, "is no folder" in wrong.message) == ("bad", True)
    assert well.level == "ok"


def test_no_usual_folder_is_worth_a_word(tmp_path: Path) -> None:
    (finding,) = seen(check_sources, tmp_path / "archive", usual=(tmp_path / "a", tmp_path / "b"))
    assert finding.level == "warn"
    assert "`unspool agents` lists where each is looked for" in finding.message
    aged(tmp_path / "b", 1)
    assert levels(seen(check_sources, tmp_path / "archive", usual=(tmp_path / "a", tmp_path / "b"))) == ["ok"]


@pytest.mark.parametrize("closed", ["", "projects", "folder", "path"])
def test_whatever_may_not_be_read_is_named(closed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = aged(tmp_path, 1)
    path = str(tmp_path / getattr(log, closed, closed))
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda name, mode: str(name) != path and allowed(name, mode))
    (finding,) = seen(check_sources, tmp_path / "archive", tmp_path)
    assert (finding.level, finding.details) == ("bad", (path,))
    assert "chmod" in finding.remedy
    inside = {"": "ok"}.get(closed, "bad")
    assert levels(seen(check_sources, tmp_path / "archive", tmp_path / "projects")) == [inside]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    log = aged(tmp_path, 1)
    folder = tmp_path / log.folder
    folder.chmod(0)
    try:
        (finding,) = seen(check_sources, tmp_path / "archive", tmp_path)
    finally:
        folder.chmod(0o700)
    assert (finding.level, finding.details) == ("bad", (str(folder),))
