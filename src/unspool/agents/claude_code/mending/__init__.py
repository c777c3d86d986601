"""A damaged log made good: every line that can be read stays, as it is where nothing is wrong with it.

First the bytes, then the ids and what hangs from what, then the messages as they would be sent. What was done is
told, and what could not be kept is told with its bytes. Imports its own agent's modules alone.
"""

from collections.abc import Callable, Iterable, Mapping

from unspool.agents.claude_code.mending import repairs
from unspool.agents.claude_code.mending.rows import RepairRows
from unspool.agents.writing import RepairedLog

_ROUNDS = 8
"""What goes may leave something else alone; each round takes away, so few are enough."""


def repair_log(lines: Iterable[bytes], elsewhere: Callable[[], Mapping[str, str]] = dict) -> RepairedLog:
    """The lines of a log as the agent can resume it, and what was done.

    `elsewhere` gives the parents, by id, of lines that lie in the logs of the session's subagents; it is asked only
    where a parent is missing.
    """
    rows = RepairRows(lines)
    repairs.repair_links(rows, elsewhere)
    for _ in range(_ROUNDS):
        before = len(rows.deeds)
        repairs.repair_leaf(rows)
        for end in rows.ends():
            rows.end = end
            repairs.repair_contents(rows)
            repairs.repair_pairs(rows)
        rows.end = ""
        if len(rows.deeds) == before:
            break
    deeds = sorted(rows.deeds, key=lambda deed: deed.line)
    return RepairedLog([row.raw for row in rows.rows], tuple(deeds))
