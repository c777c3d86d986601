"""What a search gives, and snippets that show why."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise

import msgspec

from unspool.store.index.normalize_text import join_letters, match_ways, normalize_text
from unspool.store.index.query import Term


class Snippet(msgspec.Struct, frozen=True):
    """A piece of a text, and where in it stands what was asked for: pairs of start and end, in characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    before: bool = False
    """Whether text was left out before it."""
    after: bool = False


class Hit(msgspec.Struct, frozen=True):
    kind: str
    """title, prompt, answer, thinking, call, result or notice."""
    snippet: Snippet
    turn: int | None
    """The turn, as `show --turn` takes it; null where the whole session is meant, as by its title."""
    time: int | None = None
    """Milliseconds of the epoch; null where there is no turn."""
    anchor: str = ""
    """What its block is called on the pages of its session; of its turn, where the line has no time."""
    tool: str = ""
    error: bool = False
    agent: str = ""
    """The subagent that it was met in."""
    log: str = ""
    """The log, below its source, and the byte where the line begins."""
    place: int = 0
    link: str = ""
    """The command that opens it."""
    file: str = ""
    """The file that was touched, where files are asked for."""
    how: str = ""
    """What was done with it: read, write or edit."""
    branch: int = 0
    """The branch that the turn stands on; 0 is the live one."""


class FoundSession(msgspec.Struct, frozen=True):
    """A session, how often it was hit, and its best hits."""

    session: str
    title: str
    project: str
    kind: str
    branch: str
    started: float | None
    ended: float | None
    cost: float
    """Dollars at list prices."""
    score: float
    """Greater is better; 0 where nothing was weighed and the newest comes first."""
    count: int
    """How many places were hit."""
    hits: tuple[Hit, ...]
    resume: str = ""
    """The command that goes on with it in its agent."""
    floor: bool = False
    """Whether it cost more than is known: a price is not known, or its log never held the final figures."""
    agent: str = ""
    """The id of the agent that it is of."""


class FoundContextFile(msgspec.Struct, frozen=True):
    """A context file that holds what was asked for, in the newest version that does."""

    kind: str
    path: str
    project: str
    """The folder whose sessions run under it; empty where it holds for all."""
    agents: tuple[str, ...]
    time: float
    """Since when the version was so."""
    version: int
    """Its number, counted from 1."""
    versions: int
    """How many the file has."""
    current: bool
    """Whether it is still so today, as far as the last sync saw."""
    snippet: Snippet


class SearchResults(msgspec.Struct, frozen=True):
    sessions: tuple[FoundSession, ...]
    sessions_found: int | None
    """How many there are in all; null where the search stopped when it had enough."""
    hits_found: int | None
    notes: tuple[str, ...] = ()
    """What was mended in the question or left out of it, a sentence each."""
    context_files: tuple[FoundContextFile, ...] = ()
    """A few, where no kind of them was asked for."""
    context_files_found: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.sessions and not self.context_files

    def with_context_files(self, found: Sequence[FoundContextFile], number: int) -> "SearchResults":
        """The same, with context files of which there are so many in all."""
        return msgspec.structs.replace(self, context_files=tuple(found), context_files_found=number)

    def noting(self, notes: tuple[str, ...]) -> "SearchResults":
        """The same, with more notes."""
        return msgspec.structs.replace(self, notes=(*notes, *self.notes)) if notes else self


_BEYOND = "\U000f0000"
"""From here on stand, in flat texts, the characters that are words by themselves: there they are no letters."""
_LETTER = r"[^\W_]"
_SPACE = rf"(?:[^\w{_BEYOND}-\U0010ffff]|_)"
_WORDS = re.compile(rf"{_LETTER}+|[{_BEYOND}-\U0010ffff]")
_MOST = 300
"""Marks of one word that are looked at: the first ones tell enough."""

Span = tuple[int, int]


class _Plain(dict[int, str]):
    """Each character as one plain small letter, so that places stay as they are."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKC", char)[:1]
        if join_letters(plain):
            self[code] = found = chr(ord(_BEYOND) | (ord(plain) & 0xFFFF))
            return found
        base = unicodedata.normalize("NFKD", char)[:1].lower()
        self[code] = found = base if len(base) == 1 else char
        return found


_PLAIN = _Plain()


def flatten_text(text: str) -> str:
    """The text without case, accents and disguises, of the same length."""
    return text.lower() if text.isascii() else text.translate(_PLAIN)


def word_patterns(terms: Iterable[Term]) -> list[re.Pattern[str]]:
    """A pattern for each word or phrase, for `flat` texts."""
    return [made for term in terms if (made := _pattern(term)) is not None]


def _pattern(term: Term) -> re.Pattern[str] | None:
    found = [
        _way(tokens, prefix=term.prefix)
        for way in match_ways(term)
        if (tokens := _WORDS.findall(flatten_text(normalize_text(way))))
    ]
    return re.compile("|".join(dict.fromkeys(found))) if found else None


def _way(tokens: Sequence[str], *, prefix: bool) -> str:
    """Begins with a letter of its own, which the engine can jump to, and then looks back."""
    first, last = tokens[0], tokens[-1]
    parts = [re.escape(first)]
    if first < _BEYOND:
        parts.append(f"(?<!{_LETTER}{re.escape(first)})")
    for before, token in pairwise(tokens):
        parts.append(_SPACE + ("*" if max(before, token) >= _BEYOND else "+") + re.escape(token))
    if last < _BEYOND:
        parts.append(f"{_LETTER}*" if prefix else f"(?!{_LETTER})")
    return "".join(parts)


def word_marks(text: str, sought: Sequence[re.Pattern[str]]) -> list[tuple[Span, int]]:
    """Where the words stand, in order, each with the number of the pattern that found it."""
    plain = flatten_text(text)
    found: list[tuple[Span, int]] = []
    for number, pattern in enumerate(sought):
        found += [(one.span(), number) for one in islice(pattern.finditer(plain), _MOST)]
    return sorted(found)


def make_snippet(text: str, found: Sequence[tuple[Span, int]], size: int) -> Snippet:
    """About `size` characters where most of what was found stands together."""
    first = _best(found, size)
    start = max(0, min(first - size // 4, len(text) - size))
    start = _word_start(text, start, first)
    end = min(len(text), start + size)
    inside = ((max(a, start) - start, min(b, end) - start) for (a, b), _ in found if a < end and b > start)
    return Snippet(text[start:end], _merged(inside), start > 0, end < len(text))


def _best(found: Sequence[tuple[Span, int]], size: int) -> int:
    """The mark at which a window begins that holds the most different words, and most of them."""
    best, where = (0, 0), found[0][0][0] if found else 0
    last = 0
    counts: dict[int, int] = {}
    for (start, _), number in found:
        while last < len(found) and found[last][0][0] < start + max(1, size * 3 // 4):
            counts[found[last][1]] = counts.get(found[last][1], 0) + 1
            last += 1
        kept = {one: count for one, count in counts.items() if count > 0}
        worth = len(kept), sum(kept.values())
        if worth > best:
            best, where = worth, start
        counts[number] = counts.get(number, 0) - 1
    return where


def _word_start(text: str, start: int, first: int) -> int:
    """The beginning of a word at or a little after `start`, but not after the first mark."""
    if start == 0:
        return 0
    for at in range(start, min(first, start + 20)):
        if text[at - 1].isspace():
            return at
    return start


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)
