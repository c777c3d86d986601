"""What a scanner is: a name, what it finds, and rules over a session; no model of language."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from unspool.model import Session

QUOTE = 240
"""Characters of the words that a flag is shown with."""


class SessionFlag(msgspec.Struct, frozen=True):
    """Something in a session that a person should look at, with its evidence."""

    scanner: str
    why: str
    """In a few words."""
    turn: int
    line: int
    """Of the log."""
    quote: str
    """The words that it goes by."""


class Scanner(NamedTuple):
    name: str
    badge: str
    """What a session with such a flag is marked with, in two or three words."""
    about: str
    scan: Callable[[Session], Iterator[SessionFlag]]
    version: int = 1
    """Another number, and sessions that were scanned before are scanned again."""


def quote(text: str, at: int = 0) -> str:
    """The words around a place in a text, on one line."""
    start = max(0, at - QUOTE // 2) if at > QUOTE else 0
    words = " ".join(text[start : start + 2 * QUOTE].split())
    return f"{'… ' if start else ''}{words[:QUOTE]}{' …' if len(words) > QUOTE else ''}"
