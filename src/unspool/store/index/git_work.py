"""Which sessions made a commit, worked on a branch or opened a pull request, and which tried the same before."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from unspool.figures.change_story import ChangeName, WorkReason
from unspool.store.index.conditions import IS_LISTED, SqlCondition, all_of, among

TRUNKS = frozenset({"", "main", "master", "develop", "dev", "trunk", "HEAD", "detached HEAD"})
"""Branches that many changes share, so that a session on one says nothing of a single change."""
_DAY = 86_400.0
_SAME_COMMIT = 120.0
"""Seconds between a commit and when its session heard of it."""
_AROUND = 900.0
"""Seconds around a session in which what it did may still be done, such as a commit after a test."""
_WINDOW = 30 * _DAY
"""Seconds before a change in which sessions may have tried the same."""
_ALIKE = 1 / 3
"""Of the files that two sessions changed, the part of the smaller number that both did."""
_PULL = re.compile(r"https?://[^/\s]+/(?P<repository>[^\s?#]+?)/(?:-/)?(?:pull|merge_requests)/(?P<number>\d{1,15})\b")
_SHORT_PULL = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)?[#!](?P<number>\d{1,15})")
_HASH = re.compile(r"[0-9a-f]{4,64}")
_COMMITS = """FROM git_commit JOIN turn ON turn.id = git_commit.turn JOIN log ON log.id = turn.log
JOIN session ON session.id = log.session WHERE NOT turn.copied AND session.version_of IS NULL AND"""


class WorkRow(NamedTuple):
    """A session that belongs to a change, and why."""

    session: int
    """Its row."""
    key: str
    project: str
    reason: WorkReason
    time: float | None
    """When it did that, where that is known."""


def parse_change(text: str) -> ChangeName:
    """A pull request by its address or `owner/name#12`, a commit by its hash, else a branch."""
    if found := (_PULL.match(text) or _SHORT_PULL.fullmatch(text)):
        return ChangeName("pull request", text, found["repository"] or "", int(found["number"]))
    if _HASH.fullmatch(text.lower()) and any(map(str.isdigit, text)):
        return ChangeName("commit", text.lower())
    return ChangeName("branch", text)


def sessions_of_change(db: apsw.Connection, name: ChangeName) -> list[WorkRow]:
    """The sessions that made a change themselves."""
    if name.kind == "commit":
        begins = "substr(git_commit.hash, 1, length(?1)) = ?1"
        begun = "(length(git_commit.hash) >= 7 AND substr(?1, 1, length(git_commit.hash)) = git_commit.hash)"
        return _commits(db, SqlCondition(f"({begins} OR {begun})", (name.text,)))
    if name.kind == "pull request":
        pulls = SqlCondition("push.kind = 'pull-request' AND push.number = ?", (name.number,))
        if name.repository:
            pulls &= SqlCondition("push.repository = ? COLLATE NOCASE", (name.repository,))
        return _pushes(db, pulls, "opened")
    return sessions_of_branches(db, [name.text])


def sessions_of_message(db: apsw.Connection, message: str) -> list[WorkRow]:
    """The sessions that made a commit of these words: a rebase gives it another hash."""
    return _commits(db, SqlCondition("git_commit.message = ?", (message,)))


def sessions_of_branches(
    db: apsw.Connection, branches: Collection[str], projects: Collection[str] | None = None
) -> list[WorkRow]:
    """The sessions that committed to branches, pushed them, or ran on them; in some projects, or in any."""
    names = list(branches)
    within = SqlCondition() if projects is None else among("session.project", list(projects))
    sql, values = all_of([among("session.branch", names), within, SqlCondition(IS_LISTED)])
    rows = db.execute(f"SELECT session.id, key, project, started FROM session WHERE {sql}", values)  # noqa: S608
    ran: list[Any] = rows.fetchall()
    return [
        *_commits(db, among("git_commit.branch", names) & within),
        *_pushes(db, SqlCondition("push.kind = 'push'") & among("push.branch", names) & within, "pushed"),
        *(WorkRow(session, key, project, "on the branch", time) for session, key, project, time in ran),
    ]


def commit_sessions(db: apsw.Connection, hash_: str, subject: str, time: float) -> list[str]:
    """The sessions that made a commit: by its hash, or by its message at the time its author made it, which a rebase
    keeps."""
    begun = "(length(git_commit.hash) >= 7 AND substr(?, 1, length(git_commit.hash)) = git_commit.hash)"
    same = "(git_commit.message = ? AND abs(git_commit.time - ?) < ?)"
    rows = _commits(db, SqlCondition(f"({begun} OR {same})", (hash_, subject, time, _SAME_COMMIT)))
    return list(dict.fromkeys(row.key for row in rows))


def sessions_at(db: apsw.Connection, time: float, folder: str) -> bool:
    """Whether a session ran in a folder, or below or above it, at a time: it may have done what was done then."""
    sql = """SELECT 1 FROM session WHERE started <= ?1 + ?2 AND ended >= ?1 - ?2 AND (substr(?3, 1, length(project)) =
    project OR substr(project, 1, length(?3)) = ?3) AND project <> '' LIMIT 1"""
    return bool(_rows(db, sql, (time, _AROUND, folder)))


def cost_until(db: apsw.Connection, keys: Sequence[str], time: float) -> int | None:
    """Picodollars that sessions spent up to a commit at a time, since their commit before; None for no session."""
    if not keys:
        return None
    total = 0
    for (session,) in _rows(db, "SELECT id FROM session WHERE key IN (SELECT value FROM json_each(?))", (_json(keys),)):
        before = f"SELECT max(git_commit.time) {_COMMITS} session.id = ? AND git_commit.time < ?"
        since = db.execute(before, (session, time - _SAME_COMMIT)).get or 0.0
        spent = "SELECT total(cost) FROM request WHERE session = ? AND counts AND time > ? AND time <= ?"
        total += int(db.execute(spent, (session, since, time + _SAME_COMMIT)).get or 0)
    return total


def sessions_touching_paths(db: apsw.Connection, paths: Sequence[str], since: float, until: float) -> list[str]:
    """The sessions that changed one of some files in a stretch of time, the latest first."""
    sql = """SELECT session.key, max(coalesce(touch.time, turn.time / 1000.0)) AS last FROM file
    JOIN touch ON touch.file = file.id JOIN turn ON turn.id = touch.turn JOIN log ON log.id = turn.log
    JOIN session ON session.id = log.session
    WHERE file.path IN (SELECT value FROM json_each(?)) AND touch.how > 0 AND NOT turn.copied
    AND coalesce(touch.time, turn.time / 1000.0) BETWEEN ? AND ? GROUP BY 1 ORDER BY 2 DESC"""
    return [key for key, _ in _rows(db, sql, (_json(paths), since, until + _SAME_COMMIT))]


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values))


class RecentChange(NamedTuple):
    """A branch or a pull request that sessions worked on."""

    name: str
    """What it is called by: the address of a pull request, the name of a branch."""
    project: str
    sessions: int
    last: float | None


def recent_changes(db: apsw.Connection, most: int) -> list[RecentChange]:
    """The pull requests and branches that sessions worked on last, without branches that many changes share."""
    sql = f"""WITH work(name, project, session, time) AS (
    SELECT push.url, session.project, session.id, coalesce(push.time, session.ended) FROM push
    JOIN session ON session.id = push.session WHERE push.kind = 'pull-request' AND push.url <> ''
    AND session.version_of IS NULL
    UNION ALL SELECT push.branch, session.project, session.id, coalesce(push.time, session.ended) FROM push
    JOIN session ON session.id = push.session WHERE push.kind = 'push' AND session.version_of IS NULL
    UNION ALL SELECT session.branch, session.project, session.id, session.ended FROM session WHERE {IS_LISTED})
    SELECT name, project, count(DISTINCT session), max(time) FROM work
    WHERE name NOT IN (SELECT value FROM json_each(?)) GROUP BY 1, 2 ORDER BY 4 DESC NULLS LAST LIMIT ?"""  # noqa: S608
    return [RecentChange(*row) for row in _rows(db, sql, (json.dumps(sorted(TRUNKS)), most))]


def branches_of(db: apsw.Connection, sessions: Collection[int]) -> set[str]:
    """The branches that sessions committed to, pushed or ran on, but for those that many changes share."""
    listed = list(sessions)
    queries = (
        (f"SELECT git_commit.branch {_COMMITS} ", "session.id"),
        ("SELECT branch FROM push WHERE ", "session"),
        ("SELECT branch FROM session WHERE ", "id"),
    )
    found: set[str] = set()
    for query, column in queries:
        sql, values = among(column, listed)
        found.update(branch for (branch,) in _rows(db, query + sql, values))
    return found - TRUNKS


def attempts_before(db: apsw.Connection, sessions: Collection[int], projects: Collection[str]) -> list[WorkRow]:
    """Other sessions of the projects that changed much the same files before the last of these did, and committed
    nothing: they tried, and what they did was left or done again."""
    mine, last = _changed_files(db, among("session.id", list(sessions))), 0.0
    files = {file for changed in mine.values() for file, _ in changed}
    last = max((time for changed in mine.values() for _, time in changed), default=0.0)
    if not files:
        return []
    others = SqlCondition(f"{IS_LISTED} AND session.history IS NULL") & among("session.project", list(projects))
    none = "NOT EXISTS (SELECT 1 FROM git_commit JOIN turn AS t ON t.id = git_commit.turn JOIN log AS l ON l.id = t.log"
    none += " WHERE l.session = session.id)"
    tried = _changed_files(db, others & SqlCondition(none))
    found = []
    for (row, key, project), changed in tried.items():
        times = [time for _, time in changed]
        theirs = {file for file, _ in changed}
        alike = len(theirs & files) / min(len(theirs), len(files))
        if row not in sessions and alike >= _ALIKE and last - _WINDOW <= min(times) <= last:
            found.append(WorkRow(row, key, project, "tried the same", min(times)))
    return found


_Changed = dict[tuple[int, str, str], list[tuple[int, float]]]


def _changed_files(db: apsw.Connection, where: SqlCondition) -> _Changed:
    """The files that sessions changed, with the times, by session."""
    sql = f"""SELECT session.id, session.key, session.project, touch.file, coalesce(touch.time, turn.time / 1000.0, 0)
    FROM session JOIN log ON log.session = session.id JOIN turn ON turn.log = log.id JOIN touch ON touch.turn = turn.id
    WHERE touch.how > 0 AND NOT turn.copied AND {where.sql}"""  # noqa: S608  no value
    found: _Changed = {}
    for row, key, project, file, time in _rows(db, sql, where.values):
        found.setdefault((row, key, project), []).append((file, time))
    return found


def _commits(db: apsw.Connection, where: SqlCondition) -> list[WorkRow]:
    sql = f"SELECT session.id, session.key, session.project, git_commit.time {_COMMITS} {where.sql}"
    return [
        WorkRow(session, key, project, "committed", time)
        for session, key, project, time in _rows(db, sql, where.values)
    ]


def _pushes(db: apsw.Connection, where: SqlCondition, reason: WorkReason) -> list[WorkRow]:
    sql = f"""SELECT session.id, session.key, session.project, push.time FROM push
    JOIN session ON session.id = push.session WHERE session.version_of IS NULL AND {where.sql}"""  # noqa: S608
    return [
        WorkRow(session, key, project, reason, time) for session, key, project, time in _rows(db, sql, where.values)
    ]


def _rows(db: apsw.Connection, sql: str, values: Iterable[Any]) -> list[Any]:
    return db.execute(sql, tuple(values)).fetchall()
