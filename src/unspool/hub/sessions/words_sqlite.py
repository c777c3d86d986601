"""Words asked of SQLite's full text."""

from unspool.hub.sessions.asking import Condition
from unspool.hub.store.database import Database
from unspool.index.match import match
from unspool.index.query import Node

_FOUND = "SELECT 1 FROM words WHERE words.rowid = passage.id AND words MATCH ?"
_AMONG = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"


def sessions(tree: Node) -> Condition | None:
    """A query of the sessions of passages that hold what is asked for; None where most passages do."""
    found = match(tree)
    if found.excluded:
        return None
    join = "SELECT passage.session FROM words CROSS JOIN passage ON passage.id = words.rowid WHERE words MATCH ?"
    return Condition(join, (found.text,))


def holding(tree: Node) -> Condition:
    """Passages that hold what is asked for, one at a time."""
    found = match(tree)
    return Condition(f"{'NOT ' if found.excluded else ''}EXISTS ({_FOUND})", (found.text,))


def inside(db: Database, session: str, tree: Node) -> Condition:
    """The same, of all passages of one session; these lie together."""
    found = match(tree)
    first, last = db.row("SELECT min(id), max(id) FROM passage WHERE session = ?", session) or (0, 0)
    sign = "NOT IN" if found.excluded else "IN"
    return Condition(f"passage.id {sign} ({_AMONG})", (found.text, first, last))
