"""`/files`: folders, a file's time-line, and a file as it stood after a call."""

import re
from collections.abc import Iterator
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
from unspool.app import file_history
from unspool.app.api_endpoint import parse_number
from unspool.app.file_history import FileCall, FileEntry, FileTouch, file_at_call
from unspool.app.marks import custom_titles
from unspool.app.render import HOME, LinkChoice, nav_link, render_page, render_template, session_href
from unspool.app.search_results import block_href, folder_name, to_datetime
from unspool.app.stats_tables import file_href
from unspool.doc import Code, Diff, Node
from unspool.errors import NotFound
from unspool.figures.changes import forward_slashes
from unspool.render.html.elements import HtmlOptions, visible
from unspool.render.html.nodes import nodes_html
from unspool.store.index.schema import TOUCHES
from unspool.tools import changes
from unspool.tools.summary import language

_TOUCHED = {"read": "read", "write": "written", "edit": "edited"}
_LONGEST = 4000
_SHOWN = 400_000
"""Characters of a file that a page shows; all of it can be had as a file."""


def file_at_call_page(request: Request) -> HTMLResponse:
    call = _requested_call(request)
    found = file_at_call(request.app.state.context, call)
    name, time, after = call.path.rpartition("/")[2] or call.path, found.now.call.time, found.now.after
    # what the call changed; nothing of a new file, which is shown whole
    made = changes(found.now.call) if not found.new else ()
    steps = (("← the time before", found.earlier), ("the time after →", found.later))
    body = render_template(
        "stood.html",
        path=call.path,
        name=name,
        found=found,
        touched=_TOUCHED.get(found.now.call.role, found.now.call.role),
        session=session_href(call.key),
        place=block_href(call.key, "line-0" if time is None else _anchor(time.timestamp()), call.agent, call.place),
        timeline=file_href(call.path),
        steps=[LinkChoice(text, file_at_call_href(other)) for text, other in steps if other is not None],
        change=_markup(*(Diff(call.path, one.hunks, one.added, one.removed, one.created) for one in made)),
        whole=_markup(Code((after or "")[:_SHOWN].removesuffix("\n"), language(call.path), start=1)),
        cut=len(after or "") > _SHOWN,
        download=f"/files/at.txt?{_query(call)}",
    )
    crumbs = (HOME, nav_link("files"))
    return render_page(request, f"{name} as it stood", body, crumbs, styles=("find.css", "stats.css"))


def file_at_call_text(request: Request) -> Response:
    found = file_at_call(request.app.state.context, _requested_call(request))
    if found.now.after is None:
        raise NotFound("The logs do not tell what the file was then.")
    headers = {"Content-Disposition": 'attachment; filename="file.txt"'}
    return Response(found.now.after.encode(errors="replace"), media_type="text/plain; charset=utf-8", headers=headers)


def file_at_call_href(call: FileCall) -> str:
    return f"/files/at?{_query(call)}"


def _requested_path(request: Request) -> str:
    return forward_slashes(request.query_params.get("path", "")[:_LONGEST].encode(errors="replace").decode())


def _requested_call(request: Request) -> FileCall:
    given = request.query_params
    place = parse_number(given.get("place", ""), 10**15)
    number = -1 if place is None else place
    return FileCall(_requested_path(request), given.get("s", "")[:200], number, given.get("agent", "")[:200])


def _query(call: FileCall) -> str:
    pairs = {"path": call.path, "s": call.key, "place": call.place, "agent": call.agent}
    return urlencode({name: value for name, value in pairs.items() if value != ""}, errors="replace")


def _anchor(seconds: float) -> str:
    return f"msg-{round(seconds * 1000)}"


def _markup(*nodes: Node) -> Markup:
    return Markup(nodes_html(nodes, HtmlOptions()))  # noqa: S704  a writer's markup


_ENTRIES = 500
_TOUCHES = 300
_WAYS = {"": TOUCHES, "changes": ("write", "edit"), "reads": ("read",)}


class FileMoment(NamedTuple):
    how: str
    touched: str
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
    path, way = _requested_path(request), request.query_params.get("only", "")
    with request.app.state.context.index() as index:
        known = file_history.touch_counts(index.db, path) if path else {}
        found = file_history.file_touches(index.db, path, _WAYS.get(way, TOUCHES), _TOUCHES) if known else []
        titles = custom_titles(request.app.state.context) if found else {}
        named = [one._replace(title=titles.get(one.key, one.title)) for one in found]
        body = _timeline(path, way, known, named) if known else _browse(index.db, path)
    name = visible(path.rstrip("/").rpartition("/")[2])
    return render_page(request, f"{name} · Files" if name else "Files", body, styles=("find.css", "stats.css"))


def _timeline(path: str, way: str, known: dict[str, int], found: list[FileTouch]) -> str:
    every = sum(known.get(how, 0) for how in _WAYS.get(way, TOUCHES))
    return render_template(
        "file.html",
        path=visible(path),
        trail=_trail(path),
        name=path.rpartition("/")[2] or path,
        counts=[f"{known[how]:,} × {_TOUCHED[how]}" for how in reversed(TOUCHES) if known.get(how)],
        ways=[LinkChoice(one or "everything", f"{file_href(path)}{f'&only={one}' if one else ''}") for one in _WAYS],
        way=list(_WAYS).index(way) if way in _WAYS else 0,
        visits=tuple(_visits(found, path)),
        rest=every - len(found),
    )


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
        href = block_href(one.key, _anchor(one.time), one.agent, one.place)
    placed = not ghost and one.place is not None
    then = file_at_call_href(FileCall(path, one.key, one.place or 0, one.agent)) if placed else ""
    return FileMoment(one.how, _TOUCHED[one.how], time, "" if ghost else href, bool(one.agent), then)


def _browse(db: apsw.Connection, path: str) -> str:
    folder = path if not path or path.endswith("/") else f"{path}/"
    shared, found = file_history.folder_entries(db, folder)
    named = [] if found else file_history.files_holding(db, path, _ENTRIES)
    start = len(shared) if found else 0
    return render_template(
        "files.html",
        path=visible(path),
        trail=_trail(shared) if found and shared else [],
        lines=[_line(one, start) for one in (found or named)[:_ENTRIES]],
        rest=max(0, len(found) - _ENTRIES),
        named=bool(named),
        asked=bool(path),
    )


def _line(one: FileEntry, start: int) -> dict[str, object]:
    counts = ((one.files, "file"), (one.changes, "change"), (one.touches - one.changes, "read"))
    return {
        "name": one.path[start:],
        "href": file_href(one.path),
        "folder": bool(one.files),
        "about": human.joined(*(human.count(number, noun) for number, noun in counts if number > 0)),
        "last": to_datetime(one.last),
    }


def _trail(path: str) -> list[LinkChoice]:
    """The folders above a path, and itself."""
    return [LinkChoice(part[1], file_href(path[: part.end()])) for part in re.finditer("([^/]+)/?", path)]


ROUTES = [
    Route("/files", files_page),
    Route("/files/at", file_at_call_page),
    Route("/files/at.txt", file_at_call_text),
]
