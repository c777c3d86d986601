"""Views of a lake for the questions that are asked most, in the SQL of DuckDB."""

from typing import NamedTuple


class LakeView(NamedTuple):
    name: str
    meaning: str
    sql: str


_SUMS = """count(*) AS requests, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read,
sum(cache_write) AS cache_write, sum(cost) AS cost, count(*) FILTER (cost IS NULL) AS unpriced"""
_CONVERSED = "kind NOT IN ('ghost', 'empty', 'stub')"

VIEWS: tuple[LakeView, ...] = (
    LakeView(
        "totals",
        "What everything adds up to, as `unspool stats` says.",
        f"""SELECT
  (SELECT count(*) FROM sessions WHERE listed) AS sessions,
  (SELECT count(DISTINCT coalesce(project, '')) FROM sessions WHERE listed) AS projects,
  (SELECT sum(turns - copied_turns) FROM sessions WHERE {_CONVERSED}) AS turns,
  (SELECT count(*) FROM messages WHERE subagent IS NULL AND NOT synthetic AND NOT copied) AS messages,
  (SELECT count(*) FROM calls WHERE state <> 'orphan' AND NOT copied) AS tool_calls,
  (SELECT count(*) FROM calls WHERE outcome = 'failed' AND NOT copied) AS tool_errors,
  (SELECT sum(subagents) FROM sessions WHERE {_CONVERSED}) AS subagents,
  (SELECT sum(compactions) FROM sessions WHERE {_CONVERSED}) AS compactions,
  (SELECT count(DISTINCT hash) FROM commits WHERE NOT copied) AS commits,
  (SELECT count(DISTINCT path) FROM files WHERE NOT copied) AS files,
  (SELECT sum(cost) FROM usage WHERE counted) AS cost""",  # noqa: S608  no value
    ),
    LakeView(
        "cost_by_day",
        "Requests, tokens and dollars by day, in the time zone of the question.",
        f"SELECT time::DATE AS day, {_SUMS} FROM usage WHERE counted GROUP BY day ORDER BY day NULLS LAST",  # noqa: S608
    ),
    LakeView(
        "cost_by_model",
        "Requests, tokens and dollars by model, the dearest first.",
        f"SELECT model, {_SUMS} FROM usage WHERE counted GROUP BY model ORDER BY cost DESC NULLS LAST, model",  # noqa: S608
    ),
    LakeView(
        "cost_by_project",
        "Requests, tokens and dollars by project, the dearest first.",
        f"""SELECT project, count(DISTINCT session) AS sessions, {_SUMS}
FROM usage JOIN (SELECT agent, session, project FROM sessions) USING (agent, session)
WHERE counted GROUP BY project ORDER BY cost DESC NULLS LAST, project""",  # noqa: S608
    ),
    LakeView(
        "cost_by_session",
        "What each session cost with its subagents, the dearest first.",
        """SELECT session, title, project, agent, started, ended, turns, tool_calls, subagents, cost, unpriced
FROM sessions ORDER BY cost DESC, session""",
    ),
    LakeView(
        "sessions_by_project",
        "Sessions, prompts and dollars by project, the last active first.",
        f"""SELECT project, count(*) FILTER (listed) AS sessions, sum(turns - copied_turns) AS turns, sum(cost) AS cost,
min(started) AS first, max(ended) AS last
FROM sessions WHERE {_CONVERSED} GROUP BY project ORDER BY last DESC NULLS LAST, project""",  # noqa: S608
    ),
    LakeView(
        "tools",
        "Calls by tool and how they ended, the most called first, as `unspool usage --by tool` says.",
        """SELECT coalesce(tool, '?') AS tool, count(*) FILTER (state <> 'orphan') AS calls,
count(*) FILTER (outcome = 'failed') AS failed, count(*) FILTER (outcome = 'refused') AS refused,
count(*) FILTER (outcome = 'interrupted') AS interrupted, count(*) FILTER (outcome = 'unanswered') AS unanswered,
count(DISTINCT session) AS sessions, median(duration) AS median_ms
FROM calls WHERE NOT copied GROUP BY ALL HAVING calls > 0 OR failed > 0 ORDER BY calls DESC, tool""",
    ),
    LakeView(
        "failing_tools",
        "Tools whose calls failed, the largest share first.",
        """SELECT tool, calls, failed, round(100.0 * failed / greatest(calls, 1), 1) AS percent, sessions
FROM tools WHERE failed > 0 ORDER BY failed / greatest(calls, 1) DESC, calls DESC, tool""",
    ),
    LakeView(
        "errors",
        "Calls that ran and failed, the newest first, with what was tried and where to look.",
        """SELECT started AS time, session, turn, tool, coalesce(shell, file, arguments) AS tried,
split_part(trim(result), chr(10), 1) AS said, log, line
FROM calls WHERE outcome = 'failed' AND NOT copied ORDER BY started DESC NULLS LAST""",
    ),
    LakeView(
        "files_touched",
        "Files by how often they were read and changed; what several sessions hold copies of counts once.",
        """WITH
copies AS (SELECT path, how, time, session, count(*) AS number FROM files WHERE NOT copied GROUP BY ALL),
once AS (
  SELECT path, how, max(number) AS number FROM copies WHERE time IS NOT NULL GROUP BY path, how, time
  UNION ALL SELECT path, how, number FROM copies WHERE time IS NULL
),
holders AS (SELECT path, count(DISTINCT session) AS sessions FROM copies GROUP BY path),
lines AS (SELECT path, sum(added) AS added, sum(removed) AS removed FROM files WHERE NOT copied GROUP BY path)
SELECT path, coalesce(sum(number) FILTER (how = 'read'), 0) AS reads,
coalesce(sum(number) FILTER (how = 'write'), 0) AS writes,
coalesce(sum(number) FILTER (how = 'edit'), 0) AS edits, any_value(sessions) AS sessions, any_value(added) AS added,
any_value(removed) AS removed
FROM once JOIN holders USING (path) JOIN lines USING (path) GROUP BY path ORDER BY sum(number) DESC, path""",
    ),
    LakeView(
        "prompts_typed",
        "What people typed, the newest first.",
        """SELECT time, session, turn, kind, coalesce(text, command) AS text, log, line
FROM prompts WHERE subagent IS NULL AND NOT copied ORDER BY time DESC NULLS LAST""",
    ),
    LakeView(
        "busy_hours",
        "Requests by day of the week (1 is Monday) and hour, in the time zone of the question.",
        """SELECT isodow(time) AS weekday, hour(time) AS hour, count(*) AS requests
FROM usage WHERE counted AND time IS NOT NULL GROUP BY ALL ORDER BY ALL""",
    ),
)
