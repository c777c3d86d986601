"""`/files`: lists of files, a file's changes with the prompts that led to them, who asked for each of its lines, and
a file as it stood after a call."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

import apsw
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.agents import AGENTS, agent_name
from unspool.app.api_endpoint import parse_number
from unspool.app.context import AppContext
from unspool.app.file_list import folder_trail, render_file_list
from unspool.app.file_owners import SHOWN, owned_lines
from unspool.app.marks import custom_titles
from unspool.app.open_session import get_session
from unspool.app.project_list import ProjectList, project_slug
from unspool.app.render import HOME, LinkChoice, nav_link, render_page, render_template, session_href
from unspool.app.search_results import block_href
from unspool.app.stats_tables import file_href
from unspool.doc import Code, Node
from unspool.errors import NotFound
from unspool.figures.file_states import forward_slashes
from unspool.render.html.elements import HtmlOptions, visible
from unspool.render.html.nodes import nodes_html
from unspool.site.page_template import Crumb
from unspool.site.summaries import shorten_line
from unspool.store.index.times import utc_time
from unspool.store.index.touched_files import (
    FileSum,
    FileTouch,
    TouchPrompt,
    file_touches,
    sum_file,
    touch_prompts,
)
from unspool.store.library.file_history import CHANGES, FileCall, FileHistory
from unspool.tools.summary import language

_LONGEST = 4000
_PAGE, _OPEN = 40, 3
"""Changes on a page, and those whose lines are there at once."""
_BARS, _LOOKED = 80, 2000
"""States that the bar has, and touches among which a state is looked for."""
_STYLES = ("find.css", "files.css")
_FILES = nav_link("files")
_DONE = {"read": "read", "write": "written", "edit": "edited"}


def _requested_path(request: Request) -> str:
    return forward_slashes(_asked(request, "path", _LONGEST))


def _asked(request: Request, name: str, most: int = 400) -> str:
    return request.query_params.get(name, "")[:most].encode(errors="replace").decode().replace("\0", "")


def _history(context: AppContext, db: apsw.Connection, path: str) -> FileHistory:
    return FileHistory(db, path, lambda key: get_session(context, key).session, context.library().companions)


def files_page(request: Request) -> HTMLResponse:
    """The changes of a file where the path is a file's; else a list of files."""
    path, context = _requested_path(request), request.app.state.context
    with context.index() as index:
        found = sum_file(index.db, path) if path else None
        if found is not None:
            return _file_page(request, index.db, found)
        body, project = render_file_list(context, index.db, path, _asked(request, "q"), _asked(request, "project"))
    crumbs, styles = (HOME, _FILES) if project else (HOME,), ("app.css", *_STYLES)
    return render_page(request, project or "Files", body, crumbs, styles, ("browse.js",))


class StateBar(NamedTuple):
    """A change as a bar: where it leads, how high its parts are of a hundred, and what it says."""

    href: str
    added: float
    removed: float
    says: str
    here: bool = False


class FileMoment(NamedTuple):
    """A touch of a file as a page tells it."""

    done: str
    prompt: str
    turn: str
    """Where the prompt is; so with the others."""
    title: str
    session: str
    badges: tuple[str, ...]
    time: datetime | None
    added: int | None
    removed: int | None
    stood: str
    """Where the file as it stood then is shown; empty where that cannot be."""
    diff: Markup | None = None
    later: str = ""
    """Where its lines can be had, where they are not there at once."""


def _file_page(request: Request, db: apsw.Connection, found: FileSum) -> HTMLResponse:
    path, context = found.name, request.app.state.context
    reads, lines = _asked(request, "only") == "reads", _asked(request, "view") == "lines"
    changes = file_touches(db, path, CHANGES, _LOOKED)
    touches = file_touches(db, path, ("read",), _LOOKED) if reads or not changes else changes
    total = found.reads if touches is not changes else found.changes
    page = min(parse_number(_asked(request, "page")) or 1, max(1, math.ceil(len(touches) / _PAGE)))
    shown = touches[(page - 1) * _PAGE : page * _PAGE]
    history = _history(context, db, path)
    values: dict[str, object] = {
        "asked": owned_lines(context, db, history) if lines else None,
        "moments": (),
        "steps": (),
    }
    if not lines:
        values["moments"] = _moments(context, history, db, shown)
        values["number"] = total - (page - 1) * _PAGE
        values["steps"] = _pages(path, page, len(touches), "&only=reads" if reads else "")
    body = render_template(
        "file.html",
        name=_name(path),
        trail=folder_trail(path),
        found=found,
        first=utc_time(found.first),
        last=utc_time(found.last),
        ways=_ways(found, changes, "reads" if touches is not changes else "lines" if lines else "changes"),
        bars=_bars(path, changes),
        **values,
    )
    return render_page(request, _name(path), body, _crumbs(db, [*changes, *touches]), _STYLES, ("files.js",))


