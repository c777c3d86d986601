"""Words asked of SQLite's full text."""

from unspool.hub.sessions.asking import Condition, among
from unspool.hub.store.database import Database
from unspool.index.match import match
from unspool.index.query import Node

_MANY = 2_000
"""Passages that are gathered at most."""
_AMONG = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"


def gathered(db: Database, tree: Node) -> Condition | None:
    """Sessions of passages that hold what is asked for, gathered first; None where there are too many for that."""
    found = match(tree)
    if found.excluded:
        return None
    join = "SELECT passage.session FROM words CROSS JOIN passage ON passage.id = words.rowid WHERE words MATCH ?"
    rows = db.rows(f"{join} LIMIT {_MANY + 1}", found.text)
    return among("session.id", sorted({session for (session,) in rows})) if len(rows) <= _MANY else None


def inside(db: Database, session: str, tree: Node) -> Condition:
    """Passages of one session that hold what is asked for; they lie together."""
    found = match(tree)
    first, last = db.row("SELECT min(id), max(id) FROM passage WHERE session = ?", session) or (0, 0)
    sign = "NOT IN" if found.excluded else "IN"
    return Condition(f"passage.id {sign} ({_AMONG})", (found.text, first, last))
