"""The language of search: words, "phrases", prefix*, AND, OR, NOT, -word, parentheses and name:value filters.

Whatever is typed is a question. What is not closed is closed, what stands alone is left out, and `notes` says so.

Words beside each other must all be there; OR binds weaker than that. Filters hold for the whole question wherever
they stand; several of one name mean any of them, of several names all of them; `-name:value` excludes.
"""

import re
from collections.abc import Sequence
from datetime import tzinfo
from typing import NamedTuple

MOST_WORDS = 100
"""Words of one question; more say nothing more."""
DEEPEST = 20
"""Parentheses within parentheses."""

NAMES = (
    "project",
    "agent",
    "role",
    "tool",
    "model",
    "file",
    "branch",
    "kind",
    "is",
    "since",
    "until",
    "cost",
    "session",
)
"""The filters; any other word with a colon is just a word."""

_OPERATORS = ("AND", "OR", "NOT")
_QUOTES = '"“”'
_PIECE = re.compile(
    rf"""
    (?P<space>\s+)
    | (?P<minus>-(?=[^\s\-]))?
      (?: (?P<filter>{"|".join(NAMES)}):(?: [{_QUOTES}](?P<quoted>[^{_QUOTES}]*)(?P<shut>[{_QUOTES}]?)
                                          | (?P<value>[^\s{_QUOTES}]+) )
        | [{_QUOTES}](?P<phrase>[^{_QUOTES}]*)(?P<closed>[{_QUOTES}]?)(?P<star>\*?)
        | (?P<open>\()
        | (?P<close>\))
        | (?P<word>[^\s{_QUOTES}]+) )
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Term(NamedTuple):
    """A word or phrase as typed; `exact` where it was quoted."""

    text: str
    exact: bool = False
    prefix: bool = False


class Not(NamedTuple):
    """What must not be there."""

    part: "Node"


class And(NamedTuple):
    parts: tuple["Node", ...]


class Or(NamedTuple):
    parts: tuple["Node", ...]


Node = Term | Not | And | Or


class Filter(NamedTuple):
    """A condition that is no word."""

    name: str
    value: str
    excluded: bool = False


class SearchQuery(NamedTuple):
    tree: Node | None
    filters: tuple[Filter, ...] = ()
    notes: tuple[str, ...] = ()
    """What was mended or left out, a sentence each."""
    zone: tzinfo | None = None
    """Where its days begin; None: as this machine's clock has it."""


def parse_query(text: str, filters: Sequence[Filter] = (), zone: tzinfo | None = None) -> SearchQuery:
    """The question that a text asks, with more filters given beside it, by somebody whose days begin in that zone."""
    reader = _Reader([piece for found in _PIECE.finditer(_whole(text)) for piece in _pieces(found)])
    tree = reader.any_of(0)
    given = (one._replace(value=_whole(one.value)) for one in filters)
    return SearchQuery(tree, (*reader.filters, *given), tuple(dict.fromkeys(reader.notes)), zone)


def _whole(text: str) -> str:
    """The text without halves of characters, which no database takes."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def query_text(text: str) -> bool:
    """Whether a text holds anything that is indexed: a letter or a digit."""
    return any(char.isalnum() for char in text)


def query_terms(tree: Node | None) -> tuple[Term, ...]:
    """The words that are asked for, not those that are excluded, in order."""
    match tree:
        case None | Not():
            return ()
        case Term():
            return (tree,)
        case And(parts) | Or(parts):
            return tuple(term for part in parts for term in query_terms(part))


class _Piece(NamedTuple):
    kind: str
    """One of: open, close, term, filter, NOT, AND, OR, unclosed."""
    value: Term | Filter | None = None


def _pieces(found: re.Match[str]) -> list[_Piece]:
    minus = [_Piece("NOT")] if found["minus"] else []
    if found["filter"]:
        return minus + _filter(found)
    if found["phrase"] is not None:
        phrase = Term(found["phrase"], exact=True, prefix=bool(found["star"]))
        return [*minus, _Piece("term", phrase), *_unclosed(found["closed"])]
    if found["open"]:
        return [*minus, _Piece("open")]
    if found["close"]:
        return [*minus, _Piece("close")]
    return minus + _word(found["word"]) if found["word"] else []


def _filter(found: re.Match[str]) -> list[_Piece]:
    name = found["filter"].lower()
    if found["quoted"] is not None:
        return [_Piece("filter", Filter(name, found["quoted"])), *_unclosed(found["shut"])]
    value, closing = _closed(found["value"])
    return [_Piece("filter", Filter(name, value)), *closing]


def _unclosed(quote: str) -> list[_Piece]:
    return [] if quote else [_Piece("unclosed")]


def _word(word: str) -> list[_Piece]:
    word, closing = _closed(word)
    if word in _OPERATORS:
        return [_Piece(word), *closing]
    return [_Piece("term", Term(word.rstrip("*"), prefix=word.endswith("*"))), *closing]


def _closed(word: str) -> tuple[str, list[_Piece]]:
    """The word without the parentheses that close more than it opens: `f(x))` is `f(x)` and the end of a group."""
    body = word.rstrip(")")
    keep = min(len(word) - len(body), max(0, body.count("(") - body.count(")")))
    return word[: len(body) + keep], [_Piece("close")] * (len(word) - len(body) - keep)


class _Reader:
    """Reads pieces into a tree; `filters` and `notes` are complete when it is done."""

    def __init__(self, pieces: list[_Piece]) -> None:
        self._pieces = pieces
        self._at = 0
        self._words = 0
        self._excluded = False
        self.filters: list[Filter] = []
        self.notes: list[str] = []

    def any_of(self, depth: int) -> Node | None:
        """Alternatives, to the end of the group or of the question."""
        found = [self._all_of(depth)]
        while self._take("OR"):
            found.append(self._all_of(depth))
        if len(found) > 1 and None in found:
            self.notes.append("OR joins words; with none on one side it was left out. Filters hold for all.")
        return _joined(Or, found)

    def _all_of(self, depth: int) -> Node | None:
        found: list[Node | None] = []
        while (kind := self._next()) and kind != "OR" and not (kind == "close" and depth):
            if self._take("close"):
                self.notes.append("A parenthesis that closes nothing was left out.")
            elif self._take("unclosed"):
                self.notes.append("A quote that was not closed goes to the end.")
            elif not self._take("AND"):
                found.append(self._one(depth))
        return _joined(And, found)

    def _one(self, depth: int) -> Node | None:
        """One word, phrase, filter or group, negated as often as it says."""
        before = self._excluded
        while self._take("NOT"):
            self._excluded = not self._excluded
        part = self._positive(depth)
        negated, self._excluded = self._excluded != before, before
        return Not(part) if negated and part is not None else part

    def _positive(self, depth: int) -> Node | None:
        if self._take("open"):
            return self._group(depth)
        if self._next() not in ("term", "filter"):
            self.notes.append("NOT with nothing behind it was left out.")
            return None
        value = self._pieces[self._at].value
        self._at += 1
        if isinstance(value, Filter):
            self.filters.append(value._replace(excluded=self._excluded))
        return self._term(value) if isinstance(value, Term) else None

    def _group(self, depth: int) -> Node | None:
        if depth >= DEEPEST:
            self.notes.append(f"Parentheses deeper than {DEEPEST} were left out.")
            return None
        found = self.any_of(depth + 1)
        if not self._take("close"):
            self.notes.append("A parenthesis that was not closed goes to the end.")
        return found

    def _term(self, term: Term) -> Term | None:
        if not query_text(term.text):
            shown = term.text or ("*" if term.prefix else '""')
            self.notes.append(f"{shown} holds no letter or digit and was left out; --substring finds such text.")
            return None
        self._words += 1
        if self._words > MOST_WORDS:
            self.notes.append(f"Only the first {MOST_WORDS} words were asked for.")
            return None
        return term

    def _next(self) -> str:
        """The kind of the piece that comes; empty at the end."""
        return self._pieces[self._at].kind if self._at < len(self._pieces) else ""

    def _take(self, kind: str) -> bool:
        taken = self._next() == kind
        self._at += taken
        return taken


def _joined(kind: type[And] | type[Or], found: list[Node | None]) -> Node | None:
    """One node of those there are, flat where they are of the same kind."""
    parts: list[Node] = []
    for node in found:
        if node is not None:
            parts.extend(node.parts if isinstance(node, kind) else (node,))
    return None if not parts else parts[0] if len(parts) == 1 else kind(tuple(parts))
