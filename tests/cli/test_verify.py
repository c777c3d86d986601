"""`unspool verify` from the command line."""

from pathlib import Path

from tests.cli.archived import Synced, synced
from tests.cli.running import run

__all__ = ["synced"]


def test_a_clean_archive(synced: Synced) -> None:
    """Says what was proved, and ends well."""
    assert "Every byte is as it was: 19 files" in synced.run("verify").out
    told = synced.json("verify")
    assert told["clean"] is True
    assert told["found"]["files"] == 19


def test_damage_is_named_and_mended(synced: Synced) -> None:
    """Exit code 1 with the page and what it means; --repair puts it right, and the code is 0 again."""
    whole = (synced.folder / "archive.db").read_bytes()
    synced.flip(len(whole) - 4000)
    done = synced.run("verify", code=1)
    assert "is damaged" in done.out
    assert synced.json("verify", code=1)["found"]["damaged_pages"] == [len(whole) // 8192]
    done = synced.run("verify", "--repair")
    assert "1 page put right" in done.out
    assert (synced.folder / "archive.db").read_bytes() == whole
    synced.run("verify")


def test_a_lost_segment_is_named(synced: Synced) -> None:
    """With the source gone: which file, which generation, which bytes."""
    whole = bytearray((synced.folder / "archive.db").read_bytes())
    middle = len(whole) - 8192 * 3 + 100
    whole[middle : middle + 3000] = bytes(range(200)) * 15
    (synced.folder / "archive.db").write_bytes(whole)
    synced.source.rename(synced.source.with_name("away"))
    done = synced.run("verify", "--repair", code=1)
    assert "Lost, unless another archive that has it is merged" in done.out
    assert "generation 1, bytes 0 to" in done.out
    damages = synced.json("verify", code=1)["found"]["damages"]
    assert {"machine", "root", "path", "generation", "start", "size", "why"} == set(damages[0])


def test_no_archive_is_told(tmp_path: Path) -> None:
    """There is nothing to verify before the first sync."""
    done = run("verify", "--archive", str(tmp_path / "none"))
    assert done.code == 3
    assert "unspool sync" in done.err
