"""The numbers and chains of a file's generations, made to fit after a change of what is kept."""

from collections.abc import Sequence

from unspool.archive.archive import Archive
from unspool.archive.chain import first_link, next_link


def renumbered(archive: Archive, file: int, order: Sequence[int] = ()) -> None:
    """Number the generations of a file from 1, in the order given or that they have, and make their chains fit."""
    kept = {one.generation: one for one in archive.generations(file)}
    order = order or list(kept)
    if [kept[one].number for one in order] != list(range(1, len(order) + 1)):
        _park(archive, file)
    before = b""
    for number, generation in enumerate(order, 1):
        chain = first_link(kept[generation].path, number, before)
        for piece in archive.pieces(generation):
            chain = next_link(chain, piece.size, piece.digest)
        query = "UPDATE generation SET number = ?, chain = ? WHERE id = ?"
        archive.db.execute(query, (number, chain, generation))
        before = chain


def _park(archive: Archive, file: int) -> None:
    """Numbers out of the way, so that no two are equal while they change."""
    archive.db.execute("UPDATE generation SET number = -1000000000000 - id WHERE file = ?", (file,))
