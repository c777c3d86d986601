"""Small packs joined to full ones: following a log closely makes a pack and a piece of every few lines."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from unspool.archive.archive import Archive
from unspool.archive.chain import digest
from unspool.archive.numbering import renumbered
from unspool.archive.packer import Packer, spend
from unspool.archive.packing import PACK
from unspool.errors import Unreadable

SMALL = 1024 * 1024
MANY = 64
_AT_ONCE = 4 * PACK
_MOST = 1024

Piece = tuple[int, int, int, int, int, bytes]
"""Generation, start, size, pack, place, digest."""


def tidy(archive: Archive, many: int = MANY) -> int:
    """Join small packs where there are more than so many of them; how many were joined. Bounded work a call.

    What is kept stays the same to the byte, and is checked on the way; where it is damaged, nothing is done: that is
    for verify to name.
    """
    if _count(archive) <= many:
        return 0
    packer = Packer(archive)
    try:
        with archive.writing():
            packs = _small(archive)
            _join(archive, packs, packer)
    except Unreadable:
        return 0
    finally:
        packer.close()
    return len(packs)


_SMALL = """
FROM pack WHERE size < ? AND base IS NULL AND id NOT IN (SELECT base FROM pack WHERE base IS NOT NULL)
"""
"""Those that have a base, or are one, are small for a reason."""


def _count(archive: Archive) -> int:
    count: int = archive.db.execute(f"SELECT count(*) {_SMALL}", (SMALL,)).get
    return count


def _small(archive: Archive) -> list[int]:
    """The oldest of the small packs, as many as are joined at once."""
    found, total = [], 0
    for number, size in archive.db.execute(f"SELECT id, size {_SMALL} ORDER BY id LIMIT ?", (SMALL, _MOST)):
        total += size
        if total > _AT_ONCE:
            break
        found.append(number)
    return found


def _join(archive: Archive, packs: list[int], packer: Packer) -> None:
    pieces = sorted(row for pack in packs for row in _pieces(archive, pack))
    spend(archive)
    for pack in packs:  # first, so that nothing is compressed against a pack that goes
        archive.db.execute("DELETE FROM trait WHERE pack = ?", (pack,))
    packer.begin()
    moved: dict[tuple[bytes, int], tuple[int, int]] = {}
    for run in _runs(pieces):
        _moved(archive, run, packer, moved)
    packer.flush()
    for pack in packs:
        archive.db.execute("DELETE FROM pack WHERE id = ?", (pack,))
        archive.unshelve(pack)
    for file in _files(archive, {row[0] for row in pieces}):
        renumbered(archive, file)


def _pieces(archive: Archive, pack: int) -> list[Piece]:
    query = "SELECT generation, start, size, pack, place, digest FROM piece WHERE pack = ?"
    rows: Any = archive.db.execute(query, (pack,))
    return [tuple(row) for row in rows]


def _runs(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Pieces of one generation that follow one another, no more than a pack together."""
    for _, group in groupby(pieces, key=lambda piece: piece[0]):
        run: list[Piece] = []
        total = 0
        for piece in group:
            follows = run and run[-1][1] + run[-1][2] == piece[1] and total + piece[2] <= SMALL
            if run and not follows:
                yield run
                run, total = [], 0
            run.append(piece)
            total += piece[2]
        yield run


def _moved(archive: Archive, run: list[Piece], packer: Packer, moved: dict[tuple[bytes, int], tuple[int, int]]) -> None:
    """A run of pieces becomes one piece, in another pack."""
    data = b"".join(_checked(archive, piece) for piece in run)
    sum_ = digest(data)
    if (sum_, len(data)) not in moved:
        moved[sum_, len(data)] = packer.put(data)
    generation, start = run[0][:2]
    query = "DELETE FROM piece WHERE generation = ? AND start BETWEEN ? AND ?"
    archive.db.execute(query, (generation, start, run[-1][1]))
    row = (generation, start, len(data), *moved[sum_, len(data)], sum_)
    archive.db.execute("INSERT INTO piece VALUES(?, ?, ?, ?, ?, ?)", row)


def _checked(archive: Archive, piece: Piece) -> bytes:
    _, _, size, pack, place, sum_ = piece
    data = archive.unpacked(pack)[place : place + size]
    if digest(data) != sum_:
        raise Unreadable(f"{archive.path} is damaged in pack {pack}; run `unspool verify --repair`.")
    return data


def _files(archive: Archive, generations: set[int]) -> set[int]:
    query = "SELECT file FROM generation WHERE id = ?"
    return {archive.db.execute(query, (generation,)).get for generation in generations}
