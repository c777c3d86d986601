"""A file without some of its lines is read, compared and kept like any other."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.archive.making import clean, origin
from unspool.store.archive import ArchiveDatabase, FileStatus, Keeper
from unspool.store.archive.line_filter import CUT, FilteredFile, cut_pieces, split_lines

LINES = st.lists(st.sampled_from([b"keep one\n", b"drop\n", b"\n", b"keep two, and more of it\n"]), max_size=30)


def drops(line: bytes) -> bool:
    return line.startswith(b"drop") or not line.endswith(b"\n")


def left(data: bytes) -> bytes:
    return b"".join(line for line in split_lines([data]) if not drops(line))


@given(LINES, st.lists(st.integers(1, 9), max_size=40))
def test_lines_are_whole_however_their_bytes_come(lines: list[bytes], sizes: list[int]) -> None:
    data, chunks = b"".join(lines), []
    for size in sizes:
        chunks.append(data[:size])
        data = data[size:]
    assert list(split_lines([*chunks, data])) == lines


@given(LINES, st.integers(0, 300), st.integers(0, 300), st.integers(1, 50))
def test_any_part_can_be_read(lines: list[bytes], upto: int, place: int, size: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "list")
        path.write_bytes(b"".join(lines))
        expected = left(b"".join(lines)[:upto])
        sieved = FilteredFile(path, upto, drops)
        assert sieved.size == len(expected)
        with sieved as stream:
            stream.seek(place)
            assert stream.read(size) == expected[place : place + size]
            stream.seek(0)
            assert stream.read(len(expected) + 1) == expected


def test_pieces_are_cut_where_files_are_cut() -> None:
    assert [len(piece) for piece in cut_pieces([b"x" * (CUT - 1), b"yy", b"z" * CUT])] == [CUT, CUT, 1]


@given(LINES.filter(bool), st.lists(st.integers(0, 400), min_size=1, max_size=5))
def test_a_growing_file_stays_one_generation_without_its_dropped_lines(lines: list[bytes], sizes: list[int]) -> None:
    """Whatever moment of a line it is looked at: what is not whole yet waits."""
    data = b"".join(lines)
    with TemporaryDirectory() as scratch, ArchiveDatabase.open(Path(scratch, "archive")) as archive:
        path = Path(scratch, "list")
        number = archive.origin(origin(Path(scratch)))
        for size in [*sorted(sizes), len(data)]:
            path.write_bytes(data[:size])
            sieved = FilteredFile(path, size, drops)
            status = FileStatus.of(path.stat())._replace(size=sieved.size)
            with Keeper(archive) as keeper:
                keeper.keep(number, "list", sieved, status, None)
        kept = archive.last(number, "list")
        assert kept is not None
        assert (kept.number, archive.read(kept.generation)) == (1, left(data))


def test_it_cannot_be_read_where_it_is_not(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        assert FilteredFile(tmp_path / "nothing", 10, drops).size


def test_what_is_kept_of_it_is_proved_like_anything(tmp_path: Path) -> None:
    path, folder = tmp_path / "list", tmp_path / "archive"
    path.write_bytes(b"drop\nkeep one\n" * 200_000)
    sieved = FilteredFile(path, path.stat().st_size, drops)
    with ArchiveDatabase.open(folder) as archive, Keeper(archive) as keeper:
        number = archive.origin(origin(tmp_path))
        status = FileStatus.of(path.stat())._replace(size=sieved.size)
        assert keeper.keep(number, "list", sieved, status, None) == "new"
    clean(folder)
