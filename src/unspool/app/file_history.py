"""What index and logs know of a file: every read and change, and what it held around a call."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from unspool.agents import by_id
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, get_session
from unspool.errors import NotFound
from unspool.figures import calls_of, family
from unspool.figures.changes import FileAroundCall, calls_touching, forward_slashes, replay_file
from unspool.model import Session, ToolCall
from unspool.store.index.filters import sessions_holding
from unspool.store.index.schema import TOUCHES

_PATH = "replace(file.path, '\\', '/')"
_JOINED = """FROM file CROSS JOIN touch ON touch.file = file.id CROSS JOIN turn ON turn.id = touch.turn
CROSS JOIN log ON log.id = turn.log CROSS JOIN session ON session.id = log.session
LEFT JOIN doc ON doc.id = touch.doc"""
_WHEN = "coalesce(touch.time, turn.time / 1000.0)"
_TOUCHED = f"""SELECT session.key, session.title, session.project, session.kind, log.agent, touch.how, {_WHEN},
doc.place {_JOINED} WHERE {_PATH} = ? AND NOT turn.copied AND touch.how IN (SELECT value FROM json_each(?))
ORDER BY {_WHEN} DESC NULLS LAST, touch.rowid DESC LIMIT ?"""  # noqa: S608  no value
_ONCE = """FROM file CROSS JOIN touch ON touch.file = file.id CROSS JOIN turn ON turn.id = touch.turn
AND NOT turn.copied"""
_COUNTED = f"SELECT touch.how, count(*) {_ONCE} WHERE {_PATH} = ? GROUP BY 1"
_FILES = f"SELECT {_PATH}, count(*), sum(touch.how > 0), max(touch.time) {_ONCE} WHERE {{}} GROUP BY 1"


class FileTouch(NamedTuple):
    key: str
    title: str
    project: str
    kind: str
    agent: str
    how: str
    time: float | None
    place: int | None
    """Where the call is in its log; unknown where it is a copy of another session's."""


class FileEntry(NamedTuple):
    """A file, or a folder with all below it."""

    path: str
    """A folder's ends with a slash."""
    touches: int
    changes: int
    last: float | None
    files: int = 0
    """How many files a folder holds; 0 for a file."""


def file_touches(db: apsw.Connection, path: str, hows: Sequence[str], most: int) -> list[FileTouch]:
    """The last times that a file was touched in one of some ways, the newest first."""
    numbers = str([TOUCHES.index(how) for how in hows])
    rows: list[Any] = db.execute(_TOUCHED, (path, numbers, most)).fetchall()
    return [FileTouch._make((*plain, TOUCHES[how], time, place)) for *plain, how, time, place in rows]


def touch_counts(db: apsw.Connection, path: str) -> dict[str, int]:
    rows: list[Any] = db.execute(_COUNTED, (path,)).fetchall()
    return {TOUCHES[how]: number for how, number in rows}


def folder_entries(db: apsw.Connection, folder: str) -> tuple[str, list[FileEntry]]:
    """What lies in a folder, and the folder itself: the deepest that holds all that lies below the one asked for."""
    files = _entries(db, f"substr({_PATH}, 1, ?) = ?", (len(folder), folder))
    if not files:
        return folder, []
    first, last = min(one.path for one in files), max(one.path for one in files)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    shared = first[: max(first.rfind("/", 0, same) + 1, len(folder))]
    groups: dict[str, list[FileEntry]] = {}
    for one in files:
        name, slash, _ = one.path[len(shared) :].partition("/")
        groups.setdefault(f"{shared}{name}{slash}", []).append(one)
    entries = [_folded(path, found) if path.endswith("/") else found[0] for path, found in groups.items()]
    return shared, sorted(entries, key=lambda one: (not one.files, one.path.casefold()))


def files_holding(db: apsw.Connection, text: str, most: int) -> list[FileEntry]:
    """Files whose path holds a text in any case, the last touched first."""
    found = _entries(db, f"{_PATH} LIKE ? ESCAPE '\\'", (sessions_holding(text),))
    return sorted(found, key=lambda one: -(one.last or 0))[:most]


def _entries(db: apsw.Connection, where: str, values: tuple[Any, ...]) -> list[FileEntry]:
    rows: list[Any] = db.execute(_FILES.format(where), values).fetchall()
    return [FileEntry(*row) for row in rows]


