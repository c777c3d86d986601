"""Contents come out of the store as they went in, however they are cut on the way."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.hub.store.blobs import _Pieces, pack, unpack

NOISE = random.Random(1).randbytes(3_000_000)
"""Does not pack: as large in the store as outside."""


@pytest.mark.parametrize("encoding", ["", "gzip", "zstd"])
@pytest.mark.parametrize("cut", [1_000, 131_075, 131_076, 262_144, len(NOISE) + 100_000])
def test_a_content_is_unpacked_from_pieces_of_any_size(encoding: str, cut: int) -> None:
    data = pack(NOISE, encoding)
    pieces = (data[at : at + cut] for at in range(0, len(data), cut))
    assert b"".join(unpack(pieces, encoding)) == NOISE


@given(st.lists(st.binary(min_size=1, max_size=50)), st.integers(1, 60))
def test_who_reads_a_number_of_bytes_is_never_given_more(pieces: list[bytes], size: int) -> None:
    """The reader of zstd copies what it is given into memory of just that size."""
    source = _Pieces(iter(pieces))

    def read() -> Iterator[bytes]:
        while part := source.read(size):
            yield part

    found = list(read())
    assert b"".join(found) == b"".join(pieces)
    assert all(len(part) <= size for part in found)
