"""Words of a text as the index knows them. The same rules stand in static/search.js; a test holds them together.

Text is folded first: compatibility forms made plain (NFKD), accents dropped, lower case. A word is a run of letters
and digits, so `snake_case` and `a/path.py` are several; words of one ASCII character are not kept, and of a long one
only its first 40 characters. Scripts that write without spaces are kept as pairs of characters, and the last
character of a run alone, so that each character begins some word.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACED: Final = re.compile(rf"[^\W_{_UNSPACED}]+")
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_PLAIN: Final = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
"""ASCII in lower case, with a space for all that is no part of a word."""


def fold(text: str) -> str:
    """The text as it is compared."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text)
    for mark in filter(_is_mark, set(text)):
        text = text.replace(mark, "")
    return text.lower().replace("\N{GREEK SMALL LETTER FINAL SIGMA}", "\N{GREEK SMALL LETTER SIGMA}")


def words(text: str) -> set[str]:
    """The distinct words of a text, those of one ASCII character and long ones too."""
    if not text.isascii():
        text = fold(text)
    if text.isascii() or not any(map(_is_letter, set(text))):
        return set(text.encode("ascii", "replace").translate(_PLAIN).decode().split())
    found = set(_SPACED.findall(text))
    for run in _RUN.findall(text):
        found.update(_pairs(run))
    return found


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run)))


@cache
def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


@cache
def _is_letter(char: str) -> bool:
    """Whether a character outside of ASCII may be part of a word."""
    return not char.isascii() and (char.isalnum() or _RUN.match(char) is not None)