def _name(path: str) -> str:
    return visible(path.rpartition("/")[2] or path)


def _crumbs(db: apsw.Connection, touches: Sequence[FileTouch]) -> tuple[Crumb, ...]:
    """The way back from a file: the project of the session that touched it last."""
    project = touches[0].project if touches else ""
    projects = ProjectList.of(db)
    slug = project_slug(project)
    if not project or slug not in projects.projects:
        return HOME, _FILES
    return HOME, _FILES, Crumb(visible(projects.label(project)), f"files?{urlencode({'project': slug})}")


def _ways(found: FileSum, changes: Sequence[FileTouch], chosen: str) -> list[LinkChoice]:
    """The views of a file."""
    here = file_href(found.name)
    newest = next((call for call in (FileCall.of(found.name, one) for one in changes) if call), None)
    ways = []
    if changes:
        ways.append(LinkChoice("Changes", here, chosen == "changes"))
        ways.append(LinkChoice("Who asked", f"{here}&view=lines", chosen == "lines", "for each line"))
    if newest is not None:
        ways.append(LinkChoice("As it stood", file_at_call_href(newest), chosen == "stood"))
    if found.reads:
        ways.append(LinkChoice("Reads", f"{here}&only=reads", chosen == "reads"))
    return ways


def _pages(path: str, page: int, number: int, way: str) -> list[tuple[str, str, str]]:
    """Words, address and relation of the pages before and after."""
    near = (("Newer", page - 1, "prev"), ("Earlier", page + 1, "next"))
    last = math.ceil(number / _PAGE)
    return [(text, f"{file_href(path)}{way}&page={at}", rel) for text, at, rel in near if 1 <= at <= last]


