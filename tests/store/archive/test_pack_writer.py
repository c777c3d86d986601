"""Many small packs become few large ones, and nothing else changes."""

from pathlib import Path

from tests.store.archive.making import clean, held, keep, kept, lines, text, write
from unspool.store.archive import ArchiveDatabase
from unspool.store.archive.pack_writer import MANY, tidy_packs


def growing(folder: Path, root: Path, steps: int) -> None:
    """Keep two logs after every few lines, and copies of one."""
    with ArchiveDatabase.open(folder) as archive:
        for step in range(steps):
            for name in ("a", "b"):
                with (root / name).open("ab") as stream:
                    stream.write(lines(step if name == "a" else -step - 1, 4))
            if step % 10 == 0:
                write(root, f"copy-{step}", (root / "a").read_bytes())
            keep(archive, root)


def counts(folder: Path) -> tuple[int, int]:
    with ArchiveDatabase.open(folder) as archive:
        packs = archive.db.execute("SELECT count(*) FROM pack").get
        return packs, archive.db.execute("SELECT count(*) FROM piece").get


def test_small_packs_are_joined(tmp_path: Path) -> None:
    """Pieces that follow each other become one, chains are made anew, every byte stays."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    root.mkdir()
    growing(folder, root, MANY + 20)
    before, (packs, pieces) = held(folder), counts(folder)
    assert packs > MANY
    with ArchiveDatabase.open(folder) as archive:
        assert tidy_packs(archive) > MANY
        assert tidy_packs(archive) == 0
    after, fewer = held(folder), counts(folder)
    assert after == before
    assert fewer[0] < packs / 20
    assert fewer[1] < pieces / 5
    clean(folder)
    growing(folder, root, 3)
    clean(folder)
    assert held(folder)[next(name for name in before if name[1] == "b")] == (root / "b").read_bytes()


def test_few_small_packs_are_left_alone(tmp_path: Path) -> None:
    """There is nothing to win."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    root.mkdir()
    growing(folder, root, 5)
    whole = (folder / "archive.db").read_bytes()
    with ArchiveDatabase.open(folder) as archive:
        assert tidy_packs(archive) == 0
    assert (folder / "archive.db").read_bytes() == whole


def test_a_damaged_pack_is_not_made_to_look_whole(tmp_path: Path) -> None:
    """What does not fit its digest is left to verify."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    root.mkdir()
    for number in range(5):
        write(root, f"{number}", text(number, 500))
        kept(folder, root)
    with ArchiveDatabase.open(folder) as archive:
        archive.db.execute("UPDATE piece SET digest = zeroblob(32) WHERE generation = 2")
        assert tidy_packs(archive, 2) == 0
        assert archive.db.execute("SELECT count(*) FROM pack").get == 5


def test_a_reader_does_not_notice(tmp_path: Path) -> None:
    """Somebody who reads a file while packs are joined gets all of it."""
    root, folder = tmp_path / "source", tmp_path / "archive"
    root.mkdir()
    growing(folder, root, 30)
    with ArchiveDatabase.open(folder) as reader, ArchiveDatabase.open(folder) as writer:
        stream = reader.stream(reader.kept(1)["a"].generation)
        got = next(stream)
        assert tidy_packs(writer, 5) > 5
        got += b"".join(stream)
    assert got == (root / "a").read_bytes()
