"""The addresses of a session: its pages, by the same names as on disk, its turns as Markdown, its lines as they are."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool.app.desk import Desk
from unspool.app.reading import early, raw, turn
from unspool.app.reading.extras import framed
from unspool.app.reading.held import Reading, held_by, reading
from unspool.app.reading.locate import locate
from unspool.app.reading.present import present
from unspool.app.render import HOME, page, render
from unspool.errors import NotFound
from unspool.site.address import INDEX
from unspool.site.frame import Crumb
from unspool.site.pages import session_page

_FRESH = {"Cache-Control": "no-cache"}


def session_index(request: Request) -> Response:
    """The first page of a session."""
    return _page(request, INDEX)


def session_leaf(request: Request) -> Response:
    """Another page of it: of the conversation, a branch, a subagent."""
    return _page(request, request.path_params["path"])


def without_slash(request: Request) -> Response:
    """Links of a page are relative to the session's folder, so its address ends in a slash."""
    return RedirectResponse(f"{request.url.path}/", 308)


def _page(request: Request, path: str) -> Response:
    desk: Desk = request.app.state.desk
    told = _enough(desk, request.path_params["key"], path)
    scene = told.scene(desk.options, framed(told, desk.options, desk.prices, path))
    made = session_page(scene, path)
    if made is None:
        raise NotFound("The session has no such page.")
    return HTMLResponse(made.html.encode("utf-8", "replace"), headers=_FRESH)


def _enough(desk: Desk, key: str, path: str) -> Reading:
    """As much of a session as a page needs: of a long one that nobody has read yet, its beginning."""
    found, held = locate(desk, key), held_by(desk)
    if held.ready(found) is None and early.is_long(found):
        part = early.beginning(found, desk.prices, path, desk.options)
        held.begin(desk, found)
        if part is not None:
            return part
    return held.whole(desk, found)


def ready(request: Request) -> Response:
    """Answers once all of a session has been read."""
    reading(request.app.state.desk, request.path_params["key"])
    return JSONResponse({"ready": True}, headers=_FRESH)


def last_page(request: Request) -> Response:
    """To the end of the conversation, where a session that goes on is followed."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    return RedirectResponse(f"{told.addresses(desk.options).live.leaves[-1].path}#live", 303, headers=_FRESH)


def turn_markdown(request: Request) -> Response:
    """One turn, to be pasted elsewhere."""
    given = request.path_params
    told = reading(request.app.state.desk, given["key"])
    text = turn.markdown(told.session, given["number"], given.get("branch", 0))
    return Response(text.encode("utf-8", "replace"), media_type="text/markdown; charset=utf-8", headers=_FRESH)


def raw_line(request: Request) -> Response:
    """The lines behind a block, laid out; with `exact`, their very bytes."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    found, back = raw.lines(desk, told, request.query_params.get("block", ""))
    if "exact" in request.query_params:
        whole = b"\n".join(line.raw.removesuffix(b"\n") for line in found) + b"\n"
        headers = {**_FRESH, "Content-Disposition": 'attachment; filename="lines.jsonl"'}
        return PlainTextResponse(whole, headers=headers)
    body = render("raw.html", lines=found, log=found[0].log, back=back, anchor=request.query_params["block"])
    crumbs = (HOME, Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"))
    return page(request, "Raw lines", body, crumbs, ("read.css",))


ROUTES = [
    Route("/s/{key}", without_slash),
    Route("/s/{key}/", session_index),
    Route("/s/{key}/ready", ready),
    Route("/s/{key}/last", last_page),
    Route("/s/{key}/raw", raw_line),
    Route("/s/{key}/present", present),
    Route("/s/{key}/turn/{number:int}.md", turn_markdown),
    Route("/s/{key}/turn/{branch:int}/{number:int}.md", turn_markdown),
    Route("/s/{key}/{path}", session_leaf),
]
