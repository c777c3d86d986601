"""What happens to files at their source, and what the archive makes of it."""

import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.archive.making import HERE, clean, held, keep, kept, lines, origin, text, write
from tests.thorough import tries
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper
from unspool.store.archive.line_filter import CUT
from unspool.store.archive.packs import PACK


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def generations(folder: Path, name: str) -> list[bytes]:
    return [data for (_, path, _), data in sorted(held(folder).items()) if path == name]


def test_a_file_comes_back_as_it_was(root: Path, folder: Path) -> None:
    """Every byte of a file that was kept can be read again, as a whole, from anywhere, by the line."""
    data = text(1, 100_000)
    write(root, "a/b.jsonl", data)
    assert kept(folder, root) == {"a/b.jsonl": "new"}
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        one = archive.kept(1)["a/b.jsonl"]
        assert archive.read(one.generation) == data == b"".join(archive.stream(one.generation))
        assert archive.read(one.generation, 777, 1234) == data[777 : 777 + 1234]
        assert archive.read(one.generation, 99_990, 50) == data[99_990:]
        assert archive.read(one.generation, 200_000, 50) == b""
        start = data.index(b"\n", 5000) + 1
        assert archive.line(one.generation, start) == data[start : data.index(b"\n", start)]
    clean(folder)


def test_a_file_that_grew_is_the_same_generation(root: Path, folder: Path) -> None:
    """Growth costs only what was added."""
    first, more = text(1, 50_000), text(2, 700)
    write(root, "a", first)
    kept(folder, root)
    write(root, "a", first + more)
    with ArchiveDatabase.open(folder) as archive:
        assert keep(archive, root) == {"a": "grown"}
        assert [piece.size for piece in archive.pieces(1)] == [50_000, 700]
    assert generations(folder, "a") == [first + more]
    clean(folder)


def test_a_rewritten_file_begins_a_generation(root: Path, folder: Path) -> None:
    """Rewritten, shrunk, of the same size, and emptied: what was there before stays."""
    shapes = [text(1, 5000), text(2, 9000), text(3, 4000), text(4, 4000), b"", text(5, 10)]
    outcomes = []
    for data in shapes:
        write(root, "a", data)
        outcomes.append(kept(folder, root)["a"])
    assert outcomes == ["new", "rewritten", "rewritten", "rewritten", "rewritten", "grown"]
    assert generations(folder, "a") == [*shapes[:4], shapes[5]]
    clean(folder)


def test_a_file_that_vanished_stays_and_may_come_back(root: Path, folder: Path) -> None:
    """Gone is noted once; a file that is there again is not gone."""
    data = text(1, 3000)
    path = write(root, "a", data)
    kept(folder, root)
    path.unlink()
    kept(folder, root)
    with ArchiveDatabase.open(folder) as archive:
        first = archive.kept(1)["a"].gone
        assert first is not None
    kept(folder, root)
    with ArchiveDatabase.open(folder) as archive:
        assert archive.kept(1)["a"].gone == first
    write(root, "a", data)
    assert kept(folder, root) == {"a": "same"}
    with ArchiveDatabase.open(folder) as archive:
        assert archive.kept(1)["a"].gone is None
    assert generations(folder, "a") == [data]
    clean(folder)


