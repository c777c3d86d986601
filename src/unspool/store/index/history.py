"""Which rows are files of one session, and which of its turns and requests a session copied from another.

The rules are those of `store.library.history`, which lists follow that are made from logs.
"""

import json
from array import array
from collections import Counter
from collections.abc import Collection, Iterable
from math import inf
from typing import Any, NamedTuple

import apsw

from unspool.agents.records import session_name

_ROWS = """SELECT id, key, coalesce(version_of, id), started, forked, ended, ids, prompts FROM session
WHERE id IN (SELECT value FROM json_each(?))"""
_SAME_ID = """SELECT session_id, agent, id FROM session WHERE session_id IN (SELECT value FROM json_each(?))
ORDER BY session_id, agent, kind = 'ghost', coalesce(ended, started, 0) DESC, messages DESC, id"""
_TELL_APART = """UPDATE session SET version_of = ?1, key = ?2
WHERE id = ?3 AND (version_of IS NOT ?1 OR key IS NOT ?2)"""
_SHARING = """SELECT DISTINCT mine.session, other.session FROM request AS mine
JOIN request AS other ON other.message = mine.message AND other.session <> mine.session
WHERE mine.session IN (SELECT value FROM json_each(?))"""
_FILES = """SELECT coalesce(version_of, id), id FROM session
WHERE coalesce(version_of, id) IN (SELECT value FROM json_each(?))"""
_OWN_SUMS = """SELECT coalesce(sum(cost), 0), coalesce(sum(cost IS NULL), 0), coalesce(sum(NOT final), 0) FROM request
WHERE counts = 1 AND session IN (SELECT id FROM session WHERE coalesce(version_of, id) = ?)"""
_TURNS = "SELECT turn.id, line FROM turn JOIN log ON log.id = turn.log WHERE log.session = ? AND log.number = 0"
_AGENT_LOGS = "SELECT agent, id, size FROM log WHERE session = ? AND number > 0"


class _Row(NamedTuple):
    id: int
    key: str
    shown: int
    """The row of the file of its session that is shown."""
    started: float | None
    forked: int
    ended: float | None
    ids: bytes
    prompts: bytes


class HistorySettler:
    """Brings what sessions have in common up to date, after some were written or taken out."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._ids: set[str] = set()

    def note(self, session_id: str) -> None:
        """A file of a session of this id was written or taken out."""
        self._ids.add(session_id)

    def choose_versions(self) -> set[int]:
        """Decide which file of each session is shown: the one that was active last; and by what key, which tells the
        sessions apart that several agents have of one id. All rows of those with several files."""
        several: set[int] = set()
        shown: dict[tuple[str, str], int] = {}
        rows: Any = self._db.execute(_SAME_ID, (json.dumps(sorted(self._ids)),)).fetchall()
        agents = Counter(name for name, _ in {(name, agent) for name, agent, _ in rows})
        for name, agent, number in rows:
            first = shown.setdefault((name, agent), number)
            if first != number:
                several |= {first, number}
            key = session_name(agent, name) if agents[name] > 1 else name
            self._db.execute(_TELL_APART, (None if first == number else first, key, number))
        self._ids.clear()
        return several

    def divide(self, sessions: Collection[int]) -> None:
        """Mark what these sessions copied from earlier ones, and add up what is their own."""
        if not sessions:
            return
        partners = self._partners(sessions)
        rows = self._rows({*sessions, *(other for some in partners.values() for other in some)})
        for number in sessions:
            if number in rows:
                others = [rows[other] for other in partners.get(number, ()) if other in rows]
                own_rank = _rank(rows[number], rows)
                ranked = sorted((_rank(one, rows), one) for one in others)
                self._mark(rows[number], [one for rank, one in ranked if rank < own_rank])
        for shown in {rows[number].shown for number in sessions if number in rows}:
            sums: Any = self._db.execute(_OWN_SUMS, (shown,)).fetchone()
            self._db.execute("UPDATE session SET cost = ?, unpriced = ?, open = ? WHERE id = ?", (*sums, shown))

    def _partners(self, sessions: Collection[int]) -> dict[int, set[int]]:
        """The sessions that each has requests in common with, and the other files of its own session."""
        wanted, found = json.dumps(sorted(sessions)), {number: set[int]() for number in sessions}
        rows: Any = self._db.execute(_SHARING, (wanted,))
        for mine, other in rows:
            found[mine].add(other)
        files: dict[int, list[int]] = {}
        shown = {number: row.shown for number, row in self._rows(sessions).items()}
        rows = self._db.execute(_FILES, (json.dumps(sorted(set(shown.values()))),))
        for one, number in rows:
            files.setdefault(one, []).append(number)
        for number, one in shown.items():
            found[number].update(other for other in files.get(one, ()) if other != number)
        return found

    def _rows(self, numbers: Iterable[int]) -> dict[int, _Row]:
        rows: Any = self._db.execute(_ROWS, (json.dumps(sorted(numbers)),))
        return {row[0]: _Row(*row) for row in rows}

    def _mark(self, one: _Row, earlier: list[_Row]) -> None:
        owner: dict[int, _Row] = {}
        for other in earlier:
            for line in array("Q", other.ids):
                owner.setdefault(line, other)
        copied = [line for line in array("Q", one.ids) if line in owner]
        lines = set(copied)
        turns = [(int(line % (1 << 64) in lines), turn) for turn, line in list(self._db.execute(_TURNS, (one.id,)))]
        self._db.executemany("UPDATE turn SET copied = ? WHERE id = ?", turns)
        if one.shown != one.id:
            self._mark_agents(one)
        elsewhere = [line for line in copied if owner[line].shown != one.shown]
        source = owner[elsewhere[-1]].shown if elsewhere else None
        count = sum(prompt in lines for prompt in array("Q", one.prompts)) if elsewhere else 0
        self._db.execute("UPDATE session SET history = ?, copied = ? WHERE id = ?", (source, count, one.id))

    def _mark_agents(self, one: _Row) -> None:
        """Of another file of a session, subagents' logs that the one that is shown has too."""
        known = {agent: size for agent, _, size in self._db.execute(_AGENT_LOGS, (one.shown,))}
        for agent, log, size in list(self._db.execute(_AGENT_LOGS, (one.id,))):
            self._db.execute("UPDATE turn SET copied = ? WHERE log = ?", (int(known.get(agent, -1) >= size), log))


def _rank(one: _Row, rows: dict[int, _Row]) -> tuple[float, int, float, str, bool, int]:
    shown = rows.get(one.shown, one)
    started = inf if shown.started is None else shown.started
    ended = inf if shown.ended is None else shown.ended
    return started, shown.forked, ended, shown.key, one.id != one.shown, one.id
