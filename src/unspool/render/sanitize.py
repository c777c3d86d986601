"""Makes untrusted text safe to print (no control sequence reaches a terminal), and encodes it for output."""

from collections.abc import Iterable, Iterator

from unspool.tools.ansi import strip_ansi


def strip_controls(text: str) -> str:
    """The text without terminal controls; a lone carriage return ends a line, so that it can hide nothing."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return strip_ansi(text)


def safe_lines(text: str) -> list[str]:
    """The inert lines of a text; its last newline begins no line of its own."""
    found = strip_controls(text).split("\n")
    if len(found) > 1 and not found[-1]:
        found.pop()
    return found


def one_line(text: str) -> str:
    """The inert text on one line."""
    return " ".join(strip_controls(text).split())


def safe_row(text: str) -> str:
    """The inert text as one line, its spaces kept."""
    return strip_controls(text.rstrip("\r\n")).replace("\n", " ")


_ENOUGH = 1 << 16


def encode_pieces(pieces: Iterable[str]) -> Iterator[bytes]:
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
