"""Words asked of SQLite's full text."""

from unspool.hub.sessions.asking import Condition
from unspool.index.match import match
from unspool.index.query import Node


def matching(tree: Node) -> Condition:
    """Passages that hold what is asked for."""
    found = match(tree)
    within = "passage.id IN (SELECT rowid FROM words WHERE words MATCH ?)"
    return Condition(f"NOT ({within})" if found.excluded else within, (found.text,))


def probe(tree: Node) -> Condition | None:
    """A query of the passages that hold it, for counting a few; None where most do."""
    found = match(tree)
    return None if found.excluded else Condition("SELECT rowid FROM words WHERE words MATCH ?", (found.text,))
