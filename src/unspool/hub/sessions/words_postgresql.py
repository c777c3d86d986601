"""Words asked of PostgreSQL's full text, so that it finds what SQLite's would."""

from unspool.hub.sessions.asking import Condition
from unspool.hub.store.words import quoted, words
from unspool.index.fold import folded
from unspool.index.match import ways
from unspool.index.query import And, Node, Not, Or, Term

_NOTHING = quoted("\x01")
"""A word that no text has."""


def sessions(tree: Node) -> Condition:
    """A query of the sessions of passages that hold what is asked for."""
    return Condition("SELECT passage.session FROM passage WHERE passage.words @@ ?::tsquery", (_query(tree),))


def holding(tree: Node) -> Condition:
    """Passages that hold what is asked for."""
    return Condition("passage.words @@ ?::tsquery", (_query(tree),))


def _query(tree: Node) -> str:
    match tree:
        case Term():
            return _term(tree)
        case Not(part):
            return f"!({_query(part)})"
        case And(parts):
            return "(" + " & ".join(map(_query, parts)) + ")"
        case Or(parts):
            return "(" + " | ".join(map(_query, parts)) + ")"


def _term(term: Term) -> str:
    """Any of the ways a word may be written; each a phrase of the words that it is cut into."""
    cut = dict.fromkeys(tuple(words(folded(way))) for way in ways(term))
    phrases = [_phrase(found, prefix=term.prefix) for found in cut if found]
    return "(" + " | ".join(phrases or [_NOTHING]) + ")"


def _phrase(found: tuple[str, ...], *, prefix: bool) -> str:
    asked = [quoted(word) for word in found]
    if prefix:
        asked[-1] += ":*"
    return "(" + " <-> ".join(asked) + ")"
