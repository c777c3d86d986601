"""Archives of earlier versions open, verify, and go on."""

from pathlib import Path

from tests.store.archive.making import clean, held, kept, text, write
from tests.store.archive.version1 import BURIED, FIXTURE, GONE, HELD, LAPTOP, build, unpacked
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.database import MIGRATIONS, VERSION


def test_version_1_is_whole(tmp_path: Path) -> None:
    """Every byte of every generation, gone files, tombstones, names that are no text; and not a byte was changed."""
    folder = unpacked(tmp_path)
    whole = (folder / "archive.db").read_bytes()
    with ArchiveDatabase.open(folder, readonly=True) as archive:
        numbers = {origin: number for number, origin in archive.origins().items()}
        assert archive.kept(numbers[LAPTOP])[GONE].gone is not None
        assert archive.graves().hold(BURIED)
        assert archive.db.execute("SELECT count(*) FROM pack WHERE base IS NOT NULL").get == 1
    assert (folder / "archive.db").read_bytes() == whole
    assert held(folder) == HELD
    clean(folder)


def test_version_1_goes_on(tmp_path: Path) -> None:
    """More can be kept in it."""
    folder, root = unpacked(tmp_path / "archive"), tmp_path / "source"
    write(root, "projects/c/new.jsonl", text(8, 5000))
    kept(folder, root)
    assert len(held(folder)) == len(HELD) + 1
    clean(folder)


def test_the_builder_still_builds_it(tmp_path: Path) -> None:
    """What the fixture holds is what its builder would keep today."""
    build(tmp_path)
    assert held(tmp_path) == HELD
    clean(tmp_path)


def test_there_is_a_way_from_every_version() -> None:
    """A fixture and a migration for each version before this one."""
    assert FIXTURE.stat().st_size < 40_000
    assert set(MIGRATIONS) == set(range(1, VERSION))
