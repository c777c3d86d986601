"""Archives of several machines become one: nothing lost, nothing doubled, whose and where kept."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.archive.making import HERE, age, clean, held, kept, text, write
from tests.store.archive.test_forget import belongs
from tests.thorough import tries
from unspool.errors import Unreadable
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.forget import find_session_files, forget
from unspool.store.archive.merge import MergeReport, merge_archives
from unspool.store.archive.salvage import TABLES, Row, table_rows

THERE = "that machine"


def merged(folder: Path, other: Path) -> MergeReport:
    with ArchiveDatabase.open(folder) as archive, ArchiveDatabase.open(other, readonly=True) as there:
        return merge_archives(archive, there)


def stored(folder: Path) -> list[Row]:
    """Every row of an archive."""
    with ArchiveDatabase.open(folder) as archive:
        return [row for table in TABLES for row in table_rows(archive.db, table)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return tmp_path / "one"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return tmp_path / "two"


def test_files_of_other_machines_stay_theirs(root: Path, one: Path, two: Path) -> None:
    """The same path on two machines is two files."""
    write(root, "a/log", text(1, 5000))
    kept(one, root)
    write(root, "a/log", text(2, 5000))
    write(root, "b/log", text(3, 5000))
    kept(two, root, THERE)
    both = {**held(one), **held(two)}
    done = merged(one, two)
    assert (done.origins, done.files, done.generations, done.grown) == (1, 2, 0, 0)
    assert held(one) == both
    clean(one)


def test_merging_twice_changes_nothing(root: Path, one: Path, two: Path) -> None:
    """Not a byte of the file."""
    write(root, "a/log", text(1, 5000))
    kept(one, root)
    write(root, "a/log", text(2, 5000))
    kept(two, root)
    merged(one, two)
    whole = held(one)
    rows = stored(one)
    assert merged(one, two) == MergeReport()
    assert held(one) == whole
    assert stored(one) == rows
    assert merged(one, one) == MergeReport()


def test_the_longer_one_wins_as_growth(root: Path, one: Path, two: Path) -> None:
    """Whichever side it is on, and wherever pieces end."""
    data = text(1, 9000)
    for step in (1000, 4000, 9000):
        write(root, "a/log", data[:step])
        kept(two, root)
    write(root, "a/log", data[:2500])
    kept(one, root)
    done = merged(one, two)
    assert (done.grown, done.generations, done.files) == (1, 0, 0)
    assert held(one) == {(HERE, "a/log", 1): data}
    clean(one)
    assert merged(two, one) == MergeReport()


def test_different_histories_stay_side_by_side_in_order_of_time(root: Path, one: Path, two: Path) -> None:
    """Neither is lost; the newest is the last."""
    contents = [text(number, 1000 + number) for number in range(4)]
    for number, data in enumerate(contents):
        path = write(root, "a/log", data)
        age(path, 100 - number * 10)
        kept(one if number % 2 else two, root)
    done = merged(one, two)
    assert done.generations == 2
    assert [data for _, data in sorted(held(one).items())] == contents
    clean(one)


def test_tombstones_of_both_sides_hold(root: Path, one: Path, two: Path, tmp_path: Path) -> None:
    """What was forgotten here does not come from there; what was forgotten there is named where it is still here."""
    for name in ("a", "b", "c"):
        write(root, f"{name}/log", text(ord(name), 3000))
    kept(one, root)
    kept(two, root)
    for folder, name in ((one, "a"), (two, "b")):
        with ArchiveDatabase.open(folder) as archive:
            forget(archive, find_session_files(archive, name, belongs)[1])
    done = merged(one, two)
    assert (done.forgotten, done.forgotten_there, done.buried) == (1, ("b/log",), 0)
    assert {name for _, name, _ in held(one)} == {"b/log", "c/log"}
    fresh = tmp_path / "three"
    done = merged(fresh, one)
    assert (done.files, done.buried) == (2, 1)
    done = merged(fresh, two)
    assert (done.files, done.forgotten, done.forgotten_there) == (0, 1, ("b/log",))
    assert merged(fresh, one) == MergeReport(buried=0)
    with ArchiveDatabase.open(fresh) as archive:
        assert [archive.graves().hold(f"{name}/log") for name in "abc"] == [True, False, False]
    for folder in (one, two, fresh):
        clean(folder)


def test_damage_is_not_taken_over(root: Path, one: Path, two: Path) -> None:
    """A piece that is not what it was stops the merge, and nothing of it stays."""
    write(root, "a/log", text(1, 3000))
    kept(one, root)
    write(root, "b/log", text(2, 3000))
    write(root, "c/log", text(3, 3000))
    kept(two, root, THERE)
    before = held(one)
    with ArchiveDatabase.open(two) as archive:
        archive.db.execute("UPDATE piece SET place = place + 1 WHERE generation = 2")
    with pytest.raises(Unreadable, match="damaged"):
        merged(one, two)
    assert held(one) == before
    clean(one)


steps = st.lists(st.tuples(st.sampled_from("12"), st.sampled_from(["grow", "new", "cut"])), max_size=7)


@settings(max_examples=tries(25, 125))
@given(steps)
def test_any_two_histories_join(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, str]]) -> None:
    """Every content that either archive held is in the joined one, which is clean; a second merge brings nothing."""
    place = tmp_path_factory.mktemp("merge")
    root = place / "source"
    path = write(root, "s/log", text(0, 100))
    kept(place / "1", root)
    kept(place / "2", root)
    for number, (side, act) in enumerate(history, 1):
        before = path.read_bytes()
        data = before + text(number, 60) if act == "grow" else text(number, 90) if act == "new" else before[:50]
        path.write_bytes(data)
        kept(place / side, root)
    every = [*held(place / "1").values(), *held(place / "2").values()]
    merged(place / "1", place / "2")
    joined = list(held(place / "1").values())
    assert all(any(whole.startswith(data) for whole in joined) for data in every)
    assert all(data in every for data in joined)
    clean(place / "1")
    assert merged(place / "1", place / "2") == MergeReport()
