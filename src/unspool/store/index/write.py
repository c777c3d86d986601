"""Writing a session's rows: what did not change since it was last written stays."""

import posixpath
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import apsw
import msgspec

from unspool.prices import MOST, PriceTable
from unspool.reading.scan import is_recorded_fork
from unspool.store.index.history import HistorySettler
from unspool.store.index.requests import BilledRequests, Doc, LogRows, RowNumbers, SessionRows, signed

DIGEST = 16
"""Bytes of a state that tell of everything; those after them tell of what is no log."""
_TEXT = 20 * 1024 * 1024
"""Characters that may wait before they are written."""
_OF_SESSION = ("todo", "push", "request", "own", "rewrite", "filled", "loaded", "worked")
_MOST_FOLDERS = 200
"""Folders that are known of one session."""
_OF_TURN = ("touch", "git_commit", "plan", "tally")
_TURNS_OF_LOG = "SELECT id, number, branch, docs FROM turn WHERE log = ?"


class RowSource(NamedTuple):
    """Where a session's rows were derived from."""

    origin: int
    path: str
    state: bytes
    generations: Mapping[str, int]
    """Generations of its logs, by the path that the rows name them by."""
    paths: Mapping[str, str]
    """Their paths below the origin."""


class IndexWriter:
    """Writes sessions to an index. Use it in a `with`: what was put is there when it ends, and now and then before."""

    def __init__(self, db: apsw.Connection, prices: PriceTable | None = None) -> None:
        self._db = db
        self._names, self._files = RowNumbers(db, "name", "text"), RowNumbers(db, "file", "path")
        self._words: list[tuple[int, str]] = []
        self._stale: list[tuple[int, int]] = []
        self._waiting = 0
        self._free = (0, 0)
        """The ids that the next turn and the next document get."""
        self._requests = BilledRequests(db, prices)
        self._history = HistorySettler(db)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if not self._db.in_transaction:
            return
        if kind is None:
            self.pause()
        else:
            self._db.execute("ROLLBACK")

    @property
    def much(self) -> bool:
        """Whether so much was put that it had better be seen."""
        return self._waiting > _TEXT

    def pause(self) -> None:
        """Let what was put be seen."""
        self._flush()
        several = self._history.choose_versions()
        self._history.divide(self._requests.settle() | several)
        self._db.execute("COMMIT")

    def put(self, rows: SessionRows, source: RowSource) -> None:
        """Write a session, in place of what was known of it."""
        self._begin()
        state = self._known_state(source)
        session = self._session(rows, source)
        known: dict[str, list[int]] = {}
        if state is not None:
            self._requests.leave(session)
            self._clear(session)
            known = {path: row for path, *row in self._logs(session)}
            if state[DIGEST:] != source.state[DIGEST:]:  # texts of lines that were read before may be others
                for old, _, _ in known.values():
                    self._drop_turns(old, 0)
        for number, log in enumerate(rows.logs):
            path = source.paths[log.path]
            self._log(session, number, log, path, source.generations[log.path], known.pop(path, None))
        for old, _, _ in known.values():
            self._drop_log(old)
        self._beside(session, rows)
        agents = "SELECT number, id FROM log WHERE session = ? AND number > 0"
        self._requests.put(session, rows.requests, dict(self._db.execute(agents, (session,))))

    def _beside(self, session: int, rows: SessionRows) -> None:
        """Write what is known of a session as a whole."""
        self._db.executemany(
            "INSERT INTO todo VALUES(?, ?, ?, ?)",
            ((session, place, todo.text, todo.status) for place, todo in enumerate(rows.todos)),
        )
        self._db.executemany(
            "INSERT INTO push VALUES(?, ?, ?, ?, ?, ?, ?)",
            ((session, *map(clean_text, push[:4]), push.number, push.time) for push in rows.pushes),
        )
        self._db.executemany(
            "INSERT INTO filled VALUES(?, ?, ?, ?)",
            ((session, kind, self._name(tool), tokens) for (kind, tool), tokens in rows.filled.items()),
        )
        self._db.executemany(
            "INSERT INTO loaded VALUES(?, ?, ?)",
            ((session, clean_text(one.path), one.digest) for one in rows.loaded),
        )
        folders = sorted({posixpath.dirname(touch.path) for log in rows.logs for touch in log.touches} - {""})
        self._db.executemany(
            "INSERT INTO worked VALUES(?, ?)", ((session, clean_text(one)) for one in folders[:_MOST_FOLDERS])
        )

    def drop(self, session: int) -> None:
        self._begin()
        self._requests.leave(session)
        self._history.note(self._db.execute("SELECT session_id FROM session WHERE id = ?", (session,)).get)
        self._clear(session)
        for _, log, _, _ in self._logs(session):
            self._drop_log(log)
        self._db.execute("DELETE FROM session WHERE id = ?", (session,))

    def _known_state(self, source: RowSource) -> bytes | None:
        """What a session was made of when it was last written; None where it is new."""
        query = "SELECT state FROM session WHERE origin = ? AND path = ?"
        state: bytes | None = self._db.execute(query, (source.origin, clean_text(source.path))).get
        return state

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
            rows: Any = self._db.execute("SELECT max(id), max(doc + docs) FROM turn").fetchone()
            self._free = (rows[0] or 0) + 1, (rows[1] or 0) + 1

    def _flush(self) -> None:
        """Write the words that wait. They do so because any other statement in between makes the full-text
        index write a small segment of its own."""
        self._db.executemany("DELETE FROM words WHERE rowid >= ? AND rowid < ?", self._stale)
        self._db.executemany("INSERT INTO words(rowid, text) VALUES(?, ?)", self._words)
        self._stale, self._words, self._waiting = [], [], 0

    def _logs(self, session: int) -> list[tuple[str, int, int, int]]:
        """Path, id, generation and size of the logs known of a session."""
        return list(self._db.execute("SELECT path, id, generation, size FROM log WHERE session = ?", (session,)))

    def _session(self, rows: SessionRows, source: RowSource) -> int:
        overview = rows.overview
        columns: dict[str, Any] = {
            "key": overview.id, "session_id": overview.id, "agent": overview.agent, "origin": source.origin,
            "path": source.path, "state": source.state, "named": "\n".join(rows.named),
            "project": overview.project, "cwd": overview.cwd, "title": overview.title, "kind": overview.kind,
            "branch": overview.branch, "slug": overview.slug,
            "started": overview.started.timestamp() if overview.started else None,
            "ended": overview.ended.timestamp() if overview.ended else None,
            "turns": overview.turns, "messages": overview.messages, "calls": overview.tool_calls,
            "errors": overview.tool_errors, "refused": overview.tool_refusals,
            "interrupted": overview.tool_interruptions, "unanswered": overview.tool_unanswered,
            "cost": min(MOST, sum(row.cost or 0 for row in rows.requests)),
            "unpriced": sum(row.cost is None for row in rows.requests),
            "open": sum(not row.final for row in rows.requests),
            "forked": int(is_recorded_fork(overview)), "version_of": None, "history": None, "copied": 0,
            "overview": msgspec.msgpack.encode(overview), "ids": rows.ids, "prompts": rows.prompts,
        }  # fmt: skip
        columns = {name: clean_text(value) for name, value in columns.items()}
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
        query = f"INSERT INTO session({names}) VALUES({marks}) ON CONFLICT DO UPDATE SET {updates} RETURNING id"
        number: int = self._db.execute(query, tuple(columns.values())).get
        self._history.note(columns["session_id"])
        return number

    def _clear(self, session: int) -> None:
        """Take out what is written whole each time."""
        for table in _OF_SESSION:
            self._db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608
        turns = "SELECT turn.id FROM log JOIN turn ON turn.log = log.id WHERE log.session = ?"
        for table in _OF_TURN:
            self._db.execute(f"DELETE FROM {table} WHERE turn IN ({turns})", (session,))  # noqa: S608
        self._db.execute(f"UPDATE turn SET copied = 0 WHERE copied AND id IN ({turns})", (session,))  # noqa: S608

    def _log(
        self, session: int, number: int, rows: LogRows, path: str, generation: int, known: "list[int] | None"
    ) -> None:
        """Write a log: of one that grew, its last turn and what came after it."""
        kept: list[int] = []
        if known is not None:
            log, before, size = known
            if before == generation and size <= rows.size:
                kept = self._unchanged_turns(log, rows, grew=size < rows.size)
            else:
                self._drop_turns(log, 0)
            self._db.execute(
                "UPDATE log SET number = ?, generation = ?, size = ? WHERE id = ?", (number, generation, rows.size, log)
            )
        else:
            self._db.execute(
                "INSERT INTO log(session, number, path, agent, generation, size) VALUES(?, ?, ?, ?, ?, ?)",
                (session, number, clean_text(path), clean_text(rows.agent), generation, rows.size),
            )
            log = self._db.last_insert_rowid()
        turns = [*kept, *self._turns(log, rows, len(kept))]
        self._details(rows, turns)

    def _unchanged_turns(self, log: int, rows: LogRows, *, grew: bool) -> list[int]:
        turns: list[Any] = self._db.execute(f"{_TURNS_OF_LOG} ORDER BY place", (log,)).fetchall()
        counts = Counter(doc[0] for doc in rows.docs)
        stay: list[int] = []
        for at, (turn, number, branch, docs) in enumerate(turns[: len(rows.turns)]):
            if (number, branch, docs) != (rows.turns[at].number, rows.turns[at].branch, counts[at]):
                break  # a text that another log of the session holds by now, say, is not taken twice
            stay.append(turn)
        if grew:
            stay = stay[: max(0, len(turns) - 1)]
        self._drop_turns(log, len(stay))
        return stay

    def _turns(self, log: int, rows: LogRows, kept: int) -> list[int]:
        """Write the turns of a log after the first so many, with their documents."""
        turn, doc = self._free
        fresh = [doc for doc in rows.docs if doc[0] >= kept]
        counts = Counter(doc[0] for doc in fresh)
        self._docs(fresh, turn - kept, doc)
        made = []
        for place, row in enumerate(rows.turns[kept:], kept):
            made.append(
                (
                    turn,
                    log,
                    row.number,
                    row.branch,
                    row.time,
                    row.place,
                    self._name(row.model),
                    doc,
                    counts[place],
                    signed(row.line),
                    0,
                )
            )
            turn, doc = turn + 1, doc + counts[place]
        self._db.executemany("INSERT INTO turn VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", made)
        self._free = turn, doc
        return [row[0] for row in made]

    def _docs(self, docs: list[Doc], turn: int, first: int) -> None:
        """Write documents whose turns are counted from `turn`."""
        names = {tool: self._name(tool) for tool in dict.fromkeys([doc[3] for doc in docs])}
        self._db.executemany(
            "INSERT INTO doc(id, turn, kind, place, tool, error) VALUES(?, ?, ?, ?, ?, ?)",
            [
                (number, turn + of, kind, place, names[tool], 1 if error else None)
                for number, (of, kind, place, tool, error, _) in enumerate(docs, first)
            ],
        )
        texts = [doc[5] for doc in docs]
        self._words.extend(enumerate(texts, first))
        self._waiting += sum(map(len, texts))

    def _details(self, rows: LogRows, turns: list[int]) -> None:
        db = self._db
        calls = self._calls(rows, turns)
        db.executemany(
            "INSERT INTO touch VALUES(?, ?, ?, ?, ?, ?, ?)",
            (
                (turns[one.turn], self._files.number(one.path), one.how, one.time, calls.get(one.place, 0), *one.lines)
                for one in rows.touches
            ),
        )
        db.executemany(
            "INSERT INTO git_commit VALUES(?, ?, ?, ?, ?)",
            (
                (turns[turn], hash_, clean_text(branch), clean_text(said), time)
                for turn, hash_, branch, said, time in rows.commits
            ),
        )
        db.executemany(
            "INSERT INTO plan VALUES(?, ?, ?)",
            ((turns[turn], clean_text(title), status) for turn, title, status in rows.plans),
        )
        db.executemany(
            "INSERT INTO tally VALUES(?, ?, ?, ?, ?, ?, ?)",
            ((turns[turn], self._name(tool or "?"), *counts) for turn, tool, counts in rows.tally),
        )

    def _calls(self, rows: LogRows, turns: list[int]) -> dict[int, int]:
        """The documents of calls that touched files, by the place of their line."""
        if not rows.touches:
            return {}
        query = (
            "SELECT doc.place, doc.id FROM turn JOIN doc ON doc.id >= turn.doc AND doc.id < turn.doc + turn.docs"
            " WHERE turn.id = ? AND kind = 4"
        )
        used = {turns[touch.turn] for touch in rows.touches}
        return {place: number for turn in used for place, number in self._db.execute(query, (turn,))}

    def _drop_log(self, log: int) -> None:
        self._drop_turns(log, 0)
        self._db.execute("DELETE FROM log WHERE id = ?", (log,))

    def _drop_turns(self, log: int, keep: int) -> None:
        """Take out the turns of a log after the first so many, and their documents."""
        query = "SELECT id, doc, docs FROM turn WHERE log = ? ORDER BY number LIMIT -1 OFFSET ?"
        for turn, first, count in list(self._db.execute(query, (log, keep))):
            self._stale.append((first, first + count))
            self._db.execute("DELETE FROM doc WHERE id >= ? AND id < ?", (first, first + count))
            self._db.execute("DELETE FROM turn WHERE id = ?", (turn,))

    def _name(self, text: str) -> int | None:
        return self._names.number(text) if text else None


def clean_text(value: Any) -> Any:
    """A value that the database takes: halves of characters, which JSON may hold, are replaced."""
    return value.encode(errors="replace").decode() if isinstance(value, str) and not value.isascii() else value
