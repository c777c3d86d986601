"""Lines that are made ready are the lines of the files, however they lie in packs."""

import random
from pathlib import Path

import pytest

from tests.store.archive.making import keep, lines, text, write
from unspool.errors import Unreadable
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.packs import Pack, PackCache, PickJob, WantedLine, compress, pick_lines


def starts(data: bytes) -> list[int]:
    """Where the lines of a file begin."""
    found = [0]
    while (end := data.find(b"\n", found[-1])) >= 0 and end + 1 < len(data):
        found.append(end + 1)
    return found


def line(data: bytes, place: int) -> bytes:
    return data[place:].split(b"\n", 1)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files over several packs: small ones, lines longer than a step and a piece, a copy against a base."""
    root = tmp_path / "source"
    for number in range(6):
        write(root, f"small-{number}", text(number, 900_000))
    long = b"x" * 700_000 + b"\n" + b"y" * 2_500_000 + b"\n" + text(50, 5_000_000)
    write(root, "long", long)
    first = lines(9, 9_000)
    write(root, "resumed", first)
    with ArchiveDatabase.open(tmp_path / "archive") as archive:
        keep(archive, root)
        write(root, "resumed-again", first.replace(b'"text"', b'"said"'))
        keep(archive, root)
        assert archive.db.execute("SELECT count(*) FROM pack WHERE base IS NOT NULL").get
    return tmp_path


def test_ready_lines_are_those_of_the_files(folder: Path) -> None:
    """Asked once, and again, when packs are opened; and where a place is not the beginning of a line."""
    chosen = random.Random(1)
    with ArchiveDatabase.open(folder / "archive", readonly=True) as archive:
        wanted = {}
        for path, kept in archive.kept(1).items():
            data = (folder / "source" / path).read_bytes()
            all_ = starts(data)
            for place in {0, all_[-1], all_[-1] + 2, *chosen.sample(all_, min(len(all_), 6))}:
                wanted[kept.generation, place] = line(data, place)
        for _ in range(3):
            archive.prepare(wanted)
            assert {one: archive.line(*one) for one in wanted} == wanted


def test_a_pack_that_is_asked_for_again_is_opened_while_there_is_room() -> None:
    """The first question takes lines only; later ones are left to the open pack, or take lines where it is full."""
    raw = b"first\nsecond\n"
    cache = PackCache(lambda number: Pack(number, len(raw), None, compress(raw)))
    wanted = {number: [WantedLine(6, len(raw))] for number in range(1, 4)}
    ready = {(number, 6): b"second" for number in wanted}
    assert cache.picked(wanted) == ready
    assert cache.picked(wanted) == {}
    assert cache.get_start(2, 10)[6:].startswith(b"seco")
    cache.room = 0
    assert cache.picked(wanted) == {one: line for one, line in ready.items() if one[0] != 2}


def test_a_damaged_pack_is_told_of_when_its_line_is_read(folder: Path) -> None:
    """Lines of other packs are ready all the same."""
    with ArchiveDatabase.open(folder / "archive") as archive:
        kept = archive.kept(1)
        broken, whole = kept["small-0"].generation, kept["long"].generation
        pack = archive.pieces(broken)[0].pack
        assert pack != archive.pieces(whole)[-1].pack
        archive.db.execute("UPDATE pack SET data = ? WHERE id = ?", (b"nothing", pack))
        place = starts((folder / "source" / "long").read_bytes())[-1]
        archive.prepare([(broken, 0), (whole, place)])
        assert archive.line(whole, place) == line((folder / "source" / "long").read_bytes(), place)
        with pytest.raises(Unreadable):
            archive.line(broken, 0)


def test_lines_that_begin_inside_each_other_are_both_picked() -> None:
    """Two values on one torn line are two places; a line that goes on elsewhere is not picked."""
    raw = b"first\nsecond half\nthird"
    pack = Pack(7, len(raw), None, compress(raw))
    wanted = [WantedLine(6, len(raw)), WantedLine(13, len(raw)), WantedLine(18, len(raw)), WantedLine(0, 3)]
    assert pick_lines([PickJob(pack, None, wanted)]) == {(7, 6): b"second half", (7, 13): b"half"}
