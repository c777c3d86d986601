"""Words asked of PostgreSQL's full text, so that it finds what SQLite's would."""

from typing import Any

import msgspec

from unspool.hub.sessions.asking import Condition
from unspool.hub.store.database import Database
from unspool.hub.store.words import quoted, words
from unspool.index.fold import folded
from unspool.index.match import ways
from unspool.index.query import And, Node, Not, Or, Term

_MANY = 3_000
"""Passages that are gathered at most, as the server expects."""
_NOTHING = quoted("\x01")
"""A word that no text has."""


def holding(tree: Node) -> Condition:
    """Passages that hold what is asked for."""
    return Condition("passage.words @@ ?::tsquery", (_query(tree),))


def gathered(db: Database, tree: Node, passages: Condition) -> Condition | None:
    """Sessions with such passages, gathered first; None where the server expects too many of them for that."""
    found = holding(tree)
    plan = db.row(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM passage WHERE {found.sql}", *found.values)  # noqa: S608
    if plan is None or _expected(plan[0]) > _MANY:
        return None
    inner = f"SELECT DISTINCT passage.session FROM passage WHERE {passages.sql}"  # noqa: S608
    sql = f"session.id IN (WITH found AS MATERIALIZED ({inner}) SELECT found.session FROM found)"  # noqa: S608
    return Condition(sql, passages.values)


def _expected(plan: Any) -> float:
    """How many rows a plan says there are."""
    told = msgspec.json.decode(plan) if isinstance(plan, str | bytes) else plan
    return float(told[0]["Plan"]["Plan Rows"])


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
