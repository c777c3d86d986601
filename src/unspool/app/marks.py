"""Stars, tags, names and notes: where they are kept, and their pages."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import apsw
import msgspec
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool.app import render
from unspool.app.context import AppContext, file_identity
from unspool.errors import NotFound, Unreadable, UnspoolError, UsageProblem
from unspool.site.summaries import shorten_line
from unspool.store.archive.database import (
    overwrite_with_zeros,
    remove_database,
    sqlite_errors_told,
    swap_file,
    transaction,
    unlock,
)
from unspool.store.archive.keys import is_weak
from unspool.web.pages import answer_form, read_form, return_path

MARKS_FILE = "marks.db"
LONGEST_TITLE, LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 300, 20_000, 60, 30
_VERSION = 1
_WAIT_MS = 10_000
_TABLES = """
CREATE TABLE mark(session TEXT PRIMARY KEY, starred INTEGER NOT NULL DEFAULT 0, title TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '', changed REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE tag(session TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY(session, name)) WITHOUT ROWID;
CREATE TABLE hidden(project TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE saved(name TEXT PRIMARY KEY, query TEXT NOT NULL) WITHOUT ROWID;
"""
_NAMES = ("mark", "tag", "hidden", "saved")
_T = TypeVar("_T")


class StoredMark(NamedTuple):
    starred: bool = False
    title: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()


class SavedFilter(NamedTuple):
    name: str
    query: str
    """As it stands in an address, after the question mark."""


class AllMarks(msgspec.Struct, frozen=True):
    marks: dict[str, StoredMark] = {}
    """By the session's id."""
    hidden: frozenset[str] = frozenset()
    """Paths of projects."""
    saved: tuple[SavedFilter, ...] = ()

    @property
    def tags(self) -> dict[str, int]:
        """Every tag with the number of its sessions, in order of name."""
        counts = Counter(tag for mark in self.marks.values() for tag in mark.tags)
        return dict(sorted(counts.items(), key=lambda one: one[0].casefold()))

    def tagged(self, tag: str) -> list[str]:
        """The sessions that have a tag, in whatever case."""
        wanted = tag.casefold()
        return [key for key, mark in self.marks.items() if wanted in map(str.casefold, mark.tags)]

    def of(self, session: str) -> StoredMark:
        """The mark of a session; of one that another agent's is called like since, the one that it had before."""
        return self.marks.get(session) or self.marks.get(session.partition(":")[2], StoredMark())


class MarkStore:
    """The marks of an archive's folder; a connection a thread, no file before the first mark."""

    def __init__(self, folder: Path, key: str | None = None) -> None:
        self.path = folder / MARKS_FILE
        self._key = key
        self._local = threading.local()

    def rekeyed(self, key: str | None) -> None:
        """Give the marks another key, None being none: written anew, put in place, and the old bytes overwritten."""
        if not self.path.exists():
            return
        beside = self.path.with_name(f"{MARKS_FILE}.new")
        remove_database(beside)
        try:
            with sqlite_errors_told(self.path), closing(_opened(beside, key)) as fresh, transaction(fresh):
                self._db().execute("BEGIN IMMEDIATE")  # whoever writes must wait, and then meets another file
                for table in _NAMES:
                    for row in self._db().execute(f"SELECT * FROM {table}"):  # noqa: S608  ours
                        fresh.execute(f"INSERT INTO {table} VALUES({', '.join('?' * len(row))})", row)
            with sqlite_errors_told(beside), closing(_opened(beside, key)) as fresh:
                fresh.pragma("journal_mode", "delete")  # all of it in one file
            self._db().close()
            self._local = threading.local()
            old = os.open(self.path, os.O_RDWR)
            swap_file(beside, self.path)
            overwrite_with_zeros(old)
        finally:
            remove_database(beside)
        self._key = key

    def all_marks(self) -> AllMarks:
        """Everything that is marked; read again only when something changed."""
        if not self.path.exists():
            return AllMarks()
        with sqlite_errors_told(self.path):
            db = self._db()
            version = db.pragma("data_version"), file_identity(self.path)
            kept: tuple[Any, AllMarks] | None = getattr(self._local, "marks", None)
            if kept is None or kept[0] != version:
                self._local.marks = kept = version, _read_all(db)
            return kept[1]

    def change(self, session: str, **values: Any) -> None:
        """Set some of `starred`, `title`, `note` and `tags` of a session; the rest stays."""
        if not session or len(session) > 200 or not session.isprintable():
            raise UsageProblem("That is no session's id.")
        values = _clean(values)
        self._write(lambda db: _change(db, session, values))

    def forget(self, session: str) -> None:
        def delete(db: apsw.Connection) -> None:
            for table in ("tag", "mark"):
                db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608  ours

        if self.path.exists():
            self._write(delete)

    def hide(self, project: str, hidden: bool = True) -> None:
        """Take a project out of the lists, or put it back."""
        query = "INSERT OR IGNORE INTO hidden VALUES(?)" if hidden else "DELETE FROM hidden WHERE project = ?"
        self._write(lambda db: db.execute(query, (clean_text(project),)))

    def save(self, name: str, query: str) -> None:
        """Keep a filter under a name; an empty query takes it out."""
        name = " ".join(clean_text(name).split())[:LONGEST_TITLE]
        if not name:
            raise UsageProblem("A saved filter needs a name.")
        values: tuple[str, ...]
        sql, values = "DELETE FROM saved WHERE name = ?", (name,)
        if query:
            sql, values = "INSERT OR REPLACE INTO saved VALUES(?, ?)", (name, clean_text(query)[:2000])
        self._write(lambda db: db.execute(sql, values))

    def close(self) -> None:
        db = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            self._local.__dict__.clear()

    def _write(self, work: Callable[[apsw.Connection], _T]) -> _T:
        if self._key is not None and is_weak(self.path):
            self.rekeyed(self._key)
        with sqlite_errors_told(self.path):
            db = self._db()
            self._local.marks = None
            with transaction(db):
                return work(db)

    def _db(self) -> apsw.Connection:
        db: apsw.Connection | None = getattr(self._local, "db", None)
        if db is None or self._local.identity != file_identity(self.path):
            fixed = self.path.exists() and not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))
            self._local.db = db = (_readable if fixed else _opened)(self.path, self._key)
            self._local.identity = file_identity(self.path)
        return db


