"""What the index knows of files: which there are below a folder, and every time one was read or changed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from unspool.index.filters import holding
from unspool.index.schema import TOUCHES

_PATH = "replace(file.path, '\\', '/')"
_JOINED = """FROM file CROSS JOIN touch ON touch.file = file.id CROSS JOIN turn ON turn.id = touch.turn
CROSS JOIN log ON log.id = turn.log CROSS JOIN session ON session.id = log.session
LEFT JOIN doc ON doc.id = touch.doc"""
_WHEN = "coalesce(touch.time, turn.time / 1000.0)"
_TOUCHED = f"""SELECT session.key, session.title, session.project, session.kind, log.agent, touch.how, {_WHEN},
doc.place {_JOINED} WHERE {_PATH} = ? AND touch.how IN (SELECT value FROM json_each(?))
ORDER BY {_WHEN} DESC NULLS LAST, touch.rowid DESC LIMIT ?"""  # noqa: S608  no value
_COUNTED = f"""SELECT touch.how, count(*) FROM file CROSS JOIN touch ON touch.file = file.id WHERE {_PATH} = ?
GROUP BY 1"""  # noqa: S608  no value
_FILES = f"""SELECT {_PATH}, count(*), sum(touch.how > 0), max(touch.time)
FROM file CROSS JOIN touch ON touch.file = file.id WHERE {{}} GROUP BY 1"""  # noqa: S608  no value


class Touch(NamedTuple):
    """One time that a session read or changed a file."""

    key: str
    title: str
    project: str
    kind: str
    agent: str
    how: str
    time: float | None
    place: int | None
    """Where the call is in its log; unknown where it is a copy of another session's."""


class Entry(NamedTuple):
    """A file, or a folder with all below it."""

    path: str
    """A folder's ends with a slash."""
    touches: int
    changes: int
    last: float | None
    files: int = 0
    """How many files a folder holds; 0 for a file."""


def touched(db: apsw.Connection, path: str, hows: Sequence[str], most: int) -> list[Touch]:
    """The last times that a file was touched in one of some ways, the newest first."""
    numbers = str([TOUCHES.index(how) for how in hows])
    rows: list[Any] = db.execute(_TOUCHED, (path, numbers, most)).fetchall()
    return [Touch._make((*plain, TOUCHES[how], time, place)) for *plain, how, time, place in rows]


def counts(db: apsw.Connection, path: str) -> dict[str, int]:
    """How often a file was read, written and edited."""
    rows: list[Any] = db.execute(_COUNTED, (path,)).fetchall()
    return {TOUCHES[how]: number for how, number in rows}


def below(db: apsw.Connection, folder: str) -> tuple[str, list[Entry]]:
    """What lies in a folder, and the folder itself: the deepest that holds all that lies below the one asked for."""
    files = _entries(db, f"substr({_PATH}, 1, ?) = ?", (len(folder), folder))
    if not files:
        return folder, []
    shared = _shared([one.path for one in files], folder)
    groups: dict[str, list[Entry]] = {}
    for one in files:
        name, slash, _ = one.path[len(shared) :].partition("/")
        groups.setdefault(f"{shared}{name}{slash}", []).append(one)
    return shared, sorted((_folded(path, found) for path, found in groups.items()), key=_order)


def holding_text(db: apsw.Connection, text: str, most: int) -> list[Entry]:
    """Files whose path holds a text in any case, the last touched first."""
    found = _entries(db, f"{_PATH} LIKE ? ESCAPE '\\'", (holding(text),))
    return sorted(found, key=lambda one: -(one.last or 0))[:most]


def _entries(db: apsw.Connection, where: str, values: tuple[Any, ...]) -> list[Entry]:
    rows: list[Any] = db.execute(_FILES.format(where), values).fetchall()
    return [Entry(*row) for row in rows]


def _shared(paths: Sequence[str], folder: str) -> str:
    """The folder that all paths lie in."""
    first, last = min(paths), max(paths)
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[: max(first.rfind("/", 0, same) + 1, len(folder))]


def _folded(path: str, found: list[Entry]) -> Entry:
    if not path.endswith("/"):
        return found[0]
    times = [one.last for one in found if one.last is not None]
    touches, changes = sum(one.touches for one in found), sum(one.changes for one in found)
    return Entry(path, touches, changes, max(times, default=None), len(found))


def _order(one: Entry) -> tuple[bool, str]:
    """Folders first, by name."""
    return not one.files, one.path.casefold()