def test_an_unchanged_file_is_not_opened(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal figures of the file system are enough, once the file is older than the clock is coarse."""
    write(root, "a", text(1, 3000))
    time.sleep(0.05)
    kept(folder, root)

    def opened(*_: object, **__: object) -> None:
        raise AssertionError("it was opened")

    monkeypatch.setattr(Path, "open", opened)
    assert kept(folder, root) == {"a": "same"}


TICK = 20_000_000
"""Nanoseconds that the clock of a file system may stand still."""


@pytest.mark.parametrize(
    ("passed", "outcome"), [(0, "rewritten"), (TICK, "rewritten"), (-TICK, "rewritten"), (TICK + 1, "same")]
)
def test_a_file_that_was_kept_within_a_tick_of_its_change_is_looked_at_again(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, passed: int, outcome: str
) -> None:
    """Its figures may stay as they are though its content does not; a tick later they tell."""
    path = write(root, "a", b"one content")
    status = FileStatus(len(b"one content"), 1_700_000_000_000_000_000, 1_700_000_000_000_000_000, 7)
    monkeypatch.setattr(time, "time_ns", lambda: status.changed + passed)
    with ArchiveDatabase.open(folder) as archive:
        number = archive.origin(origin(root))
        with Keeper(archive) as keeper:
            keeper.keep(number, "a", path, status, None)
        path.write_bytes(b"two content")
        with Keeper(archive) as keeper:
            assert keeper.keep(number, "a", path, status, archive.kept(number)["a"]) == outcome
    both = [b"one content", b"two content"]
    assert generations(folder, "a") == (both if outcome == "rewritten" else both[:1])


def test_a_file_that_changes_while_it_is_read(root: Path, folder: Path) -> None:
    """Longer than it was said to be, the rest comes next time; shorter, what there is is kept."""
    data = text(1, 9000)
    path = write(root, "a", data)
    status = FileStatus.of(path.stat())
    with ArchiveDatabase.open(folder) as archive:
        number = archive.origin(origin(root))
        with Keeper(archive) as keeper:
            assert keeper.keep(number, "a", path, status._replace(size=4000), None) == "new"
        assert archive.read(1) == data[:4000]
        with Keeper(archive) as keeper:
            path.write_bytes(data[:6000])
            assert keeper.keep(number, "a", path, status, archive.kept(number)["a"]) == "grown"
        assert archive.read(1) == data[:6000]
        path.write_bytes(data)
        assert keep(archive, root) == {"a": "grown"}
        assert archive.read(1) == data
    clean(folder)


def test_names_that_are_no_text(root: Path, folder: Path) -> None:
    """A name that does not decode is kept, and found again."""
    if sys.platform != "linux":
        pytest.skip("only Linux has such names")
    names = ["plain", os.fsdecode(b"bad-\xff\xfe"), "übel", "new\nline"]
    for number, name in enumerate(names):
        write(root, name, text(number, 500))
    assert kept(folder, root) == dict.fromkeys(names, "new")
    time.sleep(0.05)
    kept(folder, root)
    assert kept(folder, root) == dict.fromkeys(names, "same")
    assert {name for _, name, _ in held(folder)} == set(names)
    clean(folder)


def test_a_file_larger_than_packs(root: Path, folder: Path) -> None:
    """It is in several packs, and grows across their ends."""
    data = text(1, 2 * PACK + 12_345)
    write(root, "a", data[: PACK + 99])
    kept(folder, root)
    write(root, "a", data)
    assert kept(folder, root) == {"a": "grown"}
    with ArchiveDatabase.open(folder) as archive:
        assert len({piece.pack for piece in archive.pieces(1)}) >= 3
        assert archive.read(1) == data
        assert archive.read(1, PACK - 10, 20) == data[PACK - 10 : PACK + 10]
        assert archive.db.execute("SELECT max(size) FROM pack").get <= PACK
    clean(folder)


def test_equal_content_is_stored_once(root: Path, folder: Path) -> None:
    """Wherever packs end, in one run or two: a copy of a file costs next to nothing."""
    data = text(1, 3 * CUT + 5)
    write(root, "a", data)
    write(root, "b", text(2, PACK - CUT))
    write(root, "c", data)
    kept(folder, root)
    size = (folder / "archive.db").stat().st_size
    write(root, "d", data)
    kept(folder, root)
    with ArchiveDatabase.open(folder) as archive:
        assert archive.db.execute("SELECT sum(size) FROM pack").get == len(data) + PACK - CUT
    assert (folder / "archive.db").stat().st_size - size < 20_000
    assert held(folder)[HERE, "d", 1] == data
    clean(folder)


def test_a_near_copy_is_compressed_against_the_first(root: Path, folder: Path) -> None:
    """Lines that were copied and changed a little cost little: their pack has the first one's as its base."""
    first = lines(1, 3000)
    write(root, "a", first)
    kept(folder, root)
    size = (folder / "archive.db").stat().st_size
    write(root, "b", first.replace(b'"text"', b'"words"'))
    kept(folder, root)
    with ArchiveDatabase.open(folder) as archive:
        assert archive.db.execute("SELECT count(*) FROM pack WHERE base IS NOT NULL").get == 1
    assert (folder / "archive.db").stat().st_size - size < size / 3
    assert held(folder)[HERE, "b", 1] == first.replace(b'"text"', b'"words"')
    clean(folder)


def test_two_keepers_do_not_keep_a_file_twice(root: Path, folder: Path) -> None:
    """What the caller knew may be old: another process may have kept the file since."""
    path = write(root, "a", text(1, 5000))
    with ArchiveDatabase.open(folder) as one, ArchiveDatabase.open(folder) as other:
        number, stale = one.origin(origin(root)), one.kept(1)
        assert keep(other, root) == {"a": "new"}
        with Keeper(one) as keeper:
            assert keeper.keep(number, "a", path, FileStatus.of(path.stat()), stale.get("a")) == "same"
    assert generations(folder, "a") == [text(1, 5000)]
    clean(folder)


class _Broken:
    """A file that fails halfway."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, *_: object, **__: object) -> "_Broken":
        self._stream, self._left = self._path.open("rb", buffering=0), 3
        return self

    def __enter__(self) -> "_Broken":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def seek(self, place: int) -> None:
        self._stream.seek(place)

    def read(self, size: int) -> bytes:
        self._left -= 1
        if not self._left:
            raise OSError(5, "Input/output error")
        return self._stream.read(size)


def test_a_file_that_fails_halfway_harms_nothing(root: Path, folder: Path) -> None:
    """What was read of it is kept, the files around it are whole, and the next run takes the rest."""
    data = text(1, 4 * CUT)
    path = write(root, "a", data)
    write(root, "b", text(2, 100))
    with ArchiveDatabase.open(folder) as archive:
        number = archive.origin(origin(root))
        with Keeper(archive) as keeper:
            with pytest.raises(OSError, match="Input/output"):
                keeper.keep(number, "a", _Broken(path), FileStatus.of(path.stat()), None)  # type: ignore[arg-type]
            keeper.keep(number, "b", root / "b", FileStatus.of((root / "b").stat()), None)
        assert archive.read(archive.kept(number)["a"].generation) == data[: 2 * CUT]
    clean(folder)
    assert kept(folder, root)["a"] == "grown"
    assert generations(folder, "a") == [data]
    clean(folder)


def test_what_failed_is_taken_back(root: Path, folder: Path) -> None:
    """An error of the caller within a run leaves the archive as it was at the last commit."""
    write(root, "a", text(1, 5000))
    kept(folder, root)
    write(root, "b", text(2, 5000))
    with ArchiveDatabase.open(folder) as archive:
        with pytest.raises(KeyError), Keeper(archive) as keeper:
            dict[str, str]()[keeper.keep(1, "b", root / "b", FileStatus.of((root / "b").stat()), None)]
        assert set(archive.kept(1)) == {"a"}
        assert keep(archive, root)["b"] == "new"
    clean(folder)


@settings(max_examples=tries(25, 200))
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["grow", "cut", "new", "empty", "drop"])), max_size=12)
)
def test_any_history_is_kept(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, str]]) -> None:
    """Whatever is done to files between runs, each content that was met is in the archive, and it is clean."""
    place = tmp_path_factory.mktemp("history")
    root, folder = place / "source", place / "archive"
    root.mkdir()
    met: set[tuple[str, bytes]] = set()
    for number, (name, act) in enumerate(history):
        path = root / name
        before = path.read_bytes() if path.exists() else b""
        match act:
            case "grow":
                path.write_bytes(before + text(number, 50))
            case "cut":
                path.write_bytes(before[: len(before) // 2])
            case "new":
                path.write_bytes(text(number, 80))
            case "empty":
                path.write_bytes(b"")
            case "drop":
                path.unlink(missing_ok=True)
        kept(folder, root)
        met |= {(path.name, path.read_bytes()) for path in root.iterdir()}
    if history:
        contents = [(name, data) for (_, name, _), data in held(folder).items()]
        for name, data in met:
            assert any(own == name and whole.startswith(data) for own, whole in contents)
        clean(folder)
