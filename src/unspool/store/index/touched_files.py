"""Which files sessions read and changed, by how many lines, and which prompts led to it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from unspool.figures.file_states import file_place, forward_slashes
from unspool.store.index.conditions import SqlCondition, all_of
from unspool.store.index.filters import sessions_holding
from unspool.store.index.hits import HitBuilder, HitRow
from unspool.store.index.results import Snippet
from unspool.store.index.schema import KINDS, TOUCHES

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

FILE_PATH = "replace(file.path, '\\', '/')"
TOUCH_JOIN = """
FROM file CROSS JOIN touch ON touch.file = file.id CROSS JOIN turn ON turn.id = touch.turn
CROSS JOIN log ON log.id = turn.log CROSS JOIN session ON session.id = log.session
LEFT JOIN doc ON doc.id = touch.doc
"""
_WHEN = "coalesce(touch.time, turn.time / 1000.0)"
_TURN = "turn.place, turn.number, turn.branch, turn.time, log.path, log.agent, log.generation"
_TOUCHED = f"""SELECT session.id, session.key, session.title, session.project, session.kind, session.agent, touch.how,
{_WHEN}, doc.place, touch.added, touch.removed, {_TURN} {TOUCH_JOIN}
WHERE {FILE_PATH} = ? AND NOT turn.copied AND touch.how IN (SELECT value FROM json_each(?))
ORDER BY {_WHEN} DESC NULLS LAST, touch.rowid DESC LIMIT ?"""  # noqa: S608  no value
_SUMMED = f"""count(*), sum(touch.how > 0), CAST(total(touch.added) AS INTEGER),
CAST(total(touch.removed) AS INTEGER), count(DISTINCT CASE WHEN touch.how > 0 THEN log.session END),
min(CASE WHEN touch.how > 0 THEN {_WHEN} END), max(CASE WHEN touch.how > 0 THEN {_WHEN} END), max({_WHEN})"""
_BY_FILE = TOUCH_JOIN.replace("LEFT JOIN doc ON doc.id = touch.doc", "")
_BY_PROJECT = """FROM session CROSS JOIN log ON log.session = session.id CROSS JOIN turn ON turn.log = log.id
CROSS JOIN touch ON touch.turn = turn.id"""
_LED = f"""SELECT {_TURN} FROM log JOIN turn ON turn.log = log.id WHERE log.session = ? AND log.number = 0
AND turn.time <= ? ORDER BY turn.time DESC, turn.id DESC LIMIT 1"""  # noqa: S608  no value
_PROMPT = KINDS.index("prompt")


class FileTouch(NamedTuple):
    """A file read or changed once."""

    session: int
    """The row of its session."""
    key: str
    title: str
    project: str
    kind: str
    agent_id: str
    """Of the coding agent."""
    how: str
    """One of TOUCHES."""
    time: float | None
    place: int | None
    """Where the call is in its log; unknown where it is a copy of another session's."""
    added: int | None
    removed: int | None
    turn: HitRow
    """The prompt that stands before it in its log."""

    @property
    def agent(self) -> str:
        """The subagent that made the call."""
        return self.turn.agent


class FileSum(NamedTuple):
    """What was done with a file, or with all files of a project."""

    name: str
    """Its path."""
    touches: int
    changes: int
    added: int
    removed: int
    sessions: int
    """Those that changed it."""
    first: float | None
    """Of its changes."""
    last: float | None
    seen: float | None
    """When it was last touched."""
    files: int = 1

    @property
    def reads(self) -> int:
        return self.touches - self.changes


class TouchPrompt(NamedTuple):
    """The prompt that led to a touch."""

    text: str
    """Its first line; empty where nothing was typed before."""
    turn: int
    """As `show --turn` takes it."""
    time: int | None
    """Milliseconds."""
    place: int


def file_touches(db: apsw.Connection, path: str, hows: Sequence[str], most: int) -> list[FileTouch]:
    """The last times that a file was touched in one of some ways, the newest first."""
    numbers = str([TOUCHES.index(how) for how in hows])
    rows: list[Any] = db.execute(_TOUCHED, (path, numbers, most)).fetchall()
    return [FileTouch._make((*row[:6], TOUCHES[row[6]], *row[7:11], _turn_row(*row[11:]))) for row in rows]


def _turn_row(place: int, number: int, branch: int, time: int | None, *log: Any) -> HitRow:
    return HitRow(None, _PROMPT, place, None, None, number, branch, time, *log)


