"""A sync does not mind what happens around it: writers, other syncs, locks, damage."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tests.store.archive.making import clean
from tests.store.sync.changing import held
from tests.store.sync.dumped import differing, dump, generations_fit
from tests.store.sync.killing import started, syncing
from tests.store.sync.sessions import child, full, noise, rested, source, turn, write
from unspool.errors import Busy
from unspool.prices import PriceTable
from unspool.store.archive import ArchiveDatabase, database
from unspool.store.index.database import Index
from unspool.store.sync import extract, readers, sync

linux = pytest.mark.skipif(sys.platform == "win32", reason="asks the system what Windows has not")


APPENDING = """
import sys, time
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "ab", buffering=0) as out:
    for start in range(0, len(data), 1777):
        out.write(data[start:start + 1777])
        time.sleep(0.005)
"""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Somebody else is writing to a database."""
    db = apsw.Connection(str(path))
    db.execute("BEGIN EXCLUSIVE" if path.name == "archive.db" else "BEGIN IMMEDIATE")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
        db.close()


def test_a_log_that_vanishes_while_it_is_read_is_no_failure_of_others(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = next(root.rglob("subagents/agent-*.jsonl"))

    def vanish(job: extract.ExtractJob, prices: PriceTable) -> object:
        agent.unlink(missing_ok=True)
        return extract.extract_rows(job, prices)

    monkeypatch.setattr(readers, "extract_rows", vanish)
    sync(folder, [root])
    monkeypatch.undo()
    report = sync(folder, [root])
    assert report.failures == []
    assert sync(folder, [root]).parsed == 0
    generations_fit(folder)


def test_a_subagent_that_comes_while_files_are_listed_is_for_the_next_sync(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unspool.store.sync.scan import SyncPlace

    files = SyncPlace.files

    def late(place: SyncPlace) -> object:
        found = files(place)
        write(root, [child(full("aa"), "come late")])
        return found

    monkeypatch.setattr(SyncPlace, "files", late)
    assert sync(folder, [root]).failures == []
    monkeypatch.undo()
    assert sync(folder, [root]).failures == []
    generations_fit(folder)
    assert sync(folder, [root]).parsed == 0
    assert len([row for row in dump(folder)["log"] if row[4]]) == 4


def test_a_damaged_index_is_made_anew(root: Path, folder: Path) -> None:
    sync(folder, [root])
    before = dump(folder, states=True)
    path = folder / "index.db"
    for damage in (b"", b"no database at all" * 1000, bytes(8192) + path.read_bytes()[8192:]):
        path.write_bytes(damage)
        assert sync(folder, [root]).failures == []
        assert differing(before, dump(folder, states=True)) == {}


def test_an_index_that_turns_out_to_be_damaged_is_made_anew(root: Path, folder: Path) -> None:
    sync(folder, [root])
    path = folder / "index.db"
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 8192):
        data[page * 8192 : page * 8192 + 4096] = noise(page, 4096)
    path.write_bytes(data)
    write(root, [turn(full("aa"), 6)])
    assert sync(folder, [root]).failures == []
    sync(folder.with_name("other"), [root])
    assert differing(dump(folder), dump(folder.with_name("other"))) == {}


def test_an_index_of_another_version_is_made_anew(root: Path, folder: Path) -> None:
    sync(folder, [root])
    before = dump(folder, states=True)
    with Index.open(folder) as index:
        index.db.execute("DELETE FROM session")
        index.db.pragma("user_version", 999)
    assert sync(folder, [root]).parsed == 3
    assert differing(before, dump(folder, states=True)) == {}


def test_a_session_that_the_archive_cannot_give_back_does_not_keep_others_from_the_index(
    root: Path, folder: Path
) -> None:
    other = root / "projects/-p/0b0b0b0b-0000-4000-8000-000000000001.jsonl"
    other.parent.mkdir()
    other.write_bytes(noise(1, 2_000_000))
    sync(folder, [root])
    for path in root.rglob("*.*"):
        path.unlink()
    with ArchiveDatabase.open(folder) as archive:
        pack = archive.db.execute("SELECT id FROM pack ORDER BY length(data) DESC LIMIT 1").get
        archive.db.execute("UPDATE pack SET data = zeroblob(length(data)) WHERE id = ?", (pack,))
    (folder / "index.db").unlink()
    report = sync(folder, [root])
    assert report.failures
    assert "verify" in report.failures[0]


def test_a_locked_archive_is_waited_for(root: Path, folder: Path) -> None:
    sync(folder, [root])
    write(root, [turn(full("aa"), 6)])
    done = folder / "done"
    with locked(folder / "archive.db"):
        process = started(syncing, folder, root, False, str(done))
        process.join(0.7)
        assert process.is_alive()
        assert not done.exists()
    process.join(120)
    assert process.exitcode == 0
    assert sync(folder, [root]).changed is False


@pytest.mark.parametrize("name", ["archive.db", "index.db"])
def test_a_database_that_stays_locked_is_an_error_and_nothing_is_lost(
    root: Path, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(folder, [root])
    before = held(folder)
    write(root, [turn(full("aa"), 6)])
    monkeypatch.setattr(database, "_WAIT_MS", 100)
    monkeypatch.setattr("unspool.store.index.database._WAIT_MS", 100)
    with locked(folder / name), pytest.raises(Busy, match=name):
        sync(folder, [root])
    assert before.keys() <= held(folder).keys()
    assert sync(folder, [root]).failures == []
    generations_fit(folder)
    clean(folder)


@linux
def test_two_syncs_at_once_both_succeed_and_nothing_is_doubled(root: Path, folder: Path) -> None:
    for _ in range(3):
        processes = [started(syncing, folder, root, one == 0, f"{folder}.{one}") for one in range(3)]
        for process in processes:
            process.join(60)
            assert process.exitcode == 0
        now = held(folder)
        assert {name for name, _ in now} == set(source(root))
        assert {number for _, number in now} == {1}
        write(root, [turn(full(name), 6) for name in ("aa", "dd")])
    sync(folder, [root])
    clean(folder)
    sync(folder.with_name("other"), [root])
    assert differing(dump(folder), dump(folder.with_name("other"))) == {}


@linux
def test_a_writer_that_appends_all_the_while_is_followed(folder: Path, tmp_path: Path) -> None:
    log = full("busy", 12)
    path = tmp_path / "source" / log.path
    path.parent.mkdir(parents=True)
    whole = tmp_path / "whole"
    whole.write_bytes(log.to_bytes() * 3)
    writer = subprocess.Popen([sys.executable, "-c", APPENDING, str(whole), str(path)])
    name, sizes = log.path, []
    while writer.poll() is None:
        sync(folder, [tmp_path / "source"])
        if (now := held(folder)) and (name, 1) in now:
            assert set(now) == {(name, 1)}
            assert whole.read_bytes().startswith(now[name, 1])
            sizes.append(len(now[name, 1]))
            generations_fit(folder)
    assert len(set(sizes)) > 2, "the writer was done too soon"
    rested()
    sync(folder, [tmp_path / "source"])
    assert held(folder) == {(name, 1): path.read_bytes()} == {(name, 1): whole.read_bytes()}
    sync(tmp_path / "other", [tmp_path / "source"])
    assert differing(dump(folder), dump(tmp_path / "other")) == {}
    clean(folder)
