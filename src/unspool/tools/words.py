"""Short words for one-line summaries: text folded to a line, counts, times, sizes, changes."""

from collections.abc import Iterable

from unspool.human import count, duration, size
from unspool.tools.ansi import plain

__all__ = ["changed", "count", "duration", "first_line", "joined", "line", "lines", "size"]

LIMIT = 120


def line(text: str, limit: int = LIMIT) -> str:
    """The text on one line without control characters, cut at about `limit` characters."""
    text = text.lstrip()
    head = text[: limit * 8]
    folded = " ".join(plain(head).split())
    if len(folded) <= limit and len(head) == len(text):
        return folded
    return folded[: limit - 1].rstrip() + "…"


def first_line(text: str, limit: int = 80) -> str:
    """The first line that says something, without controls, cut to `limit` characters."""
    line = next((line for line in plain(text[:4_000]).splitlines() if line.strip()), "")
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def joined(words: Iterable[str]) -> str:
    """Short facts beside each other; empty ones are left out."""
    return " · ".join(word for word in words if word)


def lines(text: str) -> int:
    """How many lines the text has; a last one without its newline counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def changed(added: int, removed: int) -> str:
    """`+12 −3`."""
    return f"+{added:,} −{removed:,}"
