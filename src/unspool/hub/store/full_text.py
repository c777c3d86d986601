"""Words as SQLite's full text has them, for PostgreSQL: both find the same, because both cut and fold the same way."""

import threading
from collections.abc import Callable
from typing import Any

import apsw

TOKENIZER = ("unicode61", "remove_diacritics", "2")
MOST_CHARACTERS = 32_000
"""Of one passage: no text so long has more words than PostgreSQL tells the places of."""
_POSITIONS = 255
"""Places of one word that are kept."""
_LONGEST = 2000
"""Bytes of a word; PostgreSQL keeps no longer ones."""
_LAST = 16_383

_local = threading.local()


def split_words(text: str) -> list[str]:
    """The words of a text, in order."""
    cut = getattr(_local, "cut", None)
    if cut is None:
        cut = _local.cut = _tokenizer()
    found: list[str] = cut(text)
    return found


def text_vector(text: str) -> str:
    """The words of a text and where they stand, as PostgreSQL reads a tsvector."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(split_words(text), 1):
        places.setdefault(word, []).append(min(place, _LAST))
    return " ".join(
        f"{quote_word(word)}:{','.join(map(str, found[:_POSITIONS]))}"
        for word, found in places.items()
        if len(word.encode(errors="replace")) <= _LONGEST
    )


def quote_word(word: str) -> str:
    """A word as PostgreSQL reads it among others."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _tokenizer() -> Callable[[str], list[str]]:
    database = apsw.Connection(":memory:")
    name, *options = TOKENIZER
    made: Any = database.fts5_tokenizer(name, options)

    def cut(text: str) -> list[str]:
        data = text.encode("utf-8", "replace")
        found = made(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
        return list(found)

    return cut
