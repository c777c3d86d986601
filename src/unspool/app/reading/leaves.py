"""The site's own pages of a session, made when they are asked for: the same bytes as on disk, apart from links."""

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from unspool.app.reading.enough import enough
from unspool.app.reading.extras import framed
from unspool.app.reading.frames import FRESH
from unspool.app.reading.held import reading
from unspool.errors import NotFound
from unspool.site.address import INDEX
from unspool.site.pages import session_page

if TYPE_CHECKING:
    from unspool.app.desk import Desk

_TURN = re.compile(r"(?:branch-(\d{1,6})\.)?turn-(\d{1,9})", re.ASCII)


def session_index(request: Request) -> Response:
    """The first page of a session; with `at`, a way to the page that an anchor stands on."""
    anchor = request.query_params.get("at", "")
    return _leap(request, anchor) if anchor else _page(request, INDEX)


def _leap(request: Request, anchor: str) -> Response:
    """A turn is known by its number; where blocks are, whoever finds them by their lines can tell."""
    turn_at = _TURN.fullmatch(anchor)
    if turn_at is None:
        return RedirectResponse(f"at/{quote(anchor, safe='')}", 303, headers=FRESH)
    desk: Desk = request.app.state.desk
    addresses = reading(desk, request.path_params["key"]).addresses(desk.options)
    return RedirectResponse(addresses.turn(int(turn_at[2]), int(turn_at[1] or 0)), 303, headers=FRESH)


def session_leaf(request: Request) -> Response:
    """Another page of it: of the conversation, a branch, a subagent."""
    return _page(request, request.path_params["path"])


def without_slash(request: Request) -> Response:
    """Links of a page are relative to the session's folder, so its address ends in a slash."""
    return RedirectResponse(f"{request.url.path}/", 308)


def _page(request: Request, path: str) -> Response:
    desk: Desk = request.app.state.desk
    told = enough(desk, request.path_params["key"], path)
    scene = told.scene(desk.options, framed(told, desk.options, desk.prices, path))
    made = session_page(scene, path)
    if made is None:
        raise NotFound("The session has no such page.")
    return HTMLResponse(made.html.encode("utf-8", "replace"), headers=FRESH)


def ready(request: Request) -> Response:
    """Answers once all of a session has been read."""
    reading(request.app.state.desk, request.path_params["key"])
    return JSONResponse({"ready": True}, headers=FRESH)


def last_page(request: Request) -> Response:
    """To the end of the conversation, where a session that goes on is followed."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    return RedirectResponse(f"{told.addresses(desk.options).live.leaves[-1].path}#live", 303, headers=FRESH)
