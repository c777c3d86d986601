"""Contents are kept once, proved when read, and never lost to somebody who tidies."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest

from tests.hub.store.filling import aged, refer
from unspool.errors import NotFound
from unspool.hub.errors import StoreUnavailable
from unspool.hub.store.blobs import CHUNK, DAY, PREFIX, Blobs, Objects, key_time, new_key, now, pack, unpack
from unspool.hub.store.connect import Store
from unspool.hub.store.verify import tidy

_DATA = b"a line of a log\n" * 5000


@pytest.mark.parametrize("encoding", ["zstd", "gzip", ""])
def test_what_is_kept_comes_back(store: Store, encoding: str) -> None:
    """Packed or not, and as it lies."""
    blob = store.blobs.keep(_DATA, encoding)
    assert (blob.digest, blob.size) == (sha256(_DATA).hexdigest(), len(_DATA))
    assert b"".join(store.blobs.read(blob.digest)) == _DATA
    found, pieces = store.blobs.packed(blob.digest)
    assert found == blob
    assert b"".join(pieces) == pack(_DATA, encoding)
    assert blob.stored == len(pack(_DATA, encoding))


def test_the_same_again_is_kept_once(store: Store) -> None:
    """Whatever it is packed by the second time, and however many there are at once."""
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda number: store.blobs.keep(_DATA, ("zstd", "gzip")[number % 2]), range(16)))
    assert len(found) == 1
    assert list(store.objects.keys(PREFIX)) == [found.pop().key]
    assert store.blobs.keep(_DATA, "").key == next(iter(store.objects.keys(PREFIX)))


def test_what_is_not_kept_is_not_found(store: Store) -> None:
    """Not with a row, and not read."""
    assert store.blobs.find("0" * 64) is None
    with pytest.raises(NotFound):
        list(store.blobs.read("0" * 64))


@pytest.mark.parametrize("encoding", ["zstd", "gzip", ""])
@pytest.mark.parametrize("damage", ["cut off", "changed", "emptied"])
def test_what_is_damaged_is_told(files_store: Store, encoding: str, damage: str) -> None:
    """Trouble before the end."""
    blob = files_store.blobs.keep(_DATA, encoding)
    data = pack(_DATA, encoding)
    changed = {"cut off": data[: len(data) // 2], "changed": data[:-9] + bytes(9), "emptied": b""}[damage]
    files_store.objects.put(blob.key, [changed])
    with pytest.raises(StoreUnavailable):
        list(files_store.blobs.read(blob.digest))


def test_what_unpacks_to_much_comes_in_small_pieces() -> None:
    """40 MB of nothing never are in memory at once."""
    for encoding in ("zstd", "gzip"):
        sizes = [len(piece) for piece in unpack([pack(bytes(40_000_000), encoding)], encoding)]
        assert sum(sizes) == 40_000_000
        assert max(sizes) <= CHUNK


def test_a_key_says_when_it_was_made() -> None:
    """And others than ours are as old as can be."""
    assert abs(key_time(new_key("ab" * 32)) - now()) < 10_000
    assert [key_time(key) for key in ("blobs/ab/x", "", "blobs/ab/x.zz-1")] == [0, 0, 0]


def test_what_is_referred_to_is_not_dropped(store: Store) -> None:
    """What is not goes at once, row and object; again is no trouble."""
    blob = store.blobs.keep(_DATA)
    refer(store, blob.digest)
    assert not store.blobs.drop(blob.digest)
    assert b"".join(store.blobs.read(blob.digest)) == _DATA
    store.db.run("DELETE FROM share_file")
    assert store.blobs.drop(blob.digest)
    assert store.blobs.drop(blob.digest)
    assert list(store.objects.keys(PREFIX)) == []
    assert store.blobs.find(blob.digest) is None


def test_what_is_sent_again_is_not_swept(store: Store) -> None:
    """Between the moment that one finds it and the moment that one refers to it."""
    blob = store.blobs.keep(_DATA)
    aged(store, blob.digest)
    store.blobs.keep(_DATA)
    assert tidy(store).contents == 0
    assert not store.blobs.drop(blob.digest, now() - DAY)
    aged(store, blob.digest)
    store.db.run("UPDATE blob SET created = ?", now())
    assert tidy(store).contents == 0
    aged(store, blob.digest)
    assert tidy(store).contents == 1


class _Meanwhile:
    """An object store in which something happens after each object is put, or before one is removed."""

    def __init__(
        self, objects: Objects, *, put: Callable[[], object] = int, delete: Callable[[], object] = int
    ) -> None:
        self._objects, self._after_put, self._before_delete = objects, put, delete

    def put(self, key: str, data: Iterable[bytes]) -> int:
        size = self._objects.put(key, data)
        self._after_put()
        return size

    def delete(self, key: str) -> None:
        self._before_delete()
        self._objects.delete(key)

    def get(self, key: str) -> Iterator[bytes]:
        return self._objects.get(key)

    def get_part(self, key: str, start: int, size: int) -> bytes:
        return self._objects.get_part(key, start, size)

    def size(self, key: str) -> int | None:
        return self._objects.size(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self._objects.keys(prefix)

    def sweep(self) -> int:
        return self._objects.sweep()

    def well(self) -> bool:
        return self._objects.well()


def test_one_tidies_between_an_object_and_its_row(store: Store) -> None:
    """An object that is about to be named is nobody's leftover."""
    meanwhile = _Meanwhile(store.objects, put=lambda: tidy(store))
    blob = Blobs(store.db, meanwhile).keep(_DATA)
    assert b"".join(store.blobs.read(blob.digest)) == _DATA


def test_one_keeps_what_another_is_just_removing(store: Store) -> None:
    """The row is gone and the object not yet: what is kept now stays."""
    old = store.blobs.keep(_DATA)
    aged(store, old.digest)
    kept = []
    slow = Blobs(store.db, _Meanwhile(store.objects, delete=lambda: kept.append(store.blobs.keep(_DATA))))
    assert slow.drop(old.digest)
    assert kept[0].key != old.key
    assert b"".join(store.blobs.read(old.digest)) == _DATA
    assert list(store.objects.keys(PREFIX)) == [kept[0].key]


def test_a_row_that_could_not_be_written_leaves_an_object_that_is_swept(store: Store) -> None:
    """A crash between the two."""
    data = os.urandom(100)
    with pytest.raises(KeyboardInterrupt):
        Blobs(store.db, _Meanwhile(store.objects, put=_interrupt)).keep(data)
    (key,) = store.objects.keys(PREFIX)
    assert tidy(store).objects == 0
    digest, old = sha256(data).hexdigest(), f"{now() - DAY - 1000:x}"
    store.objects.put(f"{PREFIX}{digest[:2]}/{digest}.{old}-00", [data])
    assert tidy(store).objects == 1
    assert list(store.objects.keys(PREFIX)) == [key]


def _interrupt() -> None:
    raise KeyboardInterrupt
