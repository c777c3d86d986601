"""What all sessions add up to, when the work is done, and on what.

Tokens and money are exact: each request once, by its own time. All else is counted a session at a time: sessions that
were active in the time asked for count whole, and history that several of them share counts in each.
"""

import time
from typing import TYPE_CHECKING, Any

import msgspec

from unspool.index.billing import QUARTER, Condition, Indexed, Wanted, active, added, fitting, of_project, within
from unspool.index.filled import Filled, filled, filling_tools
from unspool.index.periods import local
from unspool.index.streaks import Streak, streak
from unspool.index.sums import ModelSum, Sum
from unspool.index.tooling import Tool, tools
from unspool.index.usage import Row, usage
from unspool.index.wasted import Wasted, wasted

if TYPE_CHECKING:
    import apsw

LISTED = 10
"""How many of the most are told."""
_TRACES = "kind NOT IN ('ghost', 'empty', 'stub')"
"""What holds a conversation."""


class Totals(msgspec.Struct, frozen=True):
    """Counts over sessions."""

    sessions: int = 0
    projects: int = 0
    turns: int = 0
    """Prompts of every kind: each begins a turn."""
    messages: int = 0
    tool_calls: int = 0
    """Those of subagents included."""
    tool_errors: int = 0
    agents: int = 0
    compactions: int = 0
    commits: int = 0
    files: int = 0
    """Files read or changed."""


class Told(msgspec.Struct, frozen=True):
    """A session among the longest or dearest."""

    key: str
    title: str
    project: str
    started: float | None
    ended: float | None
    turns: int
    cost: int
    """Picodollars, of the whole session."""
    unpriced: int
    open: int
    """1 where a request of it never had final figures."""

    @property
    def seconds(self) -> float:
        """From the first line to the last."""
        return max(0.0, (self.ended or 0) - (self.started or 0)) if self.started is not None else 0.0


class Touched(msgspec.Struct, frozen=True):
    """A file, and how often it was read, written and edited."""

    path: str
    reads: int
    writes: int
    edits: int
    sessions: int


class Stats(msgspec.Struct, frozen=True):
    """Everything told."""

    totals: Totals
    sum: Sum
    models: tuple[ModelSum, ...]
    tools: tuple[Tool, ...]
    projects: tuple[Row, ...]
    days: tuple[Row, ...]
    """The busiest, the most tokens first."""
    hours: tuple[tuple[int, ...], ...]
    """Requests by day of the week, Monday first, and hour of the day."""
    longest: tuple[Told, ...]
    dearest: tuple[Told, ...]
    files: tuple[Touched, ...]
    streak: Streak
    untimed: int = 0
    daily: tuple[Row, ...] = ()
    """Every day, in order of time; what has no time last."""
    wasted: tuple[Wasted, ...] = ()
    """What was written to the cache again."""
    filled: tuple[Filled, ...] = ()
    """What was put into windows, by kind."""
    filling: tuple[Filled, ...] = ()
    """The same by tool."""


def stats(index: Indexed, wanted: Wanted | None = None, now: float | None = None, listed: int = LISTED) -> Stats:
    """What there is to tell of the sessions asked for; `wanted.model` narrows tokens and money only."""
    wanted, db = wanted or Wanted(), index.db
    days, projects = usage(index, "day", wanted), usage(index, "project", wanted)
    where = active(wanted) & of_project(db, wanted.project)
    used = tools(index, wanted)
    today = local(time.time() if now is None else now, wanted.zone).date()
    return Stats(
        _totals(db, where, wanted, used),
        days.sum,
        days.models,
        used,
        projects.rows,
        tuple(sorted((row for row in days.rows if row.key), key=lambda row: -row.sum.total)[:listed]),
        _hours(db, wanted),
        _sessions(db, where & Condition("ended > started"), "ended - started DESC", listed),
        _sessions(db, where & Condition("cost > 0"), "cost DESC", listed),
        _files(db, where, wanted, listed),
        streak([row.key for row in days.rows if row.key], today),
        days.untimed,
        days.rows,
        wasted(index, wanted),
        filled(index, wanted),
        filling_tools(index, wanted),
    )


class _Counts(msgspec.Struct):
    """The few figures that only the whole overview has."""

    agents: int = 0
    compactions: int = 0


