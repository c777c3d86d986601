"""The contract of an object store, which every member keeps."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest

from unspool.errors import NotFound
from unspool.hub.store.blobs import Objects
from unspool.hub.store.connect import Store, StorePlace

MB = 1024 * 1024


@pytest.fixture
def objects(store: Store) -> Objects:
    """An object store of each kind, empty."""
    return store.objects


@pytest.mark.parametrize("size", [0, 1, 8 * MB, 8 * MB + 1, 21 * MB])
def test_what_is_kept_comes_back(objects: Objects, size: int) -> None:
    """Nothing, a byte, one part exactly, and several parts."""
    data = os.urandom(MB) * (size // MB) + b"x" * (size % MB)
    assert objects.put("blobs/aa/one", _pieces(data)) == size
    assert objects.size("blobs/aa/one") == size
    assert b"".join(objects.get("blobs/aa/one")) == data


def test_a_part_is_read_by_its_place(objects: Objects) -> None:
    """From the beginning, from within, all of it, and beyond its end what there is; NotFound of nothing."""
    data = os.urandom(3 * MB)
    objects.put("blobs/aa/one", [data])
    for start, size in ((0, 10), (MB, 2000), (0, len(data)), (len(data) - 5, 5), (len(data) - 5, 50)):
        assert objects.get_part("blobs/aa/one", start, size) == data[start : start + size]
    with pytest.raises(NotFound):
        objects.get_part("blobs/aa/none", 0, 1)


def test_the_last_one_kept_is_there(objects: Objects) -> None:
    """Under the same key."""
    objects.put("blobs/aa/one", [b"long before"])
    objects.put("blobs/aa/one", [b"after"])
    assert b"".join(objects.get("blobs/aa/one")) == b"after"


def test_what_is_not_there_is_told_before_the_first_piece(objects: Objects) -> None:
    """NotFound, no size; and removing it is no trouble, once or twice."""
    with pytest.raises(NotFound):
        objects.get("blobs/aa/none")
    assert objects.size("blobs/aa/none") is None
    objects.put("blobs/aa/one", [b"x"])
    for _ in range(2):
        objects.delete("blobs/aa/one")
        assert objects.size("blobs/aa/one") is None


@pytest.mark.parametrize("size", [1, 12 * MB])
def test_what_breaks_off_leaves_nothing(objects: Objects, size: int) -> None:
    """The exception is the sender's own, nothing is seen, and what was there before still is."""

    def broken() -> Iterator[bytes]:
        yield from _pieces(b"x" * size)
        raise ConnectionResetError("gone")

    objects.put("blobs/aa/old", [b"before"])
    for key in ("blobs/aa/new", "blobs/aa/old"):
        with pytest.raises(ConnectionResetError, match="gone"):
            objects.put(key, broken())
    assert list(objects.keys("")) == ["blobs/aa/old"]
    assert objects.size("blobs/aa/new") is None
    assert b"".join(objects.get("blobs/aa/old")) == b"before"


def test_keys_are_in_order_and_begin_as_asked(objects: Objects) -> None:
    """Whether or not the beginning ends at a slash."""
    wanted = ["blobs/a-b/1", "blobs/aa/1", "blobs/aa/10", "blobs/aa/2", "blobs/ab/1", "other/aa/1"]
    for key in reversed(wanted):
        objects.put(key, [b"x"])
    assert list(objects.keys("")) == wanted
    assert list(objects.keys("blobs/aa/")) == wanted[1:4]
    assert list(objects.keys("blobs/aa/1")) == wanted[1:3]
    assert list(objects.keys("blobs/a")) == wanted[:5]
    assert list(objects.keys("none/")) == []


def test_many_at_once_under_one_key(objects: Objects) -> None:
    """One of them is there, whole."""
    contents = [bytes([number]) * (9 * MB if number % 4 == 0 else 1000) for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda data: objects.put("blobs/aa/one", _pieces(data)), contents))
    assert b"".join(objects.get("blobs/aa/one")) in contents


def test_one_reads_on_what_is_replaced_or_removed(objects: Objects) -> None:
    """Or is told of it; never is it a part of one and a part of another."""
    old, new = b"o" * MB, b"n" * MB
    objects.put("blobs/aa/one", [old])
    reading = objects.get("blobs/aa/one")
    objects.put("blobs/aa/one", [new])
    assert b"".join(reading) in (old, new)


_LARGE = """
import resource, sys
from hashlib import sha256
from pathlib import Path
from unspool.hub.store.connect import StorePlace, open_store

store = open_store(StorePlace(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
piece = bytes(range(256)) * 4096
list(store.objects.get("warm")) if store.objects.put("warm", [piece] * 20) else None
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = store.objects.put("large", (piece for _ in range(int(sys.argv[4]))))
proof = sha256()
for got in store.objects.get("large"):
    proof.update(got)
print(size, proof.hexdigest(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_large_object_never_is_in_memory(place: StorePlace) -> None:
    """64 MB both ways cost a few parts more than 20 MB do."""
    command = [sys.executable, "-c", _LARGE, str(place.folder), place.database, place.bucket, "64"]
    size, digest, grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    proof = sha256()
    for _ in range(64):
        proof.update(bytes(range(256)) * 4096)
    assert (int(size), digest) == (64 * MB, proof.hexdigest())
    assert int(grown) < 25_000  # kilobytes


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), MB // 4):
        yield data[start : start + MB // 4]
