"""Which sessions touched a file, the last one first, and what they did with it."""

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec

from unspool.index.filters import Condition, conditions, holding
from unspool.index.hits import COLUMNS, Row, Store, Teller
from unspool.index.query import Query
from unspool.index.results import FoundSession, Hit, Results, Snippet
from unspool.index.schema import KINDS, TOUCHES
from unspool.index.search import DEFAULT, Wanted, word_condition
from unspool.index.snippet import snippet

_PATH = "replace(file.path, '\\', '/')"
_CALL = KINDS.index("call")
_TOUCH = "file.path, touch.how, turn.place"
_WHEN = "coalesce(touch.time, turn.time / 1000.0, 0)"
_JOINED = """
FROM file CROSS JOIN touch ON touch.file = file.id CROSS JOIN turn ON turn.id = touch.turn
CROSS JOIN log ON log.id = turn.log CROSS JOIN session ON session.id = log.session
LEFT JOIN doc ON doc.id = touch.doc
"""


class _Beginning:
    """Takes every text, by its beginning."""

    def __init__(self, size: int) -> None:
        self._size = size

    def pick(self, texts: Sequence[str]) -> Snippet:
        return snippet(texts[0], (), self._size)


def touches(db: apsw.Connection, archive: Store, path: str, query: Query, wanted: Wanted = DEFAULT) -> Results:
    """The sessions that touched a file: one whose path ends with `path`, else all whose path holds it."""
    asked = [_which(db, path), *conditions(db, query), *word_condition(query)]
    where = f"{_JOINED} WHERE {' AND '.join(one.sql for one in asked)}"
    values = tuple(value for one in asked for value in one.values)
    sql = f"SELECT log.session, count(*), max({_WHEN}) {where} GROUP BY 1 ORDER BY 3 DESC"
    groups: list[Any] = db.execute(sql, values).fetchall()
    teller = Teller(db, archive, _Beginning(wanted.context))
    each = f"SELECT {_TOUCH}, {COLUMNS} {where} AND log.session = ? ORDER BY {_WHEN} DESC LIMIT ?"
    found: list[FoundSession] = []
    for session, count, _ in groups[: wanted.sessions or None]:
        rows: list[Any] = db.execute(each, (*values, session, wanted.hits)).fetchall()
        found.append(_told(teller, session, count, rows))
    return Results(tuple(found), len(groups), sum(group[1] for group in groups), query.notes)


def _told(teller: Teller, session: int, count: int, rows: list[Any]) -> FoundSession:
    told = teller.told(session)
    hits: list[Hit] = []
    for file, how, place, *columns in rows:
        row = Row(*columns)
        # The words of a call that was made before are not kept twice: its turn is told instead.
        hit = teller.hit(row if row.doc is not None else row._replace(kind=_CALL, place=place), told)
        if hit is not None:
            hits.append(msgspec.structs.replace(hit, file=file, how=TOUCHES[how]))
    return teller.session(told, hits, count, 0.0)


def _which(db: apsw.Connection, path: str) -> Condition:
    """The files that are meant: by the end of their path, at a slash, where there is such a one."""
    wanted = path.replace("\\", "/").removeprefix("./")
    pattern = "%/" + holding(wanted.lstrip("/"))[1:-1]
    ends = f"({_PATH} = ? OR {_PATH} LIKE ? ESCAPE '\\')"
    touched = "EXISTS (SELECT 1 FROM touch WHERE touch.file = file.id)"  # a path stays when what touched it is gone
    if db.execute(f"SELECT 1 FROM file WHERE {ends} AND {touched} LIMIT 1", (wanted, pattern)).get:  # noqa: S608
        return Condition(ends, (wanted, pattern))
    return Condition(f"{_PATH} LIKE ? ESCAPE '\\'", (holding(wanted),))