def sum_file(db: apsw.Connection, path: str) -> FileSum | None:
    """What was done with a file; None where no session touched it."""
    return next(iter(sum_files(db, [SqlCondition(f"{FILE_PATH} = ?", (path,))], 1)), None)


def sum_files(
    db: apsw.Connection, asked: Sequence[SqlCondition], most: int, project: str | None = None
) -> list[FileSum]:
    """The files that conditions ask for, of one project or of all, those that were changed most often first."""
    within = [] if project is None else [SqlCondition("session.project = ?", (project,))]
    where, values = all_of([*within, *asked])
    # from where there is less to look at
    source = _BY_FILE if project is None else f"{_BY_PROJECT} CROSS JOIN file ON file.id = touch.file"
    order = "ORDER BY sum(touch.how > 0) DESC, total(touch.added) + total(touch.removed) DESC, 1 LIMIT ?"
    sql = f"SELECT {FILE_PATH}, {_SUMMED} {source} WHERE NOT turn.copied AND {where} GROUP BY 1 {order}"
    rows: Any = db.execute(sql, (*values, most))
    return [FileSum(*row) for row in rows]


def sum_projects(db: apsw.Connection) -> list[FileSum]:
    """The files of each project that were changed, together."""
    sql = f"""SELECT session.project, {_SUMMED}, count(DISTINCT touch.file) {_BY_PROJECT}
    WHERE NOT turn.copied AND touch.how > 0 GROUP BY 1"""
    rows: Any = db.execute(sql)
    return [FileSum(*row) for row in rows]


def holding_words(text: str) -> SqlCondition:
    """Files whose path holds every word of a text, in any case."""
    words = text.split()
    where = " AND ".join(f"{FILE_PATH} LIKE ? ESCAPE '\\'" for _ in words)
    return SqlCondition(f"({where or '1'})", tuple(map(sessions_holding, words)))


def named_files(db: apsw.Connection, path: str) -> SqlCondition:
    """The files that are meant: by the end of their path, at a slash, where there is such a one; else by any part."""
    wanted = path.replace("\\", "/").removeprefix("./")
    pattern = "%/" + sessions_holding(wanted.lstrip("/"))[1:-1]
    ends = f"({FILE_PATH} = ? OR {FILE_PATH} LIKE ? ESCAPE '\\')"
    touched = "EXISTS (SELECT 1 FROM touch WHERE touch.file = file.id)"  # a path stays when what touched it is gone
    if db.execute(f"SELECT 1 FROM file WHERE {ends} AND {touched} LIMIT 1", (wanted, pattern)).get:  # noqa: S608
        return SqlCondition(ends, (wanted, pattern))
    return SqlCondition(f"{FILE_PATH} LIKE ? ESCAPE '\\'", (sessions_holding(wanted),))


def find_files(db: apsw.Connection, typed: str, folder: str, most: int) -> list[FileSum]:
    """The files that a person means who types a path in a folder: that very one, else those of `named_files`."""
    whole = forward_slashes(file_place(typed, folder))
    for exact in dict.fromkeys((whole, forward_slashes(typed))):
        if (found := sum_file(db, exact)) is not None:
            return [found]
    return sum_files(db, [named_files(db, typed)], most)


def touch_prompts(db: apsw.Connection, archive: "ArchiveDatabase", touches: Iterable[FileTouch]) -> list[TouchPrompt]:
    """What a person had asked for before each touch; of a subagent's, in its session."""
    builder = HitBuilder(db, archive, lambda texts: Snippet(next(filter(str.strip, texts[0].splitlines()), "")))
    rows = [(one.session, _leading(db, one)) for one in touches]
    builder.prepare(row for _, row in rows)
    sessions = {session: builder.load(session) for session, _ in rows}
    found: dict[tuple[int, HitRow], str] = {}
    for session, row in rows:
        if (session, row) not in found:
            hit = builder.hit(row, sessions[session]) if row.turn else None
            found[session, row] = hit.snippet.text.strip() if hit is not None else ""
    return [TouchPrompt(found[session, row], row.turn or 0, row.time, row.place) for session, row in rows]


def _leading(db: apsw.Connection, one: FileTouch) -> HitRow:
    """The turn of the session itself in which something was touched."""
    if not one.agent or one.time is None:
        return one.turn
    row: Any = db.execute(_LED, (one.session, one.time * 1000)).fetchone()
    return one.turn if row is None else _turn_row(*row)
