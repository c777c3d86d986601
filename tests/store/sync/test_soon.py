"""Of very many sessions the newest can be seen long before a first sync is done; afterwards all are as ever."""

import os
from pathlib import Path

import pytest

from tests.cli.running import talk
from tests.store.sync.sessions import rested
from unspool.errors import UnspoolError
from unspool.store.index.database import Index
from unspool.store.sync import stale, sync

NUMBER = 40


def key(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Sessions whose last is the newest, which comes last by its path too."""
    for number in range(NUMBER):
        talk("Waves " * 200, key(number), cwd=f"/home/dev/p{number:02}").write(tmp_path / "source")
        path = next((tmp_path / "source").rglob(f"{key(number)}.jsonl"))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    rested()
    return tmp_path / "source"


def keys(folder: Path) -> list[str]:
    try:
        with Index.open(folder, readonly=True) as index:
            return [found for (found,) in index.db.execute("SELECT key FROM session ORDER BY key")]
    except UnspoolError:
        return []


def test_the_newest_are_seen_while_the_others_are_still_read(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stale, "_SOON", 4000)
    monkeypatch.setattr(stale, "_BATCH", 8000)
    seen: list[list[str]] = []
    sync(tmp_path / "archive", [source], lambda _, __: seen.append(keys(tmp_path / "archive")))
    first = next(found for found in seen if found)
    assert 0 < len(first) < NUMBER // 2
    assert first == [key(number) for number in range(NUMBER - len(first), NUMBER)]
    assert keys(tmp_path / "archive") == [key(number) for number in range(NUMBER)]


def test_an_index_made_anew_tells_how_far_it_is(source: Path, tmp_path: Path) -> None:
    """Though nothing is left to be kept."""
    sync(tmp_path / "archive", [source])
    (tmp_path / "archive" / "index.db").unlink()
    told: list[tuple[int, int]] = []
    sync(tmp_path / "archive", [source], lambda done, total: told.append((done, total)))
    assert len(told) == NUMBER
    assert {total for _, total in told} == {sum(done for done, _ in told)}


def test_a_sync_that_finds_nothing_new_tells_of_no_progress(source: Path, tmp_path: Path) -> None:
    sync(tmp_path / "archive", [source])
    told: list[tuple[int, int]] = []
    sync(tmp_path / "archive", [source], lambda done, total: told.append((done, total)))
    assert told == []