def _bars(path: str, changes: Sequence[FileTouch], here: FileCall | None = None) -> list[StateBar]:
    """The states of a file from the oldest to the newest; those around one where they are very many."""
    calls = [(one, call) for one in reversed(changes) if (call := FileCall.of(path, one)) is not None]
    at = next((number for number, (_, call) in enumerate(calls) if call == here), len(calls))
    start = max(0, min(at - _BARS // 2, len(calls) - _BARS))
    shown = calls[start : start + _BARS]
    most = max(((one.added or 0) + (one.removed or 0) for one, _ in shown), default=0) or 1
    bars = []
    for one, call in shown:
        added, removed = one.added or 0, one.removed or 0
        # roots, so that a small change is seen beside a whole file
        high = max(6.0, 100 * math.sqrt((added + removed) / most))
        up = high * added / (added + removed) if added + removed else 0.0
        time = utc_time(one.time)
        when = f"{time:%Y-%m-%d %H:%M}" if time is not None else "without a time"
        says = human.joined(f"{_DONE[one.how]} {when}", f"+{added} −{removed}" if one.added is not None else "")
        bars.append(StateBar(file_at_call_href(call), round(up, 1), round(high - up, 1), says, call == here))
    return bars


def _moments(
    context: AppContext, history: FileHistory, db: apsw.Connection, touches: Sequence[FileTouch], opened: int = _OPEN
) -> list[FileMoment]:
    """Touches as a page tells them, the newest first, some of them with their lines."""
    titles = custom_titles(context)
    with context.archive() as archive:
        prompts = touch_prompts(db, archive, touches)
    made = []
    for number, (one, prompt) in enumerate(zip(touches, prompts, strict=True)):
        call = FileCall.of(history.path, one)
        changed = call is not None and one.how in CHANGES
        diff = _diff(history, call) if call is not None and changed and number < opened else None
        later = f"/files/diff?{_query(call)}" if call is not None and changed and diff is None else ""
        made.append(_moment(one, prompt, call, titles)._replace(diff=diff, later=later))
    return made


def _moment(one: FileTouch, prompt: TouchPrompt, call: FileCall | None, titles: dict[str, str]) -> FileMoment:
    ghost = one.kind == "ghost"
    turn = session_href(one.key)
    if prompt.time is not None:
        turn = block_href(one.key, f"msg-{prompt.time}", "", prompt.place)
    title = shorten_line(visible(titles.get(one.key, one.title)), 90) or one.key
    badges = (agent_name(one.agent_id) if one.agent_id != AGENTS[0].id else "", "subagent" if one.agent else "")
    return FileMoment(
        _DONE[one.how],
        shorten_line(visible(prompt.text), 160),
        "" if ghost else turn,
        title,
        "" if ghost else session_href(one.key),
        tuple(filter(None, (*badges, one.kind if ghost else ""))),
        utc_time(one.time),
        one.added,
        one.removed,
        file_at_call_href(call) if call is not None else "",
    )


def _diff(history: FileHistory, call: FileCall) -> Markup | None:
    try:
        diff = history.at(call).diff
    except NotFound:
        return None
    return None if diff is None else _markup(diff)


# --- a file as it stood


def file_at_call_page(request: Request) -> HTMLResponse:
    call, context = _requested_call(request), request.app.state.context
    with context.index() as index:
        history, known = _history(context, index.db, call.path), sum_file(index.db, call.path)
        if known is None:
            raise NotFound("No session touched such a file.")
        found, changes = history.at(call), file_touches(index.db, call.path, CHANGES, _LOOKED)
        at = next((at for at, one in enumerate(changes) if FileCall.of(call.path, one) == call), None)
        here = _moments(context, history, index.db, [] if at is None else [changes[at]], 0)
        crumbs = _crumbs(index.db, changes)
    made, after = found.now.call, found.now.after
    anchor = "line-0" if made.time is None else f"msg-{round(made.time.timestamp() * 1000)}"
    body = render_template(
        "stood.html",
        name=_name(call.path),
        trail=folder_trail(call.path),
        ways=_ways(known, changes, "stood"),
        found=found,
        here=here[0] if here else None,
        number=known.changes - (at or 0),
        of=known.changes,
        touched=_DONE.get(made.role, made.role),
        place=block_href(call.key, anchor, call.agent, call.place),
        steps=_near(call, changes, made.time),
        bars=_bars(call.path, changes, call),
        # what the call changed; nothing of a new file, which is shown whole
        change=_markup(found.diff) if found.diff is not None and not found.new else "",
        whole=_markup(Code((after or "")[:SHOWN].removesuffix("\n"), language(call.path), start=1)),
        cut=len(after or "") > SHOWN,
        download=f"/files/at.txt?{_query(call)}",
    )
    return render_page(request, f"{_name(call.path)} as it stood", body, crumbs, _STYLES)


def _near(call: FileCall, changes: Sequence[FileTouch], time: datetime | None) -> list[tuple[str, str, str]]:
    """Words, address and relation of the changes before and after a call, which may be none itself."""
    known = [(one, of) for one in reversed(changes) if (of := FileCall.of(call.path, one)) is not None]
    calls = [of for _, of in known]
    moment = time.timestamp() if time is not None else 0.0
    at = calls.index(call) if call in calls else sum((one.time or 0.0) <= moment for one, _ in known) - 0.5
    near = (("← the change before", math.ceil(at - 1), "prev"), ("the change after →", math.floor(at + 1), "next"))
    return [(text, file_at_call_href(calls[to]), rel) for text, to, rel in near if 0 <= to < len(calls)]


def file_at_call_text(request: Request) -> Response:
    call, context = _requested_call(request), request.app.state.context
    with context.index() as index:
        found = _history(context, index.db, call.path).at(call)
    if found.now.after is None:
        raise NotFound("The logs do not tell what the file was then.")
    headers = {"Content-Disposition": 'attachment; filename="file.txt"'}
    return Response(found.now.after.encode(errors="replace"), media_type="text/plain; charset=utf-8", headers=headers)


def file_diff_part(request: Request) -> HTMLResponse:
    """What one call changed in a file, as a part of a page."""
    call, context = _requested_call(request), request.app.state.context
    with context.index() as index:
        diff = _history(context, index.db, call.path).at(call).diff
    if diff is None:
        return HTMLResponse('<p class="quiet">The log does not tell which lines.</p>')
    return HTMLResponse(_markup(diff))


def file_at_call_href(call: FileCall) -> str:
    return f"/files/at?{_query(call)}"


def _requested_call(request: Request) -> FileCall:
    place = parse_number(_asked(request, "place"), 10**15)
    number = -1 if place is None else place
    return FileCall(_requested_path(request), _asked(request, "s", 200), number, _asked(request, "agent", 200))


def _query(call: FileCall) -> str:
    pairs = {"path": call.path, "s": call.key, "place": call.place, "agent": call.agent}
    return urlencode({name: value for name, value in pairs.items() if value != ""}, errors="replace")


def _markup(*nodes: Node) -> Markup:
    return Markup(nodes_html(nodes, HtmlOptions()))  # noqa: S704  a writer's markup


ROUTES = [
    Route("/files", files_page),
    Route("/files/at", file_at_call_page),
    Route("/files/at.txt", file_at_call_text),
    Route("/files/diff", file_diff_part),
]
