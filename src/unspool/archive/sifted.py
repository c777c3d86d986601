"""Generations of an archive as if some lines had never been in them."""

from collections.abc import Iterator
from typing import Protocol

from unspool.archive.archive import Archive, Kept, Piece
from unspool.archive.chain import digest
from unspool.archive.sieve import Drops, cut, split


class Held(Protocol):
    """What is needed to read generations."""

    def generations(self, file: int) -> list[Kept]: ...

    def pieces(self, generation: int) -> list[Piece]: ...

    def stream(self, generation: int) -> Iterator[bytes]: ...

    def unpacked(self, pack: int) -> bytes: ...


class Sifted:
    """An archive read without the lines that `drops` names; each piece is a pack of its own."""

    def __init__(self, archive: Archive, drops: Drops) -> None:
        self._archive, self._drops = archive, drops
        self._packs: list[bytes] = []
        self._pieces: dict[int, list[Piece]] = {}

    def generations(self, file: int) -> list[Kept]:
        return [self._kept(kept) for kept in self._archive.generations(file)]

    def _kept(self, kept: Kept) -> Kept:
        pieces, size = self._pieces.setdefault(kept.generation, []), 0
        lines = (line for line in split(self._archive.stream(kept.generation)) if not self._drops(line))
        for data in cut(lines):
            pieces.append(Piece(size, len(data), len(self._packs), 0, digest(data)))
            self._packs.append(data)
            size += len(data)
        return kept._replace(size=size)

    def pieces(self, generation: int) -> list[Piece]:
        return self._pieces[generation]

    def stream(self, generation: int) -> Iterator[bytes]:
        return (self._packs[piece.pack] for piece in self._pieces[generation])

    def unpacked(self, pack: int) -> bytes:
        return self._packs[pack]
