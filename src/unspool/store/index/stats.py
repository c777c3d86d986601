"""What all sessions add up to: windows, cache waste, streaks, tools, files."""

import time
from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from operator import add
from typing import Any

import msgspec

from unspool.model import CallEnd
from unspool.model.blocks import count_ends
from unspool.model.usage import CAUSES, KINDS
from unspool.store.index import billing
from unspool.store.index.billing import ALL_USAGE, QUARTER, HasDatabase, ModelUsage, UsageFilter, UsageSum, within_span
from unspool.store.index.conditions import IS_LISTED, SqlCondition
from unspool.store.index.times import local_time
from unspool.store.index.usage import UsagePeriod, usage_report

UNACCOUNTED = "unaccounted"
"""What requests measured beyond what logs hold: the system prompt, the definitions of tools."""


class FilledKind(msgspec.Struct, frozen=True):
    """Tokens of one kind, or of one tool, and the sessions they were put into."""

    name: str
    tokens: int
    sessions: int


def filled_kinds(index: HasDatabase, wanted: UsageFilter = ALL_USAGE) -> tuple[FilledKind, ...]:
    """Every kind that there was, the most tokens first, what is unaccounted for last."""
    rows = _run(index, _FILLED.format("kind"), billing.fitting_sessions(index.db, wanted))
    named = [FilledKind(KINDS[kind] if kind < len(KINDS) else UNACCOUNTED, *figures) for kind, *figures in rows]
    return tuple(sorted(named, key=lambda one: (one.name == UNACCOUNTED, -one.tokens, one.name)))


def filling_tools(index: HasDatabase, wanted: UsageFilter = ALL_USAGE) -> tuple[FilledKind, ...]:
    """Every tool, by what it was told and what it answered, the most tokens first."""
    rows = _run(index, _FILLED.format(_TOOL), billing.fitting_sessions(index.db, wanted))
    found = [FilledKind(*row) for row in rows if row[0] is not None]
    return tuple(sorted(found, key=lambda one: (-one.tokens, one.name)))


_TOOL = "(SELECT text FROM name WHERE name.id = filled.tool)"
_FILLED = """SELECT {}, SUM(tokens), COUNT(DISTINCT session) FROM filled
WHERE session IN (SELECT id FROM session WHERE {{}}) GROUP BY 1"""


class WastedCache(msgspec.Struct, frozen=True):
    """What one cause made requests write again."""

    cause: str
    requests: int
    tokens: int
    cost: int
    """Picodollars more than reading the same would have cost."""
    unpriced: int
    """Requests of these whose price is not known."""


def wasted_cache(index: HasDatabase, wanted: UsageFilter = ALL_USAGE) -> tuple[WastedCache, ...]:
    """Every cause that there was, the most tokens first. Each request counts once, as in all sums of tokens."""
    where = within_span(wanted) & billing.fitting_requests(index.db, wanted)
    sums: dict[int, list[int]] = {}
    for cause, *figures in billing.grouped_rows(index.db, _WASTED.format(where.sql), where.values, "rewrite.rowid"):
        sums[cause] = list(map(add, sums.get(cause, [0] * len(figures)), figures))
    found = [WastedCache(CAUSES[cause], *figures) for cause, figures in sums.items()]
    return tuple(sorted(found, key=lambda one: (-one.tokens, one.cause)))


_WASTED = """SELECT cause, COUNT(*), SUM(rewrite.tokens), COALESCE(SUM(rewrite.cost), 0), SUM(rewrite.cost IS NULL)
FROM rewrite CROSS JOIN request INDEXED BY request_message USING (session, message, request)
WHERE counts = 1 AND ({}) GROUP BY cause"""


class DayStreak(msgspec.Struct, frozen=True):
    """How many days something was done, and how many in a row."""

    days: int = 0
    longest: int = 0
    current: int = 0
    """Days in a row up to today, or up to yesterday where today has nothing yet."""
    first: str = ""
    last: str = ""


def longest_streak(days: Iterable[str], today: date) -> DayStreak:
    """The streaks of days that are written 2026-01-31."""
    found = sorted({date.fromisoformat(day) for day in days})
    if not found:
        return DayStreak()
    longest = run = 0
    before: date | None = None
    for day in found:
        run = run + 1 if before is not None and day - before == timedelta(days=1) else 1
        longest, before = max(longest, run), day
    current = run if today - timedelta(days=1) <= found[-1] <= today else 0
    return DayStreak(len(found), longest, current, found[0].isoformat(), found[-1].isoformat())


