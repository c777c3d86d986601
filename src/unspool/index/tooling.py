"""Tools by their calls.

Tokens are billed by request, and a request may call several tools or none: which share of it a tool used is not
known, so none is told. Calls are counted a session at a time; history that several sessions share counts in each.
"""

import msgspec

from unspool.index.billing import Indexed, Wanted, active, of_project


class Tool(msgspec.Struct, frozen=True):
    """How often a tool was called, and how often that failed."""

    name: str
    calls: int
    errors: int
    sessions: int

    @property
    def failing(self) -> float:
        """Errors of all calls, 0 to 1."""
        return self.errors / self.calls if self.calls else 0.0


def tools(index: Indexed, wanted: Wanted | None = None) -> tuple[Tool, ...]:
    """The tools of all sessions that were active in the time asked for, the most called first."""
    wanted = wanted or Wanted()
    where = active(wanted) & of_project(index.db, wanted.project)
    rows = index.db.execute(_TALLY.format(where=where.sql), where.values)
    found = [Tool(name, calls, errors, sessions) for name, calls, errors, sessions in rows]
    return tuple(sorted(found, key=lambda tool: (-tool.calls, tool.name)))


_TALLY = """SELECT name.text, SUM(tally.calls), SUM(tally.errors), COUNT(DISTINCT session)
FROM tally JOIN name ON name.id = tally.tool
WHERE session IN (SELECT id FROM session WHERE {where}) GROUP BY tally.tool"""
