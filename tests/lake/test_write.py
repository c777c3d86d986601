"""A lake is brought up to date: only what changed is read, replaces its rows, and nothing else moves."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

from tests.lake.lakes import TERMS, asked, contents, files_of, globbed, grow, manifest_of, written
from tests.log_builder.builder import LogBuilder
from tests.thorough import tries
from unspool.demo import write_demo
from unspool.errors import AlreadyRunning, Exists, NoRoom, Unreadable, UsageProblem
from unspool.lake import group, joining, manifest, parquet, query, settle, write
from unspool.lake.group import GroupTask, LogTask, write_group
from unspool.lake.manifest import verify_lake
from unspool.lake.settle import RememberedSessions
from unspool.lake.storage import FolderStorage
from unspool.lake.tables import TABLES
from unspool.store.library import Library
from unspool.store.library.read import read_counted

FORK = "bbbbbbbb-0000-4000-8000-000000000002"


def session(seed: str, *prompts: str) -> LogBuilder:
    log = LogBuilder(seed=seed, version="2.1.230")
    for words in prompts or ("one", "two"):
        log.prompt(words).ran("ls", f"README of {words}")
        log.assistant(log.text(f"done with {words}"))
    return log


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for seed in ("a", "b", "c"):
        session(seed).write(tmp_path / "logs")
    return tmp_path / "logs"


@pytest.fixture
def reads() -> Iterator[Counter[str]]:
    """How often the log of each session was read."""
    count: Counter[str] = Counter()
    real = read_counted

    def counted(found: Any, *more: Any) -> Any:
        count[found.session_id] += 1
        return real(found, *more)

    with mock.patch("unspool.lake.group.read_counted", counted):
        yield count


def test_unchanged_sessions_are_not_read_again(logs: Path, tmp_path: Path, reads: Counter[str]) -> None:
    written(tmp_path / "lake", logs)
    assert sorted(reads.values()) == [1, 1, 1]
    before = files_of(tmp_path / "lake")
    report = written(tmp_path / "lake", logs)
    assert (report.written, report.unchanged) == (0, 3)
    assert sorted(reads.values()) == [1, 1, 1]
    assert files_of(tmp_path / "lake") == before


def test_a_session_that_grew_replaces_its_rows(logs: Path, tmp_path: Path, reads: Counter[str]) -> None:
    written(tmp_path / "lake", logs)
    grown = session("b", "one", "two", "three")
    grown.write(logs)
    report = written(tmp_path / "lake", logs)
    assert (report.written, report.unchanged) == (1, 2)
    assert reads == {grown.session_id: 2, session("a").session_id: 1, session("c").session_id: 1}
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")
    prompts = asked(tmp_path / "lake", "SELECT session, count(*) FROM prompts GROUP BY ALL")
    assert dict(prompts)[grown.session_id] == 3


def test_the_files_in_the_folders_are_the_lake(logs: Path, tmp_path: Path) -> None:
    """After a write, whoever reads the folders without the manifest sees the same rows."""
    written(tmp_path / "lake", logs)
    session("a", "one", "two", "three", "four").write(logs)
    written(tmp_path / "lake", logs)
    for table in ("sessions", "usage", "calls", "blocks"):
        plain = globbed(f"SELECT count(*) FROM '{tmp_path}/lake/{table}/**/*.parquet'")  # noqa: S608
        assert plain == asked(tmp_path / "lake", f"SELECT count(*) FROM {table}")  # noqa: S608
    known = manifest_of(tmp_path / "lake").paths
    assert {path for path in files_of(tmp_path / "lake") if path.endswith(".parquet")} == known


def test_a_copy_that_comes_later_is_not_counted_and_the_first_is_not_read_again(
    logs: Path, tmp_path: Path, reads: Counter[str]
) -> None:
    written(tmp_path / "lake", logs)
    copy = session("a").copied(FORK).wait(60).prompt("more")
    copy.assistant(copy.text("more")).write(logs)
    report = written(tmp_path / "lake", logs)
    assert (report.written, report.again) == (1, 1)
    assert reads[session("a").session_id] == 1
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")


def test_when_the_first_goes_its_copy_counts(logs: Path, tmp_path: Path) -> None:
    first = session("a")
    copy = first.copied(FORK).wait(60).prompt("more")
    copy.assistant(copy.text("more")).write(logs)
    written(tmp_path / "lake", logs)
    (logs / first.path).unlink()
    report = written(tmp_path / "lake", logs, prune=True)
    assert (report.removed, report.again) == (1, 1)
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")
    assert asked(tmp_path / "lake", f"SELECT count(*) FROM usage WHERE session = '{FORK}' AND NOT counted") == [(0,)]  # noqa: S608


def test_a_log_that_is_gone_keeps_its_rows_until_it_is_pruned(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "lake", logs)
    before = contents(tmp_path / "lake")
    (logs / session("b").path).unlink()
    assert written(tmp_path / "lake", logs).removed == 0
    assert contents(tmp_path / "lake") == before
    assert written(tmp_path / "lake", logs, prune=True).removed == 1
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")


def test_a_session_of_another_month_lies_in_its_folder(tmp_path: Path) -> None:
    first = session("a").write(tmp_path / "logs")
    written(tmp_path / "lake", tmp_path / "logs")
    ((month,),) = asked(tmp_path / "lake", "SELECT DISTINCT month FROM usage")
    data = first.read_bytes().replace(month.encode(), b"2031-07")
    first.write_bytes(data)
    os.utime(first, (0, 0))
    written(tmp_path / "lake", tmp_path / "logs")
    assert asked(tmp_path / "lake", "SELECT DISTINCT month FROM usage") == [("2031-07",)]
    assert not list((tmp_path / "lake").rglob(f"*month={month}"))


def test_only_sessions_of_some_time_are_read(logs: Path, tmp_path: Path, reads: Counter[str]) -> None:
    path = logs / session("b").path
    later = path.stat().st_mtime + 10**6
    os.utime(path, (later, later))
    written(tmp_path / "lake", logs, since=later - 1)
    assert reads == {session("b").session_id: 1}
    written(tmp_path / "lake", logs)
    assert sorted(reads.values()) == [1, 1, 1]


def test_a_log_that_cannot_be_read_is_a_problem_and_the_rest_is_written(logs: Path, tmp_path: Path) -> None:
    broken = logs / session("b").path
    sound = broken.read_bytes()
    broken.write_bytes(b"\x1f\x8b\x08 no such packed log")
    report = written(tmp_path / "lake", logs)
    assert len(report.failures) == 1
    ((name, log),) = asked(tmp_path / "lake", "SELECT session, log FROM problems")
    assert (name, log) == (session("b").session_id, str(broken))
    assert asked(tmp_path / "lake", "SELECT count(*) FROM sessions") == [(2,)]
    assert len(written(tmp_path / "lake", logs).failures) == 1
    assert asked(tmp_path / "lake", "SELECT count(*) FROM problems") == [(1,)]
    broken.write_bytes(sound)
    assert written(tmp_path / "lake", logs).failures == []
    assert asked(tmp_path / "lake", "SELECT count(*) FROM problems") == [(0,)]
    assert asked(tmp_path / "lake", "SELECT count(*) FROM sessions") == [(3,)]


def test_the_same_group_gives_the_same_bytes(logs: Path, tmp_path: Path) -> None:
    found = tuple(LogTask(log) for log in Library([logs]).logs())
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = (write_group(GroupTask(found, TERMS, str(tmp_path / name))) for name in ("one", "two"))
    assert first == second
    assert {path: (tmp_path / "one" / path).read_bytes() for path in files_of(tmp_path / "one")} == {
        path: (tmp_path / "two" / path).read_bytes() for path in files_of(tmp_path / "two")
    }


def test_processes_write_what_one_does(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "one", logs)
    with mock.patch.multiple(write, _WORTH_A_POOL=0, _GROUP=8):
        written(tmp_path / "two", logs, jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_sessions_that_have_nothing_to_do_with_each_other_are_settled_apart(tmp_path: Path) -> None:
    for number in range(3):
        write_demo(tmp_path / "logs" / str(number), others=True)
        session(f"more {number}").write(tmp_path / "logs" / str(number))
    sources = [tmp_path / "logs" / str(number) for number in range(3)]
    written(tmp_path / "one", *sources)
    with mock.patch.object(settle, "_LOT", 1):
        lots = RememberedSessions.load(
            FolderStorage(tmp_path / "one"), [part.path for part in manifest_of(tmp_path / "one").known]
        )
        assert len(list(lots.settle(list(lots.keys), TERMS.prices))) > 1
        written(tmp_path / "two", *sources)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_rows_are_written_in_pieces_whatever_comes(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "one", logs)
    with mock.patch.multiple(parquet, GROUP_ROWS=2, _GROUP_BYTES=64, _WAITING_BYTES=128):
        written(tmp_path / "two", logs)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_many_small_files_become_one(logs: Path, tmp_path: Path) -> None:
    for number in range(12):
        session(f"more {number}").write(logs)
        written(tmp_path / "lake", logs)
    parts = Counter((part.table, part.month) for part in manifest_of(tmp_path / "lake").parts)
    assert max(parts.values()) <= joining._MANY + 1
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")


def test_a_lake_stays_with_or_without_results(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "lake", logs)
    with pytest.raises(UsageProblem, match="with results"):
        written(tmp_path / "lake", logs, terms=TERMS._replace(results=False))


def test_a_folder_with_other_files_is_left_alone(logs: Path, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "letters.txt").write_text("dear")
    with pytest.raises(Exists):
        written(place, logs)
    assert files_of(place) - {"_unspool/lock"} == {"letters.txt"}


def test_a_second_writer_is_told_of_the_first(logs: Path, tmp_path: Path) -> None:
    with FolderStorage(tmp_path / "lake").sole_writer(0), pytest.raises(AlreadyRunning):
        written(tmp_path / "lake", logs)
    assert written(tmp_path / "lake", logs).written == 3


def test_files_are_private_to_the_user(logs: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        written(tmp_path / "lake", logs)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "lake").rglob("*")} == {0}


@pytest.mark.parametrize("after", [0, 3, 20, 40])
def test_where_there_is_no_room_the_lake_is_as_it_was(after: int, logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "lake", logs)
    before, known = contents(tmp_path / "lake"), manifest_of(tmp_path / "lake")
    session("b", "one", "two", "three").write(logs)
    calls, real = [0], parquet._Digested.write

    def full(self: Any, data: Any) -> int:
        calls[0] += 1
        if calls[0] > after:
            raise OSError(28, "No space left on device")
        return real(self, data)

    with mock.patch.object(parquet._Digested, "write", full), pytest.raises(NoRoom):
        written(tmp_path / "lake", logs)
    assert manifest_of(tmp_path / "lake") == known
    assert contents(tmp_path / "lake") == before
    written(tmp_path / "lake", logs)
    assert verify_lake(FolderStorage(tmp_path / "lake"), manifest_of(tmp_path / "lake")).left == []
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")


def test_a_damaged_file_is_found(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "lake", logs)
    storage, known = FolderStorage(tmp_path / "lake"), manifest_of(tmp_path / "lake")
    assert verify_lake(storage, known).damaged == []
    (tmp_path / "lake" / known.parts[0].path).write_bytes(b"PAR1")
    (tmp_path / "lake" / known.parts[1].path).unlink()
    shutil.copy(tmp_path / "lake" / known.parts[2].path, tmp_path / "lake" / "usage" / "agent=x.parquet")
    assert len(verify_lake(storage, known).damaged) == 2


def test_a_log_that_grows_while_it_is_read_is_read_again(logs: Path, tmp_path: Path) -> None:
    path, real = logs / session("b").path, read_counted

    def growing(found: Any, *more: Any) -> Any:
        done = real(found, *more)
        if found.path == str(path):
            grow(path, b'{"type": "custom-title", "customTitle": "later"}\n')
        return done

    with mock.patch("unspool.lake.group.read_counted", growing):
        written(tmp_path / "lake", logs)
    assert written(tmp_path / "lake", logs).written == 1
    assert written(tmp_path / "lake", logs).written == 0


def test_sessions_beside_a_changed_one_keep_what_they_share_with_others_elsewhere(tmp_path: Path) -> None:
    """A session in the folder of a changed one began as a copy of one in another folder."""
    logs = tmp_path / "logs"
    first = LogBuilder(seed="a", version="2.1.230", cwd="/home/dev/elsewhere").prompt("one")
    first.assistant(first.text("1")).write(logs)
    copy = first.copied(FORK).wait(60)
    copy.cwd = "/home/dev/here"
    copy.prompt("two")
    copy.assistant(copy.text("2")).write(logs)
    beside = LogBuilder(seed="b", cwd="/home/dev/here").prompt("three")
    beside.assistant(beside.text("3")).write(logs)
    written(tmp_path / "lake", logs)
    beside.prompt("four")
    beside.assistant(beside.text("4")).write(logs)
    report = written(tmp_path / "lake", logs)
    assert (report.written, report.again) == (1, 0)
    written(tmp_path / "anew", logs)
    assert contents(tmp_path / "lake") == contents(tmp_path / "anew")


def test_tables_of_another_version_are_written_anew_and_stay_until_then(logs: Path, tmp_path: Path) -> None:
    written(tmp_path / "lake", logs)
    before = manifest_of(tmp_path / "lake")
    newer = {**manifest.TABLE_VERSIONS, "usage": 2}
    with mock.patch.object(write, "TABLE_VERSIONS", newer), mock.patch.object(query, "TABLE_VERSIONS", newer):
        with pytest.raises(Unreadable, match="another version"):
            asked(tmp_path / "lake", "SELECT 1")
        with mock.patch.object(write, "save_manifest", side_effect=OSError("no")), pytest.raises(OSError, match="no"):
            written(tmp_path / "lake", logs)
        assert verify_lake(FolderStorage(tmp_path / "lake"), before).damaged == []
        assert written(tmp_path / "lake", logs).written == 3
        assert asked(tmp_path / "lake", "SELECT count(*) FROM sessions") == [(3,)]


def test_what_another_version_remembered_is_no_obstacle(logs: Path, tmp_path: Path) -> None:
    """Sessions that are there are read again; those that are gone keep their rows."""
    written(tmp_path / "lake", logs)
    (logs / session("b").path).unlink()
    session("a", "one", "two", "three").write(logs)
    with mock.patch.object(RememberedSessions, "memo", side_effect=lambda *_: None):
        written(tmp_path / "lake", logs)
    assert asked(tmp_path / "lake", "SELECT count(DISTINCT session) FROM usage") == [(3,)]
    with mock.patch.object(group, "_VERSION", 2):
        assert written(tmp_path / "lake", logs).written == 2
    assert asked(tmp_path / "lake", "SELECT count(*) FROM sessions") == [(3,)]


@pytest.mark.parametrize("seed", range(tries(2, 30)))
def test_after_any_changes_a_lake_is_as_one_written_anew(seed: int, tmp_path: Path) -> None:
    """Sessions begin, go on, are copied into other folders and vanish, some of it between two writes."""
    random, logs, living = Random(seed), tmp_path / "logs", list[LogBuilder]()
    (logs / "projects").mkdir(parents=True)
    for step in range(14):
        choice = random.random()
        if choice < 0.35 or not living:
            living.append(LogBuilder(seed=f"{seed} {step}", version="2.1.230", cwd=f"/home/dev/{random.choice('xyz')}"))
        elif choice < 0.6:
            parent = random.choice(living)
            copy = parent.copied(f"bbbbbbbb-0000-4000-8000-{step:012d}", fork=random.random() < 0.5).wait(60)
            copy.cwd = f"/home/dev/{random.choice('xyz')}"
            living.append(copy)
        elif choice < 0.7:
            gone = living.pop(random.randrange(len(living)))
            (logs / gone.path).unlink(missing_ok=True)
            continue
        log = random.choice(living[-3:])
        log.prompt(f"step {step}").ran("ls", f"files of {step}")
        log.assistant(log.text(f"done {step}")).write(logs)
        if random.random() < 0.6:
            written(tmp_path / "lake", logs, prune=True)
    written(tmp_path / "lake", logs, prune=True)
    written(tmp_path / "anew", logs)
    tables = [table.name for table in TABLES]
    assert contents(tmp_path / "lake", tables) == contents(tmp_path / "anew", tables)


def test_a_plan_that_a_later_session_carries_out_is_approved_once_that_is_there(tmp_path: Path) -> None:
    plan = "# Lamp\n\nOil it every week."
    planning = LogBuilder(seed="plan", version="2.1.30").prompt("think").plan(plan, "cleared")
    planning.write(tmp_path / "logs")
    written(tmp_path / "lake", tmp_path / "logs")
    status = "SELECT session, status, settled_by FROM plans ORDER BY line, session"
    assert asked(tmp_path / "lake", status) == [(planning.session_id, "rejected", None)]
    doing = LogBuilder(seed="doing", version="2.1.30").wait(60).implement(plan, planning)
    doing.assistant(doing.text("Done.")).write(tmp_path / "logs")
    report = written(tmp_path / "lake", tmp_path / "logs")
    assert (report.written, report.again) == (1, 1)
    assert (planning.session_id, "approved", doing.session_id) in asked(tmp_path / "lake", status)
    linked = asked(tmp_path / "lake", "SELECT session, continues FROM sessions WHERE continues IS NOT NULL")
    assert linked == [(doing.session_id, planning.session_id)]
    written(tmp_path / "anew", tmp_path / "logs")
    assert contents(tmp_path / "lake", ["plans", "sessions"]) == contents(tmp_path / "anew", ["plans", "sessions"])
