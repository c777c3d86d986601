"""Everything an index says, with its own numbers replaced by what they stand for: two that say the same are equal."""
# ruff: noqa: S608  names of columns

from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import msgspec

from unspool.model import Overview
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index

Rows = dict[str, list[tuple[Any, ...]]]

_SESSION = "session.origin, session.path"
_LOG = f"{_SESSION}, log.number"
_TURN = f"{_LOG}, turn.number"
_OF_LOG = "JOIN session ON session.id = log.session"
_OF_TURN = f"JOIN log ON log.id = turn.log {_OF_LOG}"
_FIGURES = "input, output, cache_read, cache_write, cache_write_1h, web_searches, web_fetches, final, counts"
_QUERIES = {
    "session": f"SELECT {_SESSION}, key, project, title, kind, branch, started, ended, turns, messages, calls, errors,"
    " cost, unpriced, open, forked, copied, (SELECT path FROM session AS other WHERE other.id = session.version_of),"
    " (SELECT path FROM session AS other WHERE other.id = session.history), prompts, overview, ids FROM session",
    "log": f"SELECT {_LOG}, log.path, log.agent, log.size FROM log {_OF_LOG}",
    "turn": f"SELECT {_TURN}, turn.time, turn.place, name.text, docs, line, turn.copied FROM turn {_OF_TURN}"
    " LEFT JOIN name ON name.id = turn.model",
    "doc": f"SELECT {_TURN}, doc.id - turn.doc, doc.kind, doc.place, name.text, error FROM doc"
    f" JOIN turn ON turn.id = doc.turn {_OF_TURN} LEFT JOIN name ON name.id = doc.tool",
    "words": f"SELECT term, {_TURN}, said.doc - turn.doc, offset FROM temp.said"
    f" JOIN doc ON doc.id = said.doc JOIN turn ON turn.id = doc.turn {_OF_TURN}",
    "touch": f"SELECT {_TURN}, file.path, how, touch.time, iif(touch.doc, touch.doc - turn.doc, -1) FROM touch"
    f" JOIN file ON file.id = touch.file JOIN turn ON turn.id = touch.turn {_OF_TURN}",
    "git_commit": f"SELECT {_TURN}, hash, git_commit.branch, message, git_commit.time FROM git_commit"
    f" JOIN turn ON turn.id = git_commit.turn {_OF_TURN}",
    "plan": f"SELECT {_TURN}, plan.title, status FROM plan JOIN turn ON turn.id = plan.turn {_OF_TURN}",
    "todo": f"SELECT {_SESSION}, position, text, todo.state FROM todo JOIN session ON session.id = todo.session",
    "tally": f"SELECT {_TURN}, name.text, tally.calls, tally.errors FROM tally"
    f" JOIN name ON name.id = tally.tool JOIN turn ON turn.id = tally.turn {_OF_TURN}",
    "request": f"SELECT {_SESSION}, message, request, request.time, model, speed, tier, geo, {_FIGURES}, log.number,"
    " request.cost FROM request JOIN session ON session.id = request.session JOIN terms ON terms.id = request.terms"
    " LEFT JOIN log ON log.id = request.agent",
}
_ALL = {
    "session": "SELECT count(*) FROM session",
    "log": "SELECT count(*) FROM log",
    "turn": "SELECT count(*) FROM turn",
    "doc": "SELECT sum(docs) FROM turn",
    "touch": "SELECT count(*) FROM touch",
    "git_commit": "SELECT count(*) FROM git_commit",
    "plan": "SELECT count(*) FROM plan",
    "todo": "SELECT count(*) FROM todo",
    "tally": "SELECT count(*) FROM tally",
    "request": "SELECT count(*) FROM request",
}


def dump(folder: Path, *, states: bool = False) -> Rows:
    """What the index of a folder says; with `states`, also what its rows were derived from."""
    with Index.open(folder, readonly=True) as index:
        index.db.pragma("query_only", False)
        found = dumped(index.db)
        if states:
            found["state"] = _sorted(index.db.execute("SELECT origin, path, state FROM session"))
            query = f"SELECT {_LOG}, generation FROM log {_OF_LOG}"
            found["generation"] = _sorted(index.db.execute(query))
    return found


def dumped(db: apsw.Connection) -> Rows:
    """What an index says; nothing in it may be left over from what it says no more."""
    db.execute("CREATE VIRTUAL TABLE temp.said USING fts5vocab('main', 'words', 'instance')")
    found = {name: _sorted(db.execute(query)) for name, query in _QUERIES.items()}
    found["session"] = [(*row[:-2], *_told(row[-2]), row[-1]) for row in found["session"]]
    db.execute("DROP TABLE temp.said")
    for name, query in _ALL.items():
        assert len(found[name]) == (db.execute(query).get or 0), f"rows of {name} that belong to nothing"
    assert db.execute("SELECT count(*) FROM doc").get == len(found["doc"])
    words, docs = (dict.fromkeys(row[0] for row in db.execute(f"SELECT {sql}")) for sql in (_WORDS, _DOCS))
    assert words == docs, "words of no document, or a document without words"
    return found


_WORDS, _DOCS = "rowid FROM words ORDER BY 1", "id FROM doc ORDER BY 1"


def differing(one: Rows, other: Rows) -> dict[str, tuple[list[Any], list[Any]]]:
    """The rows that only one of two dumps has, a few of each, by table."""
    told = {}
    for name in one.keys() | other.keys():
        here, there = Counter(one.get(name, [])), Counter(other.get(name, []))
        if here != there:
            told[name] = _shortened(list((here - there).elements()), list((there - here).elements()))
    return told


def _told(overview: bytes) -> list[str]:
    """The fields of an overview."""
    if not overview:
        return []
    read = msgspec.msgpack.decode(overview, type=Overview)
    return [f"{name}: {getattr(read, name)!r}" for name in read.__struct_fields__]


def _shortened(here: list[Any], there: list[Any]) -> tuple[list[Any], list[Any]]:
    """Rows without what they agree in, where as many are here as there; else a few of them."""
    if len(here) != len(there):
        return here[:3], there[:3]
    for one, other in zip(here, there, strict=True):
        pairs = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return [one for one, _ in pairs], [other for _, other in pairs]


def generations_fit(folder: Path) -> None:
    """Every log in the index is the last generation that the archive holds of it, and no longer than that."""
    with Index.open(folder, readonly=True) as index, ArchiveDatabase.open(folder, readonly=True) as archive:
        query = "SELECT session.origin, log.path, generation, log.size FROM log JOIN session ON session.id = session"
        for origin, path, generation, size in index.db.execute(f"{query} WHERE kind <> 'ghost'"):
            kept = archive.last(origin, path)
            assert kept is not None, path
            assert (kept.generation, kept.size) == (generation, size), path


def _sorted(rows: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows), key=repr)