def _folded(path: str, found: list[FileEntry]) -> FileEntry:
    times = [one.last for one in found if one.last is not None]
    touches, changes = sum(one.touches for one in found), sum(one.changes for one in found)
    return FileEntry(path, touches, changes, max(times, default=None), len(found))


_LARGEST = 16 * 1024 * 1024
_BEFORE, _LOOKED = 3, 2000
"""Sessions before it that are looked at for what the file was, and touches among which they are looked for."""


class FileCall(NamedTuple):
    """A call, by where its line is in which log."""

    path: str
    key: str
    place: int
    agent: str = ""


class FileAtCall(NamedTuple):
    now: FileAroundCall
    title: str
    """Of the session."""
    number: int
    """Which of the session's calls on the file it is, from 1."""
    of: int
    earlier: FileCall | None
    later: FileCall | None
    borrowed: str
    """The title of the session before it that told what the file was; empty where none was needed."""

    @property
    def new(self) -> bool:
        """True where there was no such file before, and all of it is known."""
        return self.now.before == "" and bool(self.now.after)


def file_at_call(context: AppContext, call: FileCall) -> FileAtCall:
    """The file around a call; NotFound where there is no such call."""
    opened = get_session(context, call.key)
    session = opened.session
    agents = _agents(session)
    calls = _calls_on(session, call.path)
    places = [call._replace(place=one.place.offset, agent=agents[id(one)]) for one in calls]
    # a subagent's call that stands in its session's own log goes by its place alone
    near = [number for number, one in enumerate(places) if one.place == call.place]
    if not near:
        raise NotFound("The session has no such call on this file.")
    at = next((number for number in near if places[number].agent == call.agent), near[0])
    kept = _kept(context, opened, call.path)
    found, borrowed = replay_file(calls, None, kept, call.path), ""
    if found[at].after is None:
        believed, borrowed = _believed(context, call, calls[0])
        found = replay_file(calls, believed, kept, call.path)
        borrowed = borrowed if found[at].after is not None else ""
    earlier = places[at - 1] if at else None
    later = places[at + 1] if at + 1 < len(places) else None
    return FileAtCall(found[at], session.title, at + 1, len(calls), earlier, later, borrowed)


def _calls_on(session: Session, path: str) -> list[ToolCall]:
    return calls_touching((call for member in family(session) for call in calls_of(member)), path)


def _agents(session: Session) -> dict[int, str]:
    """The subagent that made each call, by the call's identity."""
    found = dict.fromkeys(map(id, calls_of(session)), "")
    for member in family(session):
        for agent in member.agents:
            found.update(dict.fromkeys(map(id, calls_of(agent.session)), agent.id))
    return found


def _kept(context: AppContext, opened: OpenSession, path: str) -> list[tuple[float, str]]:
    """The file as the agent put it aside, with the times, as far as what it put aside is still there."""
    session = opened.session
    listed = by_id(opened.found.agent_id).files.checkpoints(session.side, session.cwd)
    marked = [one for one in listed if forward_slashes(one.path) == path]
    names = {one.name for one in marked if one.name}
    files = {Path(one.path).name: Path(one.path) for one in context.library().companions(session)} if names else {}
    found = []
    for one in sorted(marked, key=lambda one: one.time):
        text = _text(files[one.name]) if one.name in files else None if one.name else ""
        if text is not None:
            found.append((one.time.timestamp(), text))
    return found


def _text(path: Path) -> str | None:
    """The text of a file; None where it is none."""
    try:
        return path.read_bytes()[:_LARGEST].decode() if not path.is_symlink() else None
    except (OSError, UnicodeDecodeError):
        return None


def _believed(context: AppContext, call: FileCall, first: ToolCall) -> tuple[str | None, str]:
    """What the sessions before it left, by the last one that tells; and that one's title."""
    if first.time is None:
        return None, ""
    with context.index() as index:
        touches = file_touches(index.db, call.path, TOUCHES, _LOOKED)
    moment = first.time.timestamp()
    keys = (one.key for one in touches if one.time is not None and one.time < moment and one.kind != "ghost")
    for key in [key for key in dict.fromkeys(keys) if key != call.key][:_BEFORE]:
        session = get_session(context, key).session
        replayed = replay_file(_calls_on(session, call.path), path=call.path)
        if replayed and replayed[-1].after is not None:
            return replayed[-1].after, session.title
    return None, ""
