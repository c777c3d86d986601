"""What nothing refers to is removed, what something refers to never is, and everything is proved."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hub.store.filling import aged, filled, refer
from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.connect import FOLDER, Store, StorePlace, open_store
from unspool.hub.store.verify import tidy, tidy_daily, verify


def test_only_old_contents_that_nothing_refers_to_go(store: Store) -> None:
    """Of four, the one that is old and alone, with who sent it."""
    used, old, fresh, old_used = (store.blobs.keep(bytes([number]) * 100, "") for number in range(4))
    for blob in (used, old_used):
        refer(store, blob.digest, blob.digest)
    store.db.run("INSERT INTO sent(person, digest) VALUES('p', ?)", old.digest)
    for blob in (old, old_used):
        aged(store, blob.digest)
    found = tidy(store)
    assert (found.contents, found.bytes, found.objects, found.missing) == (1, 100, 0, [])
    assert [store.blobs.find(blob.digest) is None for blob in (used, old, fresh, old_used)] == [
        False,
        True,
        False,
        False,
    ]
    assert store.objects.size(old.key) is None
    assert store.db.row("SELECT count(*) FROM sent") == (0,)


@pytest.mark.parametrize("many", [10_000, 1])
def test_every_table_that_refers_counts(store: Store, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """Shares, pages, pieces and texts alike, whether contents are looked at in one go or by parts."""
    monkeypatch.setattr("unspool.hub.store.verify._MANY", many)
    digests = filled(store)
    for digest in digests:
        aged(store, digest)
    assert tidy(store).contents == 0
    store.db.run("DELETE FROM share_file")
    store.db.run("DELETE FROM session_page")
    assert tidy(store).contents == 0
    store.db.run("DELETE FROM piece")
    assert tidy(store).contents == 0
    store.db.run("DELETE FROM session_text")
    for digest in digests:
        aged(store, digest)
    assert tidy(store).contents == len(digests)
    assert list(store.objects.keys("")) == []


def test_a_content_stays_for_a_day_after_its_last_reference(store: Store) -> None:
    """However old it is: whoever was told of it a moment ago, or copies the bucket after the database, still has it."""
    blob = store.blobs.keep(b"old")
    refer(store, blob.digest)
    aged(store, blob.digest)
    for _ in range(2):
        assert tidy(store).contents == 0
    assert store.db.row("SELECT unused FROM blob") == (None,)
    store.db.run("DELETE FROM share_file")
    for _ in range(2):
        assert tidy(store).contents == 0
    (since,) = store.db.row("SELECT unused FROM blob") or (0,)
    assert abs(since - now()) < 60_000
    store.db.run("UPDATE blob SET unused = ?", now() - DAY - 1)
    refer(store, blob.digest)
    assert tidy(store).contents == 0
    store.db.run("DELETE FROM share_file")
    store.db.run("UPDATE blob SET unused = ?", now() - DAY - 1)
    assert tidy(store).contents == 1


def test_one_of_all_processes_tidies_once_a_day(store: Store) -> None:
    """Whichever comes first."""
    with ThreadPoolExecutor(6) as threads:
        assert sum(done is not None for done in threads.map(lambda _: tidy_daily(store), range(6))) == 1
    assert tidy_daily(store) is None
    store.db.run("UPDATE setting SET value = ? WHERE key = 'tidied'", str(now() - DAY - 1))
    assert tidy_daily(store) is not None


def test_a_content_without_object_is_told(store: Store) -> None:
    """By the one who tidies and the one who verifies; its row stays."""
    blob = store.blobs.keep(b"lost")
    refer(store, blob.digest)
    store.objects.delete(blob.key)
    assert tidy(store).missing == [blob.digest]
    assert verify(store).problems == [f"The content {blob.digest} is missing in the object store."]


def test_a_hub_that_is_well_has_no_problems(store: Store) -> None:
    """Every content is read."""
    digests = filled(store)
    found = verify(store)
    assert (found.contents, found.problems) == (len(digests), [])
    assert found.bytes == sum(blob.size for digest in digests if (blob := store.blobs.find(digest)))


def test_what_is_damaged_or_refers_to_nothing_is_told(store: Store) -> None:
    """A changed object, a wrong size, a reference without a content."""
    changed, sized = store.blobs.keep(b"a" * 99, ""), store.blobs.keep(b"b" * 99, "")
    store.objects.put(changed.key, [b"c" * 99])
    store.db.run("UPDATE blob SET stored = 7 WHERE digest = ?", sized.digest)
    refer(store, "0" * 64)
    assert sorted(verify(store).problems) == sorted(
        [
            f"A row of share_file refers to the content {'0' * 64}, of which there is none.",
            f"The content {changed.digest} is damaged in the object store.",
            f"The content {sized.digest} is of another size than its row says.",
        ]
    )


def test_what_was_left_half_written_goes_after_a_day(files_store: Store, on_files: StorePlace) -> None:
    """What is younger may be somebody's who writes now."""
    old, young = (on_files.folder / FOLDER / f"blobs/aa/.x.{name}.part" for name in ("1", "2"))
    old.parent.mkdir(parents=True)
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000,) * 2)
    assert tidy(files_store).parts == 1
    assert [Path(path).exists() for path in (old, young)] == [False, True]


def test_a_damaged_database_is_told(on_files: StorePlace) -> None:
    """SQLite's own check is part of it."""
    store = open_store(on_files)
    filled(store)
    ((page, size),) = store.db.rows(
        "SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = 'session_slug'"
    )
    store.db.close()
    with (on_files.folder / "hub.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(100))
    store = open_store(on_files)
    assert any(problem.startswith("The hub's database cannot be used") for problem in verify(store).problems)
    store.db.close()
