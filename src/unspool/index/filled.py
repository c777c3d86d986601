"""What was put into the windows of all sessions, by kind and by tool: estimates, a session at a time."""

from typing import Any

import msgspec

from unspool.index.billing import Indexed, Wanted, active, of_project
from unspool.model.window import KINDS

UNACCOUNTED = "unaccounted"
"""What requests measured beyond what logs hold: the system prompt, the definitions of tools."""


class Filled(msgspec.Struct, frozen=True):
    """Tokens of one kind, or of one tool, and the sessions they were put into."""

    name: str
    tokens: int
    sessions: int


def filled(index: Indexed, wanted: Wanted | None = None) -> tuple[Filled, ...]:
    """Every kind that there was, the most tokens first, what is unaccounted for last."""
    rows = _sums(index, wanted or Wanted(), "kind")
    named = [Filled(KINDS[kind] if kind < len(KINDS) else UNACCOUNTED, *figures) for kind, *figures in rows]
    return tuple(sorted(named, key=lambda one: (one.name == UNACCOUNTED, -one.tokens, one.name)))


def filling_tools(index: Indexed, wanted: Wanted | None = None) -> tuple[Filled, ...]:
    """Every tool, by what it was told and what it answered, the most tokens first."""
    names = dict(index.db.execute("SELECT id, text FROM name WHERE id IN (SELECT tool FROM filled)"))
    rows = _sums(index, wanted or Wanted(), "tool")
    found = [Filled(names[tool], *figures) for tool, *figures in rows if tool is not None]
    return tuple(sorted(found, key=lambda one: (-one.tokens, one.name)))


def _sums(index: Indexed, wanted: Wanted, by: str) -> list[tuple[Any, ...]]:
    where = active(wanted) & of_project(index.db, wanted.project)
    return list(index.db.execute(_SUMS.format(by=by, where=where.sql), where.values))


_SUMS = """SELECT {by}, SUM(tokens), COUNT(DISTINCT session) FROM filled
WHERE session IN (SELECT id FROM session WHERE {where}) GROUP BY 1"""
