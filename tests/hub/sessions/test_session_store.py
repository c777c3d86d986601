"""Versions of a file: what goes on from what, however it is cut, and nothing is ever lost."""

from collections.abc import Iterator
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from unspool.hub.sessions.session_store import FileRelation, join_files, relate_files, total_size
from unspool.hub_client.manifest import FilePiece, ManifestFile

TEXTS = st.binary(min_size=1, max_size=12).map(lambda data: bytes(97 + byte % 2 for byte in data))


class Kept:
    """Contents by digest."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def cut(self, data: bytes, places: list[int]) -> tuple[FilePiece, ...]:
        ends = sorted({min(place, len(data)) for place in places} | {len(data)})
        parts = [data[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]
        return tuple(self._piece(part) for part in parts)

    def _piece(self, data: bytes) -> FilePiece:
        digest = sha256(data).hexdigest()
        self.contents[digest] = data
        return FilePiece(digest, len(data))

    def read(self, digest: str) -> Iterator[bytes]:
        data = self.contents[digest]
        return iter([data[:1], data[1:]] if len(data) > 1 else [data])

    def whole(self, pieces: tuple[FilePiece, ...]) -> bytes:
        return b"".join(self.contents[piece.digest] for piece in pieces)


@given(TEXTS, TEXTS, st.lists(st.integers(1, 12), max_size=3), st.lists(st.integers(1, 12), max_size=3))
def test_the_relation_is_that_of_the_bytes(old: bytes, new: bytes, one: list[int], other: list[int]) -> None:
    kept = Kept()
    found = relate_files(kept.cut(old, one), kept.cut(new, other), kept.read)
    if old == new:
        assert found is FileRelation.SAME
    elif new.startswith(old):
        assert found is FileRelation.LONGER
    elif old.startswith(new):
        assert found is FileRelation.SHORTER
    else:
        assert found is FileRelation.OTHER


@given(
    st.lists(
        st.tuples(st.sampled_from(["k.jsonl", "k/a"]), TEXTS, st.lists(st.integers(1, 12), max_size=2)), max_size=9
    )
)
def test_whatever_is_pushed_stays_among_the_files(pushes: list[tuple[str, bytes, list[int]]]) -> None:
    kept = Kept()
    files: dict[str, tuple[FilePiece, ...]] = {}
    for name, data, places in pushes:
        after = join_files(files, [ManifestFile(name, kept.cut(data, places))], kept.read)
        before = [kept.whole(pieces) for pieces in files.values()]
        files = files if after is None else after
        now = {name: kept.whole(pieces) for name, pieces in files.items()}
        assert all(any(one.startswith(old) for one in now.values()) for old in [*before, data])
        assert now[name].startswith(data)
        assert total_size(files) <= sum(map(len, now.values()))
