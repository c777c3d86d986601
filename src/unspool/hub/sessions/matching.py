"""What a question asks of parts of texts and of their passages.

Three answers, each surer and dearer than the one before: the numbers that a part must have, by which a database finds
it; the passages that may be meant, by the part's signature; and the proof, by a passage's own words.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from unspool.hub.store.signature import AskedWords, PartSignature
from unspool.hub.store.texts import SessionPassage, kind_rank
from unspool.hub.store.words import (
    BEGINNING,
    as_array,
    as_tokens,
    beginning_number,
    project_number,
    split_tokens,
    word_number,
)
from unspool.store.index.conditions import SqlCondition, all_of, any_of
from unspool.store.index.normalize_text import match_ways, normalize_text
from unspool.store.index.query import And, Node, Not, Or, Term

_NOTHING = b"\x01"
"""A word that no text has."""


Words = tuple[bytes, ...]


@lru_cache(1000)
def _ways(term: Term) -> tuple[Words, ...]:
    """The ways a word or phrase may be written, each as the words that it is cut into."""
    cut = dict.fromkeys(tuple(split_tokens(normalize_text(way))) for way in match_ways(term))
    return tuple(words for words in cut if words) or ((_NOTHING,),)


def _numbers(term: Term) -> list[list[int]]:
    """The numbers that a part must have, for each of the ways."""
    found = []
    for words in _ways(term):
        whole = words[:-1] if term.prefix else words
        begun = [words[-1][:BEGINNING]] if term.prefix and len(words[-1]) >= BEGINNING else []
        found.append([*map(word_number, whole), *map(beginning_number, begun)])
    return found


def array_condition(tree: Node) -> SqlCondition | None:
    """What a part must hold for a passage of it to be what is asked for, in PostgreSQL; None for nothing.

    Of a phrase that is its words; what must not be there in a passage may well be in another one of the part.
    """
    match tree:
        case Term():
            ways = _numbers(tree)
            held = [SqlCondition("text_part.words @> ?::int[]", (as_array(numbers),)) for numbers in ways]
            return any_of(held) if all(ways) else None
        case Not():
            return None
        case And(parts):
            both = [one for part in parts if (one := array_condition(part)) is not None]
            return all_of(both) if both else None
        case Or(parts):
            either = [array_condition(part) for part in parts]
            return None if None in either else any_of(filter(None, either))


def in_projects(words: SqlCondition, projects: Sequence[str]) -> SqlCondition:
    """The same of projects, in PostgreSQL."""
    numbers = as_array(map(project_number, projects))
    return words & SqlCondition("text_part.words && ?::int[]", (numbers,))


def full_text(tree: Node) -> str | None:
    """The same as `array_condition`, as the full text of SQLite says it."""
    match tree:
        case Term():
            ways = _numbers(tree)
            held = [" AND ".join(_quoted(numbers)) for numbers in ways]
            return f"(({') OR ('.join(held)}))" if all(ways) else None
        case Not():
            return None
        case And(parts):
            both = [one for part in parts if (one := full_text(part)) is not None]
            return f"({' AND '.join(both)})" if both else None
        case Or(parts):
            either = [full_text(part) for part in parts]
            return None if None in either else f"({' OR '.join(filter(None, either))})"


def full_text_in_projects(words: str, projects: Sequence[str]) -> str:
    """The same of projects."""
    return f"{words} AND ({' OR '.join(_quoted(map(project_number, projects)))})"


def _quoted(numbers: Iterable[int]) -> list[str]:
    return [f'"{token}"' for token in as_tokens(numbers).split()]


@lru_cache(1000)
def _asked(term: Term) -> tuple[AskedWords, ...]:
    return tuple(AskedWords(words, prefix=term.prefix) for words in _ways(term))


def _may_be_in(tree: Node, signature: PartSignature) -> int:
    """The passages that may be as a question wants them."""
    found = 0
    match tree:
        case Term():
            for asked in _asked(tree):
                found |= asked.may_hold(signature)
        case Not(part):
            found = signature.all & ~_surely_in(part, signature)
        case And(parts):
            found = signature.all
            for part in parts:
                found = found and found & _may_be_in(part, signature)
        case Or(parts):
            for part in parts:
                found |= _may_be_in(part, signature)
    return found


def _surely_in(tree: Node, signature: PartSignature) -> int:
    """The passages that are known to be as a question wants them."""
    found = 0
    match tree:
        case Term():
            for asked in _asked(tree):
                found |= asked.surely_hold(signature)
        case Not(part):
            found = signature.all & ~_may_be_in(part, signature)
        case And(parts):
            found = signature.all
            for part in parts:
                found &= _surely_in(part, signature)
        case Or(parts):
            for part in parts:
                found |= _surely_in(part, signature)
    return found


class PassageQuestion(NamedTuple):
    """What is asked of passages: their kinds, if that matters, and their words."""

    kinds: frozenset[str] | None
    tree: Node | None

    def candidates(self, signature: PartSignature) -> int:
        """The passages of a part that may be meant."""
        found = signature.all if self.kinds is None else signature.of_kinds(set(map(kind_rank, self.kinds)))
        return found and found if self.tree is None else found and found & _may_be_in(self.tree, signature)

    def is_met_by(self, passage: SessionPassage) -> bool:
        if self.kinds is not None and passage.kind not in self.kinds:
            return False
        return self.tree is None or _is_in(self.tree, b" %b " % b" ".join(split_tokens(passage.body)))


def _is_in(tree: Node, words: bytes) -> bool:
    """Whether words, with a space before and after each, are as a question wants them."""
    match tree:
        case Term():
            end = b"" if tree.prefix else b" "
            return any(b" %b%b" % (b" ".join(way), end) in words for way in _ways(tree))
        case Not(part):
            return not _is_in(part, words)
        case And(parts):
            return all(_is_in(part, words) for part in parts)
        case Or(parts):
            return any(_is_in(part, words) for part in parts)
