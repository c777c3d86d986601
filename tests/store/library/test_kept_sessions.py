"""Sessions that only an archive has are listed, found and opened as if they were still in their source."""

import os
from pathlib import Path

import pytest

from tests.log_builder.builder import LogBuilder
from tests.store.sync.sessions import full, source, turn, write
from unspool.agents import FoundLog
from unspool.errors import NotFound
from unspool.model import Facts, Session
from unspool.prices import PriceTable
from unspool.reading.scan import Scan
from unspool.store.library import Library, read
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.sync import sync


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "source"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def library(root: Path, folder: Path) -> Library:
    return Library([root], kept=KeptSessions(folder))


def vanished(root: Path, *logs: LogBuilder) -> None:
    for log in logs:
        for name in log.tree():
            (root / name).unlink(missing_ok=True)


def test_only_sessions_that_are_not_in_their_source_come_from_the_archive(root: Path, folder: Path) -> None:
    here, gone = full("here"), full("gone")
    write(root, [here, gone])
    sync(folder, [root])
    vanished(root, gone)
    logs = {log.session_id: log for log in library(root, folder).logs()}
    assert {name: bool(log.origin) for name, log in logs.items()} == {here.session_id: False, gone.session_id: True}
    assert logs[gone.session_id].path == str(root / gone.path)


def test_a_session_that_was_never_synced_is_listed_beside_those_of_the_archive(root: Path, folder: Path) -> None:
    gone, new = full("gone"), full("new")
    write(root, [gone])
    sync(folder, [root])
    vanished(root, gone)
    write(root, [new])
    assert {one.id for one in library(root, folder).overviews()} == {gone.session_id, new.session_id}


def test_a_session_is_found_by_the_start_of_its_id_and_by_its_title(root: Path, folder: Path) -> None:
    gone = full("gone")
    write(root, [gone])
    sync(folder, [root])
    vanished(root, gone)
    there = library(root, folder)
    assert there.find(gone.session_id[:8]).session_id == gone.session_id
    assert there.find("Mend the gone harbour").session_id == gone.session_id
    assert there.open("latest").id == gone.session_id


def test_nothing_of_the_archive_is_left_outside_when_a_session_was_opened(
    root: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scratch = tmp_path / "cache" / "unspool" / "scratch"
    gone = full("gone")
    write(root, [gone])
    sync(folder, [root])
    vanished(root, gone)
    there = library(root, folder)
    found = there.find(gone.session_id)
    with KeptSessions(folder).lent(found) as here:
        assert Path(here.path).is_relative_to(scratch)
        lent = next(scratch.iterdir()) / "files"
        assert lent.stat().st_mode & 0o077 == 0
        kept = source(lent)
        assert kept == {name: data for name, data in gone.tree().items() if name in kept}
        assert {here.path, *(agent.path for agent in here.agents)} <= {str(lent / name) for name in kept}
    session = there.open(found)
    assert list(scratch.iterdir()) == []
    assert str(scratch) not in repr(paths(session))


def paths(session: Session) -> list[str]:
    return [session.log.path, *(path for agent in session.agents for path in paths(agent.session))]


def test_chains_hold_across_what_is_there_and_what_is_gone(root: Path, folder: Path) -> None:
    plan = "# Build a lighthouse\n\nStone by stone, for a long time, until it stands."
    planning = LogBuilder(seed="planning").prompt("Plan a lighthouse").plan(plan, "cleared")
    building = turn(LogBuilder(seed="building").implement(plan, planning), 1)
    write(root, [planning, building])
    sync(folder, [root])
    before = {one.id: links(Library([root]).open(one.id)) for one in Library([root]).overviews()}
    assert all(before.values())
    for gone in ((planning,), (building,), (planning, building)):
        write(root, [planning, building])
        vanished(root, *gone)
        there = library(root, folder)
        assert {one.id: links(there.open(one.id)) for one in there.overviews()} == before


def links(session: Session) -> list[tuple[str, ...]]:
    return [(link.session, link.relation, link.title) for link in session.links]


def test_a_session_that_the_index_does_not_know_is_left_out_of_the_list(root: Path, folder: Path) -> None:
    gone = full("gone")
    write(root, [gone])
    sync(folder, [root])
    vanished(root, gone)
    from unspool.store.index.database import Index

    with Index.open(folder) as index:
        index.db.execute("DELETE FROM session")
    assert library(root, folder).overviews() == ()


def test_what_the_archive_does_not_hold_is_not_found(root: Path, folder: Path) -> None:
    write(root, [full("here")])
    sync(folder, [root])
    with pytest.raises(NotFound):
        library(root, folder).find("0badcafe")


def read_paths(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The logs that are read from here on."""
    found: list[str] = []
    really = read.scan_log

    def scan_log(log: FoundLog, *, places: bool = False) -> tuple[Scan, Facts]:
        found.append(log.session_id)
        return really(log, places=places)

    monkeypatch.setattr(read, "scan_log", scan_log)
    return found


def test_a_log_that_the_index_knows_as_it_stands_is_not_read_for_a_list(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, [full("one"), full("two")])
    sync(folder, [root])
    plain = Library([root]).listing()
    read_for = read_paths(monkeypatch)
    assert library(root, folder).listing() == plain
    assert read_for == []


@pytest.mark.parametrize("change", ["grown", "touched", "another subagent", "a companion"])
def test_a_log_that_changed_since_is_read(
    change: str, root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = full("one"), full("two")
    write(root, [one, two])
    sync(folder, [root])
    log = root / one.path
    if change == "grown":
        turn(one, 9)
        write(root, [one])
    elif change == "touched":
        os.utime(log, ns=(1, 1))
    elif change == "another subagent":
        home = log.with_suffix("") / "subagents"
        home.mkdir(parents=True, exist_ok=True)
        (home / "agent-anew.jsonl").write_bytes(log.read_bytes())
    else:
        spilled = next(path for path in log.with_suffix("").rglob("*") if path.parent.name == "tool-results")
        spilled.write_text("otherwise")
    read_for = read_paths(monkeypatch)
    shown = library(root, folder).listing()
    assert read_for == [one.session_id]
    assert shown == Library([root]).listing()


def test_an_index_of_other_prices_is_not_believed(
    root: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, [full("one")])
    sync(folder, [root])
    own = tmp_path / "prices.json"
    own.write_text('{"models": [{"model": "odd", "input": "1", "output": "1"}]}')
    read_for = read_paths(monkeypatch)
    Library([root], PriceTable.load(own), KeptSessions(folder)).listing()
    assert len(read_for) == 1
