"""Prepares text for the full-text index: the one way in, for what is indexed and for what is asked.

Case and accents are the tokenizer's business. Ours is what it cannot do: scripts that are written without spaces
become a word a character, so that a question of several characters is a phrase, found wherever they stand; and
letters that are written wide, joined or in a fancy alphabet become plain ones.
"""

import re
import unicodedata
from functools import cache

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul, and its letters
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3400-\u4dbf\u4e00-\ua4cf\uf900-\ufaff"
    "\u3040-\u30ff\u3190-\u31ff\U0001aff0-\U0001b16f"  # Kana, Bopomofo
    "\U00020000-\U0003ffff"  # rare ideographs
)
"""A character class's inside: scripts without spaces between words, and Hangul, whose endings stick to the word."""

FANCY = "\u3200-\u33ff\ufb00-\ufb06\uff00-\uffef\U0001d400-\U0001d7ff"
"""Characters that are others in disguise: enclosed and squared, ligatures, wide and narrow, mathematical letters."""

LONE = "\ud800-\udfff"
"""Halves of a character, which no database takes."""

_ASCII = bytes(range(128))


def folded(text: str) -> str:
    """The text as the index takes it: equal for all ways of writing what should be found by one another."""
    if text.isascii() or not _needy().search(_rest(text)):
        return text
    return _needy().sub(_run, text)


def unspaced(char: str) -> bool:
    """Whether a character is a word by itself."""
    return _unspaced().match(char) is not None


# Made when first needed: it takes as long as a search does, and most text is ASCII.


@cache
def _needy() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}{FANCY}{LONE}]+")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]+")


def _rest(text: str) -> str:
    """All that is not ASCII: most often a dash or two, so that no pattern need walk through the text for them."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _run(found: re.Match[str]) -> str:
    plain = found[0]
    if not unicodedata.is_normalized("NFKC", plain):
        plain = unicodedata.normalize("NFKC", plain)
    if plain.isascii():
        return plain
    return re.sub(f"[{LONE}]", " ", _unspaced().sub(_apart, plain))


def _apart(found: re.Match[str]) -> str:
    return f" {' '.join(found[0])} "
