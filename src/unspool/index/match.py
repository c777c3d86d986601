"""A question as the full-text index takes it: one expression, and whether it or its opposite is asked for.

The index knows no NOT that stands alone. But whatever is built of AND, OR and NOT is either what some expression
matches or what it does not match, so one expression and one bit say it all. Every word goes in quoted: nothing that
is typed is ever syntax.
"""

import re
from typing import NamedTuple

from unspool.index.fold import folded
from unspool.index.query import And, Node, Not, Or, Term

_LEAST = 3
_SINGLE = re.compile(r"[\w-]+")
_BROKEN = re.compile(r"[_-]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Match(NamedTuple):
    """An expression of the full-text index; `excluded`: all that it does not match is meant."""

    text: str
    excluded: bool = False


def match(tree: Node) -> Match:
    """The expression for a question."""
    match tree:
        case Term():
            return _term(tree)
        case Not(part):
            inner = match(part)
            return Match(inner.text, not inner.excluded)
        case And(parts):
            return _and(parts)
        case Or(parts):
            return _or(parts)


def ways(term: Term) -> tuple[str, ...]:
    """How a word may be written: `read_file` as readfile too, `readFile` as read_file too; a phrase only as it is."""
    text = term.text
    if term.exact or not _SINGLE.fullmatch(text):
        return (text,)
    parts = [part for part in _BROKEN.split(_HUMP.sub("_", text)) if part]
    if term.prefix and parts and len(parts[-1]) < _LEAST:
        return (text,)  # too many words begin with so little
    return tuple(dict.fromkeys((text, _BROKEN.sub("", text), " ".join(parts))))


def _term(term: Term) -> Match:
    star = " *" if term.prefix else ""
    # The end of a text is where a NUL stands, for the index; and a quote in a text is said by two.
    quoted = ['"' + folded(way).replace("\0", " ").replace('"', '""') + '"' + star for way in _distinct(term)]
    return Match(quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})")


def _distinct(term: Term) -> tuple[str, ...]:
    """The ways that the index can tell apart: to it, everything but letters and digits is a space."""
    return tuple({" ".join(re.findall(r"[^\W_]+", way.lower())): way for way in reversed(ways(term))}.values())[::-1]


def _and(parts: tuple[Node, ...]) -> Match:
    asked, excluded = _sorted(parts)
    if not asked:
        return Match(_any(excluded), excluded=True)
    found = asked[0] if len(asked) == 1 else f"({' AND '.join(asked)})"
    return Match(f"({found} NOT {_any(excluded)})" if excluded else found)


def _or(parts: tuple[Node, ...]) -> Match:
    asked, excluded = _sorted(parts)
    if not excluded:
        return Match(_any(asked))
    found = excluded[0] if len(excluded) == 1 else f"({' AND '.join(excluded)})"
    return Match(f"({found} NOT {_any(asked)})" if asked else found, excluded=True)


def _sorted(parts: tuple[Node, ...]) -> tuple[list[str], list[str]]:
    found = [match(part) for part in parts]
    return [one.text for one in found if not one.excluded], [one.text for one in found if one.excluded]


def _any(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({' OR '.join(texts)})"
