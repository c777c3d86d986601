"""Whether one version of a file goes on from another, told by their pieces and, where these differ, by their bytes."""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from unspool.remote.manifest import Piece

Read = Callable[[str], Iterator[bytes]]


class Relation(Enum):
    """What the new version of a file is to the old one."""

    SAME = "same"
    LONGER = "longer"
    """It begins with all of the old one."""
    SHORTER = "shorter"
    """The old one begins with all of it."""
    OTHER = "other"


def relation(old: Sequence[Piece], new: Sequence[Piece], read: Read) -> Relation:
    """What new pieces are to old ones; `read` gives a piece by its digest."""
    common = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        common += 1
    before, after = old[common:], new[common:]
    length = sum(piece.size for piece in after) - sum(piece.size for piece in before)
    if before and after and not _begins_alike(_stream(before, read), _stream(after, read)):
        return Relation.OTHER
    return Relation.SAME if length == 0 else Relation.LONGER if length > 0 else Relation.SHORTER


def _stream(pieces: Sequence[Piece], read: Read) -> Iterator[bytes]:
    return (chunk for piece in pieces for chunk in read(piece.digest))


def _begins_alike(one: Iterator[bytes], other: Iterator[bytes]) -> bool:
    """Whether two streams are the same for as long as both go on."""
    mine = theirs = b""
    while True:
        mine, theirs = mine or next(one, b""), theirs or next(other, b"")
        if not mine or not theirs:
            return True
        size = min(len(mine), len(theirs))
        if mine[:size] != theirs[:size]:
            return False
        mine, theirs = mine[size:], theirs[size:]
