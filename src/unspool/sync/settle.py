"""What only a session's neighbours can tell: its project's path, its title where another log holds it, its kind."""

import posixpath
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw
import msgspec

from unspool.index.write import clean
from unspool.library.chains import Skimmed, linked
from unspool.library.projects import unified
from unspool.model import Overview


class _Row(NamedTuple):
    id: int
    path: str
    project: str
    title: str
    kind: str
    skimmed: Skimmed


def settle(db: apsw.Connection, changed: Iterable[tuple[int, str]]) -> None:
    """Bring project, title and kind of all sessions that lie beside the changed ones in line with each other."""
    for origin, folder in sorted({(origin, posixpath.dirname(path)) for origin, path in changed}):
        rows = list(_beside(db, origin, folder))
        paths = unified((f"{origin}/{folder}", row.skimmed.overview) for row in rows)
        told = linked([Skimmed(overview, row.skimmed.ids) for overview, row in zip(paths, rows, strict=True)])
        for row, overview in zip(rows, told, strict=True):
            now = clean(overview.project), clean(overview.title), overview.kind
            if now != (row.project, row.title, row.kind):
                db.execute("UPDATE session SET project = ?, title = ?, kind = ? WHERE id = ?", (*now, row.id))


def _beside(db: apsw.Connection, origin: int, folder: str) -> Iterable[_Row]:
    first = f"{folder}/" if folder else ""
    query = (
        "SELECT id, path, project, title, kind, overview, ids FROM session"
        " WHERE origin = ? AND path >= ? AND path < ? AND kind <> 'ghost' ORDER BY path"
    )
    rows: Any = db.execute(query, (origin, first, f"{folder}0" if folder else "\U0010ffff"))
    for number, path, project, title, kind, overview, ids in rows:
        if posixpath.dirname(path) == folder:
            read = msgspec.msgpack.decode(overview, type=Overview)
            yield _Row(number, path, project, title, kind, Skimmed(read, array("Q", ids)))
