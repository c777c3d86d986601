"""`/files`: folders and files that sessions touched, and the time-line of one: who read and changed it, and when."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

import apsw
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from unspool import human
from unspool.app import render
from unspool.app.find.shown import folder_name, moment, place_href, session_href
from unspool.app.marks.desk import own_titles
from unspool.app.understand import history, stood
from unspool.app.understand.history import Entry, Touch
from unspool.app.understand.standing import Asked
from unspool.app.understand.tables import file_href
from unspool.export.html.escape import visible
from unspool.figures.standing import plain
from unspool.index.schema import TOUCHES

_LONGEST = 4000
_ENTRIES = 500
_TOUCHES = 300
_WAYS = {"": TOUCHES, "changes": ("write", "edit"), "reads": ("read",)}
_SAID = {"read": "read", "write": "written", "edit": "edited"}


class Step(NamedTuple):
    """A folder on the way to a path."""

    text: str
    href: str


class Line(NamedTuple):
    """A file or folder in a list."""

    name: str
    href: str
    folder: bool
    about: str
    last: datetime | None


class Moment(NamedTuple):
    """One touch."""

    how: str
    said: str
    time: datetime | None
    href: str
    agent: bool
    stood: str
    """Where the file as it stood then is shown; empty where that cannot be."""


class Visit(NamedTuple):
    """A session that touched the file, some times after each other."""

    title: str
    href: str
    project: str
    kind: str
    moments: tuple[Moment, ...]


def page(request: Request) -> HTMLResponse:
    """A file's time-line where the path is a file's; what lies below it, or files of such a name, where it is not."""
    path = plain(request.query_params.get("path", "")[:_LONGEST].encode(errors="replace").decode())
    way = request.query_params.get("only", "")
    with request.app.state.desk.index() as index:
        known = history.counts(index.db, path) if path else {}
        found = history.touched(index.db, path, _WAYS.get(way, TOUCHES), _TOUCHES) if known else []
        titles = own_titles(request.app.state.desk) if found else {}
        named = [one._replace(title=titles.get(one.key, one.title)) for one in found]
        body = _timeline(path, way, known, named) if known else _browse(index.db, path)
    name = visible(path.rstrip("/").rpartition("/")[2])
    return render.page(request, f"{name} · Files" if name else "Files", body, styles=("find.css", "stats.css"))


def _timeline(path: str, way: str, known: dict[str, int], found: list[Touch]) -> str:
    every = sum(known.get(how, 0) for how in _WAYS.get(way, TOUCHES))
    return render.render(
        "file.html",
        path=visible(path),
        trail=_trail(path),
        name=path.rpartition("/")[2] or path,
        counts=[f"{known[how]:,} × {_SAID[how]}" for how in reversed(TOUCHES) if known.get(how)],
        ways=[Step(said, f"{file_href(path)}{query}") for said, query in _links()],
        way=list(_WAYS).index(way) if way in _WAYS else 0,
        visits=tuple(_visits(found, path)),
        rest=every - len(found),
    )


def _links() -> Iterator[tuple[str, str]]:
    return ((way or "everything", f"&only={way}" if way else "") for way in _WAYS)


def _visits(found: list[Touch], path: str) -> Iterator[Visit]:
    """Touches one after the other in one session are one visit."""
    for (key, title, project, kind), group in groupby(found, key=lambda one: one[:4]):
        ghost = kind == "ghost"
        yield Visit(
            " ".join(visible(title).split()) or key,
            "" if ghost else session_href(key),
            folder_name(project),
            kind if kind != "interactive" else "",
            tuple(_moment(one, path, ghost=ghost) for one in group),
        )


def _moment(one: Touch, path: str, *, ghost: bool) -> Moment:
    time = moment(one.time)
    href = session_href(one.key)
    if one.time is not None and time is not None:
        href = place_href(one.key, f"msg-{round(one.time * 1000)}", one.agent, one.place)
    placed = not ghost and one.place is not None
    then = stood.href(Asked(path, one.key, one.place or 0, one.agent)) if placed else ""
    return Moment(one.how, _SAID[one.how], time, "" if ghost else href, bool(one.agent), then)


def _browse(db: apsw.Connection, path: str) -> str:
    folder = path if not path or path.endswith("/") else f"{path}/"
    shared, found = history.below(db, folder)
    named = [] if found else history.holding_text(db, path, _ENTRIES)
    start = len(shared) if found else 0
    return render.render(
        "files.html",
        path=visible(path),
        trail=_trail(shared) if found and shared else [],
        lines=[_line(one, start) for one in (found or named)[:_ENTRIES]],
        rest=max(0, len(found) - _ENTRIES),
        named=bool(named),
        asked=bool(path),
    )


def _line(one: Entry, start: int) -> Line:
    about = human.joined(
        human.count(one.files, "file") if one.files else "",
        human.count(one.changes, "change") if one.changes else "",
        human.count(one.touches - one.changes, "read") if one.touches > one.changes else "",
    )
    return Line(one.path[start:], file_href(one.path), bool(one.files), about, moment(one.last))


def _trail(path: str) -> list[Step]:
    """The folders above a path, and itself."""
    found, at = [], 0
    while 0 <= at < len(path):
        end = path.find("/", at)
        end = len(path) if end < 0 else end
        if text := path[at:end]:
            found.append(Step(text, file_href(path[: end + 1])))
        at = end + 1
    return found


ROUTES = [Route("/files", page)]
