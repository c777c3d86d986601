"""Exact patterns: a text or a regular expression, with what can be told of it before any text is read.

Capitals count only where the pattern has some. `literals` stand in every text that fits; `words` is an expression of
the full-text index that fits every such document, where the pattern holds words that are certainly whole.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from unspool.errors import UsageProblem
from unspool.index.results import Snippet
from unspool.index.snippet import snippet

_MOST = 300
_VERBATIM = re.compile(r"[A-Za-z0-9_ .,:;!?@#$%^*()\[\]{}=+|~`-]+")
"""What every writer of JSON writes as it is."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_LITERAL = re.compile(r"\\[^A-Za-z0-9]|[^\\.^$*+?{}\[\]()|]")


class Pattern(NamedTuple):
    """What to look for in texts."""

    regex: re.Pattern[str]
    literals: tuple[str, ...] = ()
    """Longest first."""
    words: str = ""

    def spans(self, text: str) -> list[tuple[tuple[int, int], int]]:
        """Where it stands in a text."""
        found = (one.span() for one in self.regex.finditer(text) if one.end() > one.start())
        return [(span, 0) for span in islice(found, _MOST)]

    @property
    def hint(self) -> tuple[bytes, bool]:
        """Bytes that stand in every line that fits, and whether their case counts; none where nothing is sure."""
        found = (part for literal in self.literals for part in _VERBATIM.findall(literal))
        longest = max(found, key=len, default="")
        exact = not self.regex.flags & re.IGNORECASE
        return (longest if exact else longest.lower()).encode(), exact


class Seek:
    """Looks for a pattern in texts."""

    def __init__(self, pattern: Pattern, size: int) -> None:
        self._pattern = pattern
        self._size = size

    def pick(self, texts: Sequence[str]) -> Snippet | None:
        """The piece around the first place where it fits."""
        for text in texts:
            spans = self._pattern.spans(text)
            if spans:
                return snippet(text, spans, self._size)
        return None


def substring(text: str) -> Pattern:
    """A text as it is."""
    if not text:
        raise UsageProblem("An empty text is everywhere; say what to look for.")
    return Pattern(re.compile(re.escape(text), _flags(text)), (text,), _words([text]))


def regular(text: str) -> Pattern:
    """A regular expression of Python; UsageProblem where it is none."""
    try:
        regex = re.compile(text, _flags(re.sub(r"\\.", "", text)) | re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageProblem(f"{text!r} is no regular expression: {error}.") from None
    literals = sorted(_literals(text), key=len, reverse=True)
    return Pattern(regex, tuple(literals), _words(literals))


def _flags(text: str) -> re.RegexFlag:
    return re.NOFLAG if any(char.isupper() for char in text) else re.IGNORECASE


def _words(literals: Sequence[str]) -> str:
    """Words that are whole wherever the literals stand, as an expression; a last one may go on."""
    phrases = [phrase for literal in literals for phrase in _phrases(literal)]
    return " AND ".join(phrases)


def _phrases(literal: str) -> Iterator[str]:
    """Runs of ASCII within a line are safe: beside another character it is not sure where a word begins.

    A number that begins a line may be the line's own, which the index leaves out.
    """
    for run in re.findall(r"[\x00-\x09\x0b-\x7f]+", literal):
        words = run[len(run) - len(run.lstrip(" 0123456789")) :]
        start = len(run) - len(words)
        whole = [one for one in _TOKEN.finditer(run, start) if one.start() > 0 and not run[one.start() - 1].isalnum()]
        if not whole:
            continue
        goes_on = whole[-1].end() == len(run)
        yield '"' + " ".join(one[0] for one in whole) + '"' + (" *" if goes_on else "")


def _literals(text: str) -> list[str]:
    """Texts that stand in whatever the expression fits: runs of plain characters outside of groups and choices."""
    if "|" in text or "(?" in text:
        return []
    found: list[str] = []
    run, depth, at = "", 0, 0
    while at < len(text):
        plain = _LITERAL.match(text, at)
        if plain and not depth:
            after = text[plain.end() : plain.end() + 1]
            kept = after not in ("*", "?", "{")
            run += _ESCAPED.sub(r"\1", plain[0]) if kept else ""
            at = plain.end()
            if after in ("*", "?", "{", "+") and after:
                found, run = [*found, run], ""
            continue
        found, run = [*found, run], ""
        depth, at = _passed(text, at, depth)
    return [one for one in [*found, run] if one]


def _passed(text: str, at: int, depth: int) -> tuple[int, int]:
    """Past what is no plain character: the depth of groups, and where to go on."""
    char = text[at]
    if char == "[":
        return depth, _class_end(text, at)
    if char == "{":
        return depth, text.find("}", at) + 1 or len(text)
    if char == "\\":
        return depth, at + 2
    return depth + (char == "(") - (char == ")"), at + 1


def _class_end(text: str, at: int) -> int:
    """Past a class of characters; a bracket that comes first in it belongs to it."""
    end = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL).match(text, at)
    return end.end() if end else len(text)
