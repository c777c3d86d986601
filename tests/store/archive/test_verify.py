"""Every byte is proved: a change anywhere is found, named, and mended where the bytes are still to be had."""

import random
import zlib
from pathlib import Path

import pytest
import zstandard

from tests.store.archive.making import HERE, clean, held, kept, lines, text, write
from tests.thorough import some
from unspool.errors import NotFound, Unreadable, UnspoolError
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.packs import PACK
from unspool.store.archive.page_checksums import PAGE, mend_page, page_fits
from unspool.store.archive.repair import repair_archive
from unspool.store.archive.verify import verify_archive

FLIPS = 300


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A source with a bit of everything: large, small, empty, alike, of several generations."""
    root = tmp_path / "source"
    first = lines(7, 2500)
    write(root, "projects/a/one.jsonl", first)
    write(root, "projects/a/two.jsonl", text(2, 60_000))
    write(root, "projects/b/empty", b"")
    write(root, "projects/b/three.jsonl", text(3, 30_000))
    return root


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """Its archive, with free pages in it."""
    folder = tmp_path / "archive"
    return filled(root, folder, None)


def filled(root: Path, folder: Path, key: str | None) -> Path:
    kept(folder, root, key=key)
    write(root, "projects/a/copy.jsonl", lines(7, 2500).replace(b'"text"', b'"words"'))
    write(root, "projects/b/three.jsonl", text(4, 20_000))
    kept(folder, root, key=key)
    write(root, "projects/b/four.jsonl", text(5, 20_000))
    kept(folder, root, key=key)
    with ArchiveDatabase.open(folder, key=key) as archive:
        archive.db.execute("CREATE TABLE more(x)")
        archive.db.execute("INSERT INTO more VALUES(zeroblob(100000))")
        archive.db.execute("DROP TABLE more")
        assert archive.db.pragma("freelist_count") > 5
        assert archive.db.execute("SELECT count(*) FROM pack WHERE base IS NOT NULL").get > 0
    return folder


def flipped(path: Path, place: int, change: int = 1) -> None:
    with path.open("r+b") as stream:
        stream.seek(place)
        old = stream.read(1)[0]
        stream.seek(place)
        stream.write(bytes([old ^ change]))


def spoiled(path: Path, place: int, count: int, seed: int = 5) -> None:
    """Damage of many bytes, as a bad block is."""
    with path.open("r+b") as stream:
        stream.seek(place)
        stream.write(random.Random(seed).randbytes(count))


def places(size: int) -> list[int]:
    """Where to flip: all of the header, the reserved bytes of pages, and anywhere."""
    chosen = random.Random(11)
    ends = [page * PAGE + PAGE - 1 - back for page in (0, 1, size // PAGE - 1) for back in range(10)]
    return [*range(112), *ends, *(chosen.randrange(size) for _ in range(FLIPS))]


def test_a_whole_archive_is_clean(folder: Path, root: Path) -> None:
    """What was proved is counted."""
    proof = clean(folder)
    assert (proof.files, proof.generations) == (6, 7)
    assert proof.bytes == sum(len(data) for data in held(folder).values())
    assert proof.pages * PAGE == (folder / "archive.db").stat().st_size


def test_a_flip_anywhere_is_found(folder: Path) -> None:
    """In the header, in free space, in reserved bytes, in content: no changed byte goes unseen, and each is mended."""
    path = folder / "archive.db"
    whole = path.read_bytes()
    for number, place in enumerate(some(places(len(whole)), 4)):
        flipped(path, place, random.Random(place).randrange(1, 256))
        proof = verify_archive(folder)
        assert not proof.clean, place
        assert place // PAGE + 1 in proof.damaged_pages, place
        if number % 6 == 0:
            assert repair_archive(folder, proof).proof.clean, place
            assert path.read_bytes() == whole, place
        path.write_bytes(whole)


def test_a_flip_anywhere_in_an_encrypted_archive_is_found(root: Path, tmp_path: Path) -> None:
    """The cipher authenticates every page."""
    folder = filled(root, tmp_path / "secret", "open sesame")
    clean(folder, "open sesame")
    path = folder / "archive.db"
    whole = path.read_bytes()
    for place in some([*range(0, 112, 8), *places(len(whole))[112 : 112 + 30]], 3):
        flipped(path, place)
        assert not verify_archive(folder, key="open sesame").clean, place
        path.write_bytes(whole)


def test_a_torn_file_is_found(folder: Path) -> None:
    """Cut short or made longer by a few bytes or a page."""
    path = folder / "archive.db"
    whole = path.read_bytes()
    for data in (whole[:-1], whole[:-PAGE], whole + b"x", whole + whole[-PAGE:]):
        path.write_bytes(data)
        assert not verify_archive(folder).clean


def test_any_single_byte_of_a_page_is_put_right() -> None:
    """A page of which one byte changed is known from its sum; with more changed, nothing is guessed."""
    chosen = random.Random(3)
    for number in range(60):
        body = chosen.randbytes(PAGE - 4)
        page = body + zlib.crc32(body).to_bytes(4)
        assert page_fits(page, 2)
        bad = bytearray(page)
        bad[chosen.randrange(PAGE) if number % 4 else PAGE - 1 - chosen.randrange(6)] ^= chosen.randrange(1, 256)
        assert mend_page(bytes(bad), 2) == page
        bad[chosen.randrange(PAGE - 4)] ^= 0x55
        bad[chosen.randrange(PAGE - 4)] ^= 0x33
        assert mend_page(bytes(bad), 2) in (None, page)


def test_damage_is_named_and_mended_from_the_source(folder: Path, root: Path) -> None:
    """A bad block in a pack: the segments are named, and where the source has them, they are restored."""
    before = held(folder)
    spoil_pack(folder, 1)
    proof = verify_archive(folder)
    assert {damage.path for damage in proof.damages} >= {"projects/a/one.jsonl"}
    assert all(damage.machine == HERE and damage.size > 0 for damage in proof.damages)
    done = repair_archive(folder, proof)
    three = [damage for damage in done.proof.damages if damage.path != "projects/b/three.jsonl"]
    assert three == [], "everything but the generation that the source no longer has"
    after = readable(folder)
    assert {name: data for name, data in before.items() if name in after} == after
    assert set(before) - set(after) <= {(HERE, "projects/b/three.jsonl", 1)}


def test_what_is_lost_is_named_and_the_rest_is_readable(folder: Path, root: Path) -> None:
    """Without the source, the files of other packs, and what stands before the damage, still come out."""
    before = held(folder)
    for path in root.rglob("*.jsonl"):
        path.unlink()
    spoil_pack(folder, 1)
    intact = readable(folder)
    assert {name: before[name] for name in intact} == intact
    assert (HERE, "projects/b/four.jsonl", 1) in intact
    done = repair_archive(folder, verify_archive(folder))
    assert not done.proof.clean
    assert not done.proof.damaged_pages
    assert done.proof.damages
    after = readable(folder)
    assert set(after) >= set(intact)
    assert {name: before[name] for name in after} == after
    assert verify_archive(folder).damages == done.proof.damages


def spoil_pack(folder: Path, pack: int) -> None:
    """Overwrite a good part of the middle of a pack in the file."""
    path = folder / "archive.db"
    with ArchiveDatabase.open(folder) as archive:
        data = archive.db.execute("SELECT data FROM pack WHERE id = ?", (pack,)).get
    whole = path.read_bytes()
    sample = data[len(data) // 2 : len(data) // 2 + 48]
    place = whole.find(sample)
    while place < 0:  # it lay across the end of a page
        sample = sample[1:25]
        place = whole.find(sample)
    spoiled(path, place, 300)


def readable(folder: Path) -> dict[tuple[str, str, int], bytes]:
    """What can still be read of an archive."""
    found = {}
    with ArchiveDatabase.open(folder) as archive:
        for name, last in archive.kept(1).items():
            for one in archive.generations(last.file):
                try:
                    found[HERE, name, one.number] = archive.read(one.generation)
                except UnspoolError:
                    continue
    return found


@pytest.mark.parametrize("page", range(2, 16))
def test_a_destroyed_page_costs_no_more_than_it_must(folder: Path, root: Path, page: int) -> None:
    """Whichever page is overwritten, what is left can be put together, and a sync brings the rest back."""
    spoiled(folder / "archive.db", (page - 1) * PAGE + 8, PAGE - 16, seed=page)
    proof = verify_archive(folder)
    assert not proof.clean
    before = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    repair_archive(folder, proof)
    kept(folder, root)
    now = {name: data for (_, name, _), data in sorted(readable(folder).items())}
    assert {name: now.get(name) for name in before} == before


@pytest.mark.parametrize("compacted", [False, True])
def test_a_destroyed_first_page_costs_nothing(folder: Path, compacted: bool) -> None:
    """All archives have the same tables: a new first page makes everything readable again."""
    if compacted:
        with ArchiveDatabase.open(folder) as archive:
            archive.compact()
    before = held(folder)
    spoiled(folder / "archive.db", 0, PAGE)
    proof = verify_archive(folder)
    assert proof.refused
    done = repair_archive(folder, proof)
    assert done.proof.clean
    assert Path(done.broken).exists()
    assert held(folder) == before


def test_nothing_is_invented_to_be_clean(folder: Path) -> None:
    """Rows that contradict each other are found, though every page is as it was written."""
    harms = {
        "UPDATE generation SET size = size + 1 WHERE id = 1": "pieces do not add up",
        "UPDATE generation SET chain = zeroblob(32) WHERE id = 2": "chain",
        "UPDATE piece SET digest = zeroblob(32) WHERE generation = 2": "",
        "DELETE FROM piece WHERE generation = 2": "",
        "DELETE FROM pack WHERE id = 2": "pack is missing",
        "DELETE FROM generation WHERE file = 1": "without a generation",
        "UPDATE pack SET size = 5 WHERE id = 2": "unpacked",
        "UPDATE piece SET place = place + 1 WHERE generation = 2": "",
        "UPDATE file SET path = 'elsewhere' WHERE id = 1": "chain",
        "INSERT INTO pack VALUES(99, 3, NULL, x'00')": "without pieces",
    }
    whole = (folder / "archive.db").read_bytes()
    for harm, told in harms.items():
        with ArchiveDatabase.open(folder) as archive:
            archive.db.execute(harm)
        proof = verify_archive(folder)
        assert not proof.damaged_pages
        assert not proof.clean, harm
        said = " ".join([*proof.problems, *(damage.why for damage in proof.damages)])
        assert told in said, (harm, said)
        (folder / "archive.db").write_bytes(whole)


def test_there_must_be_an_archive(tmp_path: Path) -> None:
    """Without one, verify says so."""
    with pytest.raises(NotFound):
        verify_archive(tmp_path)


def test_reading_damage_is_an_error_not_wrong_bytes(folder: Path) -> None:
    """A pack that is not what was packed does not come out as something else."""
    with ArchiveDatabase.open(folder) as archive:
        data = bytearray(archive.db.execute("SELECT data FROM pack WHERE id = 1").get)
        data[len(data) // 2] ^= 4
        archive.db.execute("UPDATE pack SET data = ? WHERE id = 1", (bytes(data),))
    with ArchiveDatabase.open(folder) as archive, pytest.raises(Unreadable, match="verify"):
        archive.read(1)


def test_a_bomb_is_not_unpacked(folder: Path) -> None:
    """A pack that claims to be larger than any is refused before memory is given to it."""
    bomb = zstandard.ZstdCompressor().compress(bytes(PACK * 4))
    with ArchiveDatabase.open(folder) as archive:
        archive.db.execute("UPDATE pack SET data = ?, size = ? WHERE id = 1", (bomb, PACK * 4))
    with ArchiveDatabase.open(folder) as archive, pytest.raises(Unreadable):
        archive.read(1)


def test_the_page_that_sqlite_locks_on_is_empty() -> None:
    """In a file of more than a gigabyte one page is never written: it has no sum, and must be all zeros."""
    number = 0x40000000 // PAGE + 1
    assert page_fits(bytes(PAGE), number)
    assert not page_fits(bytes(100) + b"x" + bytes(PAGE - 101), number)
    assert mend_page(bytes(100) + b"x" + bytes(PAGE - 101), number) == bytes(PAGE)
    assert not page_fits(bytes(PAGE), number + 1)