class ToolStats(msgspec.Struct, frozen=True):
    name: str
    calls: int
    errors: int
    sessions: int
    refused: int = 0
    interrupted: int = 0
    unanswered: int = 0
    """Calls without a result."""

    @property
    def ends(self) -> Counter[CallEnd]:
        """How calls ended that did not go well."""
        return count_ends(self.errors, self.refused, self.interrupted, self.unanswered)

    @property
    def failing(self) -> float:
        """Errors of all calls, 0 to 1."""
        return self.errors / self.calls if self.calls else 0.0


def tool_stats(index: HasDatabase, wanted: UsageFilter = ALL_USAGE) -> tuple[ToolStats, ...]:
    """The tools of all sessions that were active in the time asked for, the most called first."""
    return tuple(ToolStats(*row) for row in _run(index, _TALLY, billing.fitting_sessions(index.db, wanted)))


_TALLY = """SELECT name.text, SUM(tally.calls), SUM(tally.errors), COUNT(DISTINCT log.session), SUM(tally.refused),
SUM(tally.interrupted), SUM(tally.unanswered)
FROM tally JOIN name ON name.id = tally.tool JOIN turn ON turn.id = tally.turn JOIN log ON log.id = turn.log
WHERE NOT turn.copied AND log.session IN (SELECT id FROM session WHERE {}) GROUP BY tally.tool ORDER BY 2 DESC, 1"""


LISTED = 10
"""How many of the most are told."""
_TRACES = "kind NOT IN ('ghost', 'empty', 'stub') AND version_of IS NULL"
"""What holds a conversation, once a session."""


class StatTotals(msgspec.Struct, frozen=True):
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
    tool_refusals: int = 0
    tool_interruptions: int = 0
    tool_unanswered: int = 0
    """Calls without a result."""

    @property
    def ends(self) -> Counter[CallEnd]:
        """How calls ended that did not go well."""
        return count_ends(self.tool_errors, self.tool_refusals, self.tool_interruptions, self.tool_unanswered)


class StatNotes(msgspec.Struct, frozen=True):
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


class TouchedFile(msgspec.Struct, frozen=True):
    path: str
    reads: int
    writes: int
    edits: int
    sessions: int


class IndexStats(msgspec.Struct, frozen=True):
    totals: StatTotals
    sum: UsageSum
    models: tuple[ModelUsage, ...]
    tools: tuple[ToolStats, ...]
    projects: tuple[UsagePeriod, ...]
    days: tuple[UsagePeriod, ...]
    """The busiest, the most tokens first."""
    hours: tuple[tuple[int, ...], ...]
    """Requests by day of the week, Monday first, and hour of the day."""
    longest: tuple[StatNotes, ...]
    dearest: tuple[StatNotes, ...]
    files: tuple[TouchedFile, ...]
    streak: DayStreak
    untimed: int = 0
    daily: tuple[UsagePeriod, ...] = ()
    """Every day, in order of time; what has no time last."""
    wasted: tuple[WastedCache, ...] = ()
    """What was written to the cache again."""
    filled: tuple[FilledKind, ...] = ()
    """What was put into windows, by kind."""
    filling: tuple[FilledKind, ...] = ()
    """The same by tool."""


def index_stats(
    index: HasDatabase, wanted: UsageFilter = ALL_USAGE, now: float | None = None, listed: int = LISTED
) -> IndexStats:
    """What there is to tell of the sessions asked for; `wanted.model` narrows tokens and money only."""
    days, projects = usage_report(index, "day", wanted), usage_report(index, "project", wanted)
    where = billing.fitting_sessions(index.db, wanted)
    used, touched = tool_stats(index, wanted), within_span(wanted, "touch.time")
    today = local_time(time.time() if now is None else now, wanted.zone).date()
    return IndexStats(
        _totals(index, where, wanted, used),
        days.sum,
        days.models,
        used,
        projects.rows,
        tuple(sorted((row for row in days.rows if row.key), key=lambda row: -row.sum.total)[:listed]),
        _hours(index, wanted),
        tuple(StatNotes(*row) for row in _run(index, f"{_LONGEST} LIMIT {listed:d}", where)),
        tuple(StatNotes(*row) for row in _run(index, f"{_DEAREST} LIMIT {listed:d}", where)),
        tuple(TouchedFile(*row) for row in _run(index, f"{_TOUCHED} LIMIT {listed:d}", touched, where)),
        longest_streak([row.key for row in days.rows if row.key], today),
        days.untimed,
        days.rows,
        wasted_cache(index, wanted),
        filled_kinds(index, wanted),
        filling_tools(index, wanted),
    )