def _opened(path: Path, key: str | None) -> apsw.Connection:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unreadable(f"Cannot write {path}: {error.strerror or error}.") from None
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(_WAIT_MS)
    if key is not None:
        unlock(db, path, key)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "full")
    if db.pragma("user_version") > _VERSION:
        raise Unreadable(f"{path} was written by a newer unspool; nothing in it is changed.")
    if db.pragma("user_version") == 0:
        with transaction(db):
            if db.pragma("user_version") == 0:  # another process may have been quicker
                db.execute(_TABLES)
                db.pragma("user_version", _VERSION)
    return db


def _readable(path: Path, key: str | None) -> apsw.Connection:
    """The marks of a folder that cannot be written to, so that nobody else changes them either."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(f"{path.absolute().as_uri()}?mode=ro&immutable=1", flags=flags)
    if key is not None:
        unlock(db, path, key)
    return db


def _read_all(db: apsw.Connection) -> AllMarks:
    tags: dict[str, list[str]] = {}
    with db:  # one moment for all of it
        for session, name in db.execute("SELECT session, name FROM tag ORDER BY session, name COLLATE NOCASE"):
            tags.setdefault(session, []).append(name)
        marks = {
            session: StoredMark(bool(starred), title, note, tuple(tags.pop(session, ())))
            for session, starred, title, note in db.execute("SELECT session, starred, title, note FROM mark")
        }
        hidden = frozenset(project for (project,) in db.execute("SELECT project FROM hidden"))
        rows: Iterable[Any] = db.execute("SELECT name, query FROM saved ORDER BY name COLLATE NOCASE").fetchall()
    return AllMarks(marks, hidden, tuple(SavedFilter(*row) for row in rows))


def _change(db: apsw.Connection, session: str, values: dict[str, Any]) -> None:
    db.execute("INSERT OR IGNORE INTO mark(session, changed) VALUES(?, 0)", (session,))
    for name in ("starred", "title", "note"):
        if name in values:
            db.execute(f"UPDATE mark SET {name} = ? WHERE session = ?", (values[name], session))  # noqa: S608  ours
    if "tags" in values:
        db.execute("DELETE FROM tag WHERE session = ?", (session,))
        db.executemany("INSERT OR IGNORE INTO tag VALUES(?, ?)", ((session, name) for name in values["tags"]))
    db.execute("UPDATE mark SET changed = ? WHERE session = ?", (time.time(), session))


def _clean(values: dict[str, Any]) -> dict[str, Any]:
    """The values as they are kept: white space settled, lengths bounded, one tag once."""
    cleaners: dict[str, Callable[[Any], Any]] = {
        "starred": lambda starred: int(bool(starred)),
        "title": lambda title: " ".join(clean_text(title).split())[:LONGEST_TITLE],
        "note": lambda note: clean_text(note).replace("\r\n", "\n").strip()[:LONGEST_NOTE],
        "tags": clean_tags,
    }
    return {name: cleaners[name](value) for name, value in values.items()}


def clean_tags(names: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are kept: without their #, one of each in whatever case."""
    whole = (" ".join(clean_text(name).split()).lstrip("#").strip()[:LONGEST_TAG] for name in names)
    return tuple({name.casefold(): name for name in whole if name}.values())[:MOST_TAGS]