def _totals(db: "apsw.Connection", where: Condition, wanted: Wanted, used: tuple[Tool, ...]) -> Totals:
    decode = msgspec.msgpack.Decoder(_Counts).decode
    agents = compactions = 0
    for (packed,) in _run(db, _OVERVIEWS, where):
        counts = decode(packed) if packed else _Counts()
        agents, compactions = agents + counts.agents, compactions + counts.compactions
    ((commits,),) = _run(db, _COMMITS, within(wanted, "git_commit.time"), where)
    ((files,),) = _run(db, _FILES, within(wanted, "touch.time"), where)
    ((sessions, projects, turns, messages),) = _run(db, _COUNTED, where)
    calls, errors = sum(tool.calls for tool in used), sum(tool.errors for tool in used)
    return Totals(sessions, projects, turns, messages, calls, errors, agents, compactions, commits, files)


def _run(db: "apsw.Connection", query: str, *conditions: Condition) -> list[tuple[Any, ...]]:
    """The rows of a query that leaves room for conditions."""
    values = tuple(value for condition in conditions for value in condition.values)
    return list(db.execute(query.format(*(condition.sql for condition in conditions)), values))


def _sessions(db: "apsw.Connection", where: Condition, order: str, listed: int) -> tuple[Told, ...]:
    rows = _run(db, f"{_TOLD} ORDER BY {order}, key LIMIT {listed:d}", where)
    return tuple(Told(*row) for row in rows)


def _hours(db: "apsw.Connection", wanted: Wanted) -> tuple[tuple[int, ...], ...]:
    where = within(wanted) & fitting(db, wanted) & Condition("time IS NOT NULL")
    week = [[0] * 24 for _ in range(7)]
    for quarter, requests, *_ in added(db, (f"CAST(FLOOR(time / {QUARTER}.0) AS INTEGER)",), where):
        moment = local(quarter * QUARTER, wanted.zone)
        week[moment.weekday()][moment.hour] += requests
    return tuple(map(tuple, week))


def _files(db: "apsw.Connection", where: Condition, wanted: Wanted, listed: int) -> tuple[Touched, ...]:
    """The files touched most. What several sessions hold copies of, by kind and moment, counts once."""
    rows = _run(db, f"{_TOUCHED} LIMIT {listed:d}", within(wanted, "touch.time"), where)
    return tuple(Touched(*row) for row in rows)


_OVERVIEWS = f"SELECT overview FROM session WHERE {{}} AND {_TRACES}"  # noqa: S608  no value
_COUNTED = f"""SELECT COUNT(*), COUNT(DISTINCT project), COALESCE(SUM(turns), 0), COALESCE(SUM(messages), 0)
FROM session WHERE {{}} AND {_TRACES}"""  # noqa: S608  no value
_TOLD = f"""SELECT key, title, project, started, ended, turns, cost, unpriced,
EXISTS (SELECT 1 FROM request WHERE request.session = session.id AND NOT final) FROM session
WHERE {{}} AND {_TRACES}"""  # noqa: S608  no value
_OF_SESSIONS = """JOIN turn ON turn.id = {table}.turn JOIN log ON log.id = turn.log
WHERE {{}} AND log.session IN (SELECT id FROM session WHERE {{}})"""
_COMMITS = f"SELECT COUNT(DISTINCT hash) FROM git_commit {_OF_SESSIONS.format(table='git_commit')}"  # noqa: S608
_FILES = f"SELECT COUNT(DISTINCT file) FROM touch {_OF_SESSIONS.format(table='touch')}"  # noqa: S608
_TOUCHED = f"""WITH
copies AS (
  SELECT file, how, touch.time AS time, log.session AS session, COUNT(*) AS number
  FROM touch {_OF_SESSIONS.format(table="touch")} GROUP BY 1, 2, 3, 4
),
once AS (
  SELECT file, how, MAX(number) AS number FROM copies WHERE time IS NOT NULL GROUP BY file, how, time
  UNION ALL SELECT file, how, number FROM copies WHERE time IS NULL
),
sessions AS (SELECT file, COUNT(DISTINCT session) AS number FROM copies GROUP BY file)
SELECT path, SUM(once.number * (how = 0)), SUM(once.number * (how = 1)), SUM(once.number * (how = 2)), sessions.number
FROM once JOIN sessions USING (file) JOIN file ON file.id = once.file
GROUP BY once.file ORDER BY SUM(once.number) DESC, path"""  # noqa: S608  no value
