"""`/files`: folders, a file's time-line, and a file as it stood after a call."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urlencode

import apsw
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app import file_history, render
from unspool.app.file_history import FileAtCall, FileCall, FileEntry, FileTouch, file_at_call
from unspool.app.marks import custom_titles
from unspool.app.search_results import block_href, folder_name, session_href, to_datetime
from unspool.app.stats_tables import file_href
from unspool.doc import Code, Diff, Node
from unspool.errors import NotFound
from unspool.figures.changes import forward_slashes
from unspool.render.html.elements import HtmlOptions, visible
from unspool.render.html.nodes import nodes_html
from unspool.site.page_template import Crumb
from unspool.store.index.schema import TOUCHES
from unspool.tools import changes
from unspool.tools.summary import language

_SAID = {"read": "read", "write": "written", "edit": "edited"}
_LONGEST = 4000
_SHOWN = 400_000
"""Characters of a file that a page shows; all of it can be had as a file."""


class CallStep(NamedTuple):
    """Another time that the session touched the file."""

    text: str
    href: str


def file_at_call_page(request: Request) -> HTMLResponse:
    """The file after one call."""
    asked = _asked(request.query_params)
    found = file_at_call(request.app.state.context, asked)
    name = asked.path.rpartition("/")[2] or asked.path
    body = render.render_template(
        "stood.html",
        path=asked.path,
        name=name,
        found=found,
        said=_SAID.get(found.now.call.role, found.now.call.role),
        session=session_href(asked.key),
        place=_place(asked, found),
        timeline=f"/files?{urlencode({'path': asked.path}, errors='replace')}",
        steps=tuple(_steps(asked, found)),
        change=_markup(_change(found, asked.path)),
        whole=_markup(_whole(found, asked.path)),
        cut=len(found.now.after or "") > _SHOWN,
        download=f"/files/at.txt?{_query(asked)}",
    )
    crumbs = (render.HOME, Crumb("Files", "files"))
    return render.render_page(request, f"{name} as it stood", body, crumbs, styles=("find.css", "stats.css"))


def file_at_call_text(request: Request) -> Response:
    found = file_at_call(request.app.state.context, _asked(request.query_params))
    if found.now.after is None:
        raise NotFound("The logs do not tell what the file was then.")
    headers = {"Content-Disposition": 'attachment; filename="file.txt"'}
    return Response(found.now.after.encode(errors="replace"), media_type="text/plain; charset=utf-8", headers=headers)


def file_at_call_href(asked: FileCall) -> str:
    """The address of the page."""
    return f"/files/at?{_query(asked)}"


def _asked(given: Mapping[str, str]) -> FileCall:
    path = forward_slashes(given.get("path", "")[:_LONGEST].encode(errors="replace").decode())
    place = given.get("place", "")
    number = int(place) if place.isascii() and place.isdigit() and len(place) < 16 else -1
    return FileCall(path, given.get("s", "")[:200], number, given.get("agent", "")[:200])


def _query(asked: FileCall) -> str:
    pairs = {"path": asked.path, "s": asked.key, "place": asked.place, "agent": asked.agent}
    return urlencode({name: value for name, value in pairs.items() if value != ""}, errors="replace")


def _place(asked: FileCall, found: FileAtCall) -> str:
    """Where the call itself is told."""
    time = found.now.call.time
    anchor = "line-0" if time is None else f"msg-{round(time.timestamp() * 1000)}"
    return block_href(asked.key, anchor, asked.agent, asked.place)


def _steps(asked: FileCall, found: FileAtCall) -> Iterator[CallStep]:
    for said, other in (("← the time before", found.earlier), ("the time after →", found.later)):
        if other is not None:
            yield CallStep(said, file_at_call_href(asked._replace(place=other.place, agent=other.agent)))


def _change(found: FileAtCall, path: str) -> tuple[Node, ...]:
    """What the call changed; nothing of a new file, which is shown whole."""
    made = changes(found.now.call) if not found.new else ()
    return tuple(Diff(path, one.hunks, one.added, one.removed, one.created) for one in made)


def _whole(found: FileAtCall, path: str) -> tuple[Node, ...]:
    after = found.now.after
    return () if after is None else (Code(after[:_SHOWN].removesuffix("\n"), language(path), start=1),)


def _markup(nodes: tuple[Node, ...]) -> Markup:
    return Markup(nodes_html(nodes, HtmlOptions()))  # noqa: S704  a writer's markup


FILE_AT_CALL_ROUTES = [Route("/files/at", file_at_call_page), Route("/files/at.txt", file_at_call_text)]


_LONGEST_files = 4000
_ENTRIES = 500
_TOUCHES = 300
_WAYS = {"": TOUCHES, "changes": ("write", "edit"), "reads": ("read",)}
_SAID_files = {"read": "read", "write": "written", "edit": "edited"}


class PathStep(NamedTuple):
    """A folder on the way to a path."""

    text: str
    href: str


class FileLine(NamedTuple):
    """A file or folder in a list."""

    name: str
    href: str
    folder: bool
    about: str
    last: datetime | None


class FileMoment(NamedTuple):
    how: str
    said: str
    time: datetime | None
    href: str
    agent: bool
    stood: str
    """Where the file as it stood then is shown; empty where that cannot be."""


class FileVisit(NamedTuple):
    """A session that touched the file, some times after each other."""

    title: str
    href: str
    project: str
    kind: str
    moments: tuple[FileMoment, ...]


def files_page(request: Request) -> HTMLResponse:
    """A file's time-line where the path is a file's; what lies below it, or files of such a name, where it is not."""
    path = forward_slashes(request.query_params.get("path", "")[:_LONGEST_files].encode(errors="replace").decode())
    way = request.query_params.get("only", "")
    with request.app.state.context.index() as index:
        known = file_history.touch_counts(index.db, path) if path else {}
        found = file_history.file_touches(index.db, path, _WAYS.get(way, TOUCHES), _TOUCHES) if known else []
        titles = custom_titles(request.app.state.context) if found else {}
        named = [one._replace(title=titles.get(one.key, one.title)) for one in found]
        body = _timeline(path, way, known, named) if known else _browse(index.db, path)
    name = visible(path.rstrip("/").rpartition("/")[2])
    return render.render_page(request, f"{name} · Files" if name else "Files", body, styles=("find.css", "stats.css"))


def _timeline(path: str, way: str, known: dict[str, int], found: list[FileTouch]) -> str:
    every = sum(known.get(how, 0) for how in _WAYS.get(way, TOUCHES))
    return render.render_template(
        "file.html",
        path=visible(path),
        trail=_trail(path),
        name=path.rpartition("/")[2] or path,
        counts=[f"{known[how]:,} × {_SAID_files[how]}" for how in reversed(TOUCHES) if known.get(how)],
        ways=[PathStep(said, f"{file_href(path)}{query}") for said, query in _links()],
        way=list(_WAYS).index(way) if way in _WAYS else 0,
        visits=tuple(_visits(found, path)),
        rest=every - len(found),
    )


def _links() -> Iterator[tuple[str, str]]:
    return ((way or "everything", f"&only={way}" if way else "") for way in _WAYS)


def _visits(found: list[FileTouch], path: str) -> Iterator[FileVisit]:
    """Touches one after the other in one session are one visit."""
    for (key, title, project, kind), group in groupby(found, key=lambda one: one[:4]):
        ghost = kind == "ghost"
        yield FileVisit(
            " ".join(visible(title).split()) or key,
            "" if ghost else session_href(key),
            folder_name(project),
            kind if kind != "interactive" else "",
            tuple(_moment(one, path, ghost=ghost) for one in group),
        )


def _moment(one: FileTouch, path: str, *, ghost: bool) -> FileMoment:
    time = to_datetime(one.time)
    href = session_href(one.key)
    if one.time is not None and time is not None:
        href = block_href(one.key, f"msg-{round(one.time * 1000)}", one.agent, one.place)
    placed = not ghost and one.place is not None
    then = file_at_call_href(FileCall(path, one.key, one.place or 0, one.agent)) if placed else ""
    return FileMoment(one.how, _SAID_files[one.how], time, "" if ghost else href, bool(one.agent), then)


def _browse(db: apsw.Connection, path: str) -> str:
    folder = path if not path or path.endswith("/") else f"{path}/"
    shared, found = file_history.folder_entries(db, folder)
    named = [] if found else file_history.files_holding(db, path, _ENTRIES)
    start = len(shared) if found else 0
    return render.render_template(
        "files.html",
        path=visible(path),
        trail=_trail(shared) if found and shared else [],
        lines=[_line(one, start) for one in (found or named)[:_ENTRIES]],
        rest=max(0, len(found) - _ENTRIES),
        named=bool(named),
        asked=bool(path),
    )


def _line(one: FileEntry, start: int) -> FileLine:
    about = human.joined(
        human.count(one.files, "file") if one.files else "",
        human.count(one.changes, "change") if one.changes else "",
        human.count(one.touches - one.changes, "read") if one.touches > one.changes else "",
    )
    return FileLine(one.path[start:], file_href(one.path), bool(one.files), about, to_datetime(one.last))


def _trail(path: str) -> list[PathStep]:
    """The folders above a path, and itself."""
    found, at = [], 0
    while 0 <= at < len(path):
        end = path.find("/", at)
        end = len(path) if end < 0 else end
        if text := path[at:end]:
            found.append(PathStep(text, file_href(path[: end + 1])))
        at = end + 1
    return found


FILES_ROUTES = [Route("/files", files_page)]