def clean_text(text: str) -> str:
    """A text that the database takes: no halves of characters, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def get_mark_store(context: AppContext) -> MarkStore:
    return context.part(MarkStore, lambda: MarkStore(context.folder, context.key))


def read_marks(context: AppContext) -> AllMarks:
    """All marks; none where they cannot be read, which pages tell."""
    try:
        return get_mark_store(context).all_marks()
    except UnspoolError:
        return AllMarks()


def custom_titles(context: AppContext) -> dict[str, str]:
    """The names that a person gave to sessions, by id."""
    return {key: mark.title for key, mark in read_marks(context).marks.items() if mark.title}


_TITLE = "SELECT title FROM session WHERE key = ? AND version_of IS NULL"


def mark_form(request: Request) -> HTMLResponse:
    """All that can be said about a session; `part=form` gives the form alone."""
    key, context = request.path_params["key"], request.app.state.context
    marks, name = get_mark_store(context).all_marks(), shorten_line(_title(context, key), 160) or key
    alone = request.query_params.get("part") == "form"
    body = render.render_template(
        "mark.html",
        key=key,
        title=name,
        mark=marks.of(key),
        known=tuple(marks.tags),
        back=return_path(dict(request.query_params), render.session_href(key)),
        limits=(LONGEST_TITLE, LONGEST_NOTE, LONGEST_TAG),
        alone=alone,
        read_only=request.app.state.read_only,
    )
    if alone:
        return HTMLResponse(body)
    crumbs = (render.HOME, render.nav_link("sessions"))
    return render.render_page(request, f"Mark · {name}", body, crumbs, ("app.css",), ("browse.js",))


async def change_mark(request: Request) -> Response:
    """Set what the form says; what it does not speak of stays."""
    key, context, sent = request.path_params["key"], request.app.state.context, await read_form(request)
    values: dict[str, Any] = {name: sent[name] for name in ("title", "note") if name in sent}
    if "star" in sent:
        values["starred"] = sent["star"].rpartition("\n")[2] == "1"  # a box that is ticked comes after its hidden twin
    if "tags" in sent:
        values["tags"] = sent["tags"].replace("\n", ",").split(",")
    if not values:
        raise UsageProblem("The form says nothing about the session.")

    def change() -> StoredMark:
        _title(context, key)  # there is such a session
        store = get_mark_store(context)
        store.change(key, **values)
        return store.all_marks().of(key)

    mark = await run_sync(change)
    return answer_form(request, sent, render.session_href(key), mark._asdict())


def _title(context: AppContext, key: str) -> str:
    """The session's own title; NotFound where there is none. One that no sync has seen yet is called by its id."""
    with suppress(NotFound), context.index() as index:
        title: str | None = index.db.execute(_TITLE, (key,)).get
        if title is not None:
            return title
    return context.found(key).session_id


async def save_filter(request: Request) -> Response:
    sent = await read_form(request)
    query = "" if sent.get("forget") else sent.get("query", "").lstrip("?")
    if not query and not sent.get("forget"):
        raise UsageProblem("Only a list that is filtered can be saved.")
    await run_sync(get_mark_store(request.app.state.context).save, sent.get("name", ""), query)
    return answer_form(request, sent, f"/sessions?{query}" if query else "/sessions")


ROUTES = [
    Route("/marks/{key}", mark_form, methods=["GET"]),
    Route("/marks/{key}", change_mark, methods=["POST"]),
    Route("/saved", save_filter, methods=["POST"]),
]
