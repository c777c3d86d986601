"""`/files/at`: a file as it stood after a call that read or changed it, with what the call changed."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool.app import render
from unspool.app.find.shown import place_href, session_href
from unspool.app.understand.standing import Asked, Stand, find
from unspool.doc import Code, Diff, Node
from unspool.errors import NotFound
from unspool.export.html import Paint, fragment
from unspool.figures.standing import plain
from unspool.site.frame import Crumb
from unspool.tools import changes
from unspool.tools.paths import language

_SAID = {"read": "read", "write": "written", "edit": "edited"}
_LONGEST = 4000
_SHOWN = 400_000
"""Characters of a file that a page shows; all of it can be had as a file."""


class Step(NamedTuple):
    """Another time that the session touched the file."""

    text: str
    href: str


def page(request: Request) -> HTMLResponse:
    """The file after one call."""
    asked = _asked(request.query_params)
    found = find(request.app.state.desk, asked)
    name = asked.path.rpartition("/")[2] or asked.path
    body = render.render(
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
    return render.page(request, f"{name} as it stood", body, crumbs, styles=("find.css", "stats.css"))


def text(request: Request) -> Response:
    """The file itself."""
    found = find(request.app.state.desk, _asked(request.query_params))
    if found.now.after is None:
        raise NotFound("The logs do not tell what the file was then.")
    headers = {"Content-Disposition": 'attachment; filename="file.txt"'}
    return Response(found.now.after.encode(errors="replace"), media_type="text/plain; charset=utf-8", headers=headers)


def href(asked: Asked) -> str:
    """The address of the page."""
    return f"/files/at?{_query(asked)}"


def _asked(given: Mapping[str, str]) -> Asked:
    path = plain(given.get("path", "")[:_LONGEST].encode(errors="replace").decode())
    place = given.get("place", "")
    number = int(place) if place.isascii() and place.isdigit() and len(place) < 16 else -1
    return Asked(path, given.get("s", "")[:200], number, given.get("agent", "")[:200])


def _query(asked: Asked) -> str:
    pairs = {"path": asked.path, "s": asked.key, "place": asked.place, "agent": asked.agent}
    return urlencode({name: value for name, value in pairs.items() if value != ""}, errors="replace")


def _place(asked: Asked, found: Stand) -> str:
    """Where the call itself is told."""
    time = found.now.call.time
    anchor = "line-0" if time is None else f"msg-{round(time.timestamp() * 1000)}"
    return place_href(asked.key, anchor, asked.agent, asked.place)


def _steps(asked: Asked, found: Stand) -> Iterator[Step]:
    for said, other in (("← the time before", found.earlier), ("the time after →", found.later)):
        if other is not None:
            yield Step(said, href(asked._replace(place=other.place, agent=other.agent)))


def _change(found: Stand, path: str) -> tuple[Node, ...]:
    """What the call changed; nothing of a new file, which is shown whole."""
    made = changes(found.now.call) if not found.new else ()
    return tuple(Diff(path, one.hunks, one.added, one.removed, one.created) for one in made)


def _whole(found: Stand, path: str) -> tuple[Node, ...]:
    after = found.now.after
    return () if after is None else (Code(after[:_SHOWN].removesuffix("\n"), language(path), start=1),)


def _markup(nodes: tuple[Node, ...]) -> Markup:
    return Markup(fragment(nodes, Paint()))  # noqa: S704  a writer's markup


ROUTES = [Route("/files/at", page), Route("/files/at.txt", text)]
