"""A file cut into pieces, at the ends of lines: what is appended changes the last piece and none before it."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from unspool.remote.manifest import Piece

_USUAL = 1024 * 1024
_MOST = 3 * 1024 * 1024
"""Bytes of a piece, so that it can be sent even where it does not pack."""


def chunks(path: Path) -> Iterator[bytes]:
    """The pieces of a file, in order."""
    with path.open("rb") as file:
        while chunk := file.read(_USUAL):
            yield chunk + file.readline(_MOST - _USUAL)


def pieces(path: Path) -> tuple[Piece, ...]:
    """What the pieces of a file are known by."""
    return tuple(Piece(sha256(chunk).hexdigest(), len(chunk)) for chunk in chunks(path))
