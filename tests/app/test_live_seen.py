"""Looking for active sessions again and again: cheap while nothing new is there, and nothing new is missed."""

import os
import time
from pathlib import Path

import pytest

from tests.cli.running import talk
from unspool.agents import FoundLog
from unspool.app import live_pages as module
from unspool.app.context import AppContext
from unspool.app.live_pages import LogWatcher, current_logs
from unspool.store.library.discover import discover_logs

OLD = time.time() - 3600


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for number in range(3):
        talk("Waves", f"{number}1111111-0000-4000-8000-000000000001", cwd=f"/home/dev/p{number}").write(tmp_path / "s")
    _age(tmp_path / "s")
    return tmp_path / "s"


def _age(folder: Path) -> None:
    """Make everything look as if it had been there for long."""
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (OLD, OLD))


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often all folders were gone through."""
    counted: list[int] = []

    def counting(roots: tuple[Path, ...]) -> list[FoundLog]:
        counted.append(1)
        return discover_logs(roots)

    monkeypatch.setattr(module, "discover_logs", counting)
    return counted


def test_folders_that_did_not_change_are_not_gone_through_again(source: Path, looks: list[int]) -> None:
    context = AppContext(source.parent / "archive", [source])
    assert len(current_logs(context)) == len(current_logs(context)) == len(current_logs(context)) == 3
    assert len(looks) == 1


def test_a_log_that_grew_is_seen_to_have_grown(source: Path, looks: list[int]) -> None:
    one = LogWatcher()
    path = Path(one.logs((source,))[0].path)
    with path.open("ab") as stream:
        stream.write(b'{"type":"summary"}\n')
    grown = {log.path: log for log in one.logs((source,))}[str(path)]
    assert (grown.size, grown.modified > OLD) == (path.stat().st_size, True)
    assert len(looks) == 1


@pytest.mark.parametrize("project", ["/home/dev/p0", "/home/dev/new"], ids=["a known folder", "a new folder"])
def test_a_new_log_is_seen_at_once(source: Path, project: str) -> None:
    one = LogWatcher()
    assert len(one.logs((source,))) == 3
    talk("Sand", "91111111-0000-4000-8000-000000000001", cwd=project).write(source)
    assert len(one.logs((source,))) == 4


def test_a_log_that_came_while_it_was_looked_is_seen_next(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the folder changed before it was noted how it stands."""
    one = LogWatcher()

    def racing(roots: tuple[Path, ...]) -> list[FoundLog]:
        found = discover_logs(roots)
        talk("Sand", "91111111-0000-4000-8000-000000000001", cwd="/home/dev/p0").write(source)
        return found

    monkeypatch.setattr(module, "discover_logs", racing)
    assert len(one.logs((source,))) == 3
    monkeypatch.setattr(module, "discover_logs", discover_logs)
    assert len(one.logs((source,))) == 4


def test_logs_and_sources_that_go_are_gone(source: Path) -> None:
    context = AppContext(source.parent / "archive", [source])
    context.folder.mkdir()
    Path(current_logs(context)[0].path).unlink()
    assert len(current_logs(context)) == 2
    source.rename(source.parent / "elsewhere")
    assert current_logs(context) == []


def test_a_log_replaced_by_a_link_to_elsewhere_is_none(source: Path, tmp_path: Path) -> None:
    one = LogWatcher()
    path = Path(one.logs((source,))[0].path)
    (tmp_path / "secret.jsonl").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(tmp_path / "secret.jsonl")
    assert str(path) not in {log.path for log in one.logs((source,))}