class _Counts(msgspec.Struct):
    """The few figures that only the whole overview has."""

    agents: int = 0
    compactions: int = 0


def _totals(index: HasDatabase, where: SqlCondition, wanted: UsageFilter, used: tuple[ToolStats, ...]) -> StatTotals:
    decode = msgspec.msgpack.Decoder(_Counts).decode
    agents = compactions = 0
    for (packed,) in _run(index, _OVERVIEWS, where):
        counts = decode(packed) if packed else _Counts()
        agents, compactions = agents + counts.agents, compactions + counts.compactions
    ((commits,),) = _run(index, _COMMITS, within_span(wanted, "git_commit.time"), where)
    ((files,),) = _run(index, _FILES, within_span(wanted, "touch.time"), where)
    ((sessions, projects, turns, messages),) = _run(index, _COUNTED, where)
    calls, ends = sum(tool.calls for tool in used), sum((tool.ends for tool in used), Counter[CallEnd]())
    told = (calls, ends["failed"], agents, compactions, commits, files)
    others = (ends["refused"], ends["interrupted"], ends["unanswered"])
    return StatTotals(sessions, projects, turns, messages, *told, *others)


def _run(index: HasDatabase, query: str, *conditions: SqlCondition) -> list[tuple[Any, ...]]:
    """The rows of a query that leaves room for conditions."""
    values = tuple(value for condition in conditions for value in condition.values)
    return list(index.db.execute(query.format(*(condition.sql for condition in conditions)), values))


def _hours(index: HasDatabase, wanted: UsageFilter) -> tuple[tuple[int, ...], ...]:
    where = within_span(wanted) & billing.fitting_requests(index.db, wanted) & SqlCondition("time IS NOT NULL")
    week = [[0] * 24 for _ in range(7)]
    for quarter, requests, *_ in billing.add_sums(index.db, (f"CAST(FLOOR(time / {QUARTER}.0) AS INTEGER)",), where):
        moment = local_time(quarter * QUARTER, wanted.zone)
        week[moment.weekday()][moment.hour] += requests
    return tuple(map(tuple, week))


_OVERVIEWS = f"SELECT overview FROM session WHERE ({{}}) AND {_TRACES}"  # noqa: S608  no value
_COPIED = "SELECT count(DISTINCT message) FROM request WHERE session = session.id AND counts = 0 AND agent IS NULL"
_COUNTED = f"""SELECT COUNT(*) FILTER (WHERE {IS_LISTED}), COUNT(DISTINCT project) FILTER (WHERE {IS_LISTED}),
COALESCE(SUM(turns - copied), 0),
COALESCE(SUM(messages - iif(history IS NULL, 0, ({_COPIED}))), 0) FROM session WHERE ({{}}) AND {_TRACES}"""  # noqa: S608  no value
_NOTES = f"""SELECT key, title, project, started, ended, turns, cost, unpriced, open > 0 FROM session
WHERE ({{}}) AND {_TRACES}"""  # noqa: S608  no value
_LONGEST = f"{_NOTES} AND ended > started ORDER BY ended - started DESC, key"
_DEAREST = f"{_NOTES} AND cost > 0 ORDER BY cost DESC, key"
_OF_SESSIONS = """JOIN turn ON turn.id = {table}.turn JOIN log ON log.id = turn.log
WHERE NOT turn.copied AND ({{}}) AND log.session IN (SELECT id FROM session WHERE {{}})"""
_COMMITS = f"SELECT COUNT(DISTINCT hash) FROM git_commit {_OF_SESSIONS.format(table='git_commit')}"  # noqa: S608
_FILES = f"SELECT COUNT(DISTINCT file) FROM touch {_OF_SESSIONS.format(table='touch')}"  # noqa: S608
_TOUCHED = f"""-- What several sessions hold copies of, by kind and moment, counts once.
WITH
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
