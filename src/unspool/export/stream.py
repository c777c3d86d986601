"""Pieces of text as bytes, gathered so that a file or pipe is written in few large steps."""

from collections.abc import Iterable, Iterator

_ENOUGH = 1 << 16


def encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    """The pieces in UTF-8; what UTF-8 cannot say becomes a question mark."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _ENOUGH:
            yield "".join(waiting).encode("utf-8", "replace")
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting).encode("utf-8", "replace")
