"""Text and questions as the full-text index takes them."""

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from unspool.store.index.query import And, Node, Not, Or, Term

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


def normalize_text(text: str) -> str:
    """The text as the index takes it: equal for all ways of writing what should be found by one another."""
    if text.isascii() or not _needy().search(_rest(text)):
        return text
    return _needy().sub(_run, text)


def join_letters(char: str) -> bool:
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
    apart = _unspaced().sub(lambda letters: f" {' '.join(letters[0])} ", plain)
    return re.sub(f"[{LONE}]", " ", apart)


_LEAST = 3
_SINGLE = re.compile(r"[\w-]+")
_BROKEN = re.compile(r"[_-]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class FullTextMatch(NamedTuple):
    """An expression of the full-text index; `excluded`: all that it does not match is meant."""

    text: str
    excluded: bool = False


def full_text_match(tree: Node) -> FullTextMatch:
    """The expression for a question."""
    match tree:
        case Term():
            return _term(tree)
        case Not(part):
            inner = full_text_match(part)
            return FullTextMatch(inner.text, not inner.excluded)
        case And(parts):
            return _and(parts)
        case Or(parts):
            return _or(parts)


def match_ways(term: Term) -> tuple[str, ...]:
    """How a word may be written: `read_file` as readfile too, `readFile` as read_file too; a phrase only as it is."""
    text = term.text
    if term.exact or not _SINGLE.fullmatch(text):
        return (text,)
    parts = [part for part in _BROKEN.split(_HUMP.sub("_", text)) if part]
    if term.prefix and parts and len(parts[-1]) < _LEAST:
        return (text,)  # too many words begin with so little
    return tuple(dict.fromkeys((text, _BROKEN.sub("", text), " ".join(parts))))


def _term(term: Term) -> FullTextMatch:
    star = " *" if term.prefix else ""
    # The end of a text is where a NUL stands, for the index; and a quote in a text is said by two.
    quoted = ['"' + normalize_text(way).replace("\0", " ").replace('"', '""') + '"' + star for way in _distinct(term)]
    return FullTextMatch(quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})")


def _distinct(term: Term) -> tuple[str, ...]:
    """The ways that the index can tell apart: to it, everything but letters and digits is a space."""
    found: dict[str, str] = {}
    for way in match_ways(term):
        found.setdefault(" ".join(re.findall(r"[^\W_]+", way.lower())), way)
    return tuple(found.values())


def _and(parts: tuple[Node, ...]) -> FullTextMatch:
    asked, excluded = _sorted(parts)
    if not asked:
        return FullTextMatch(_any(excluded), excluded=True)
    found = asked[0] if len(asked) == 1 else f"({' AND '.join(asked)})"
    return FullTextMatch(f"({found} NOT {_any(excluded)})" if excluded else found)


def _or(parts: tuple[Node, ...]) -> FullTextMatch:
    asked, excluded = _sorted(parts)
    if not excluded:
        return FullTextMatch(_any(asked))
    found = excluded[0] if len(excluded) == 1 else f"({' AND '.join(excluded)})"
    return FullTextMatch(f"({found} NOT {_any(asked)})" if asked else found, excluded=True)


def _sorted(parts: tuple[Node, ...]) -> tuple[list[str], list[str]]:
    found = [full_text_match(part) for part in parts]
    return [one.text for one in found if not one.excluded], [one.text for one in found if one.excluded]


def _any(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({' OR '.join(texts)})"
