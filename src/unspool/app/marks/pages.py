"""Marking a session: the form, and what it sends. It works without a script; with one, nothing is loaded anew."""

from contextlib import suppress
from typing import Any
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool.app import render
from unspool.app.desk import Desk
from unspool.app.forms import back, done, fields
from unspool.app.marks.desk import marks_of
from unspool.app.marks.store import LONGEST_NOTE, LONGEST_TAG, LONGEST_TITLE, Mark
from unspool.errors import NotFound, UsageProblem
from unspool.site.brief import flat

_TITLE = "SELECT title FROM session WHERE key = ? ORDER BY coalesce(ended, 0) DESC LIMIT 1"


def form(request: Request) -> HTMLResponse:
    """All that can be said about a session; `part=form` gives the form alone."""
    key, desk = request.path_params["key"], _desk(request)
    title = _title(desk, key)
    said, name = marks_of(desk).said(), flat(title, 160) or key
    alone = request.query_params.get("part") == "form"
    body = render.render(
        "mark.html",
        key=key,
        title=name,
        mark=said.of(key),
        known=tuple(said.tags),
        back=back(dict(request.query_params), f"/s/{quote(key, safe='')}/"),
        limits=(LONGEST_TITLE, LONGEST_NOTE, LONGEST_TAG),
        alone=alone,
        read_only=request.app.state.read_only,
    )
    if alone:
        return HTMLResponse(body)
    crumbs = (render.HOME, render.way("sessions"))
    return render.page(request, f"Mark · {name}", body, crumbs, ("app.css",), ("browse.js",))


async def change(request: Request) -> Response:
    """Set what the form says; what it does not speak of stays."""
    key, desk, sent = request.path_params["key"], _desk(request), await fields(request)
    values: dict[str, Any] = {name: sent[name] for name in ("title", "note") if name in sent}
    if "star" in sent:
        values["starred"] = sent["star"].rpartition("\n")[2] == "1"  # a box that is ticked comes after its hidden twin
    if "tags" in sent:
        values["tags"] = sent["tags"].replace("\n", ",").split(",")
    if not values:
        raise UsageProblem("The form says nothing about the session.")
    mark = await run_sync(_changed, desk, key, values)
    return done(request, sent, f"/s/{quote(key, safe='')}/", mark._asdict())


def _changed(desk: Desk, key: str, values: dict[str, Any]) -> Mark:
    _title(desk, key)
    marks = marks_of(desk)
    marks.change(key, **values)
    return marks.said().of(key)


def _title(desk: Desk, key: str) -> str:
    """The session's own title; NotFound where there is none. One that no sync has seen yet is called by its id."""
    with suppress(NotFound), desk.index() as index:
        title: str | None = index.db.execute(_TITLE, (key,)).get
        if title is not None:
            return title
    return desk.found(key).session_id


async def save(request: Request) -> Response:
    """Keep a filter under a name, or forget it."""
    sent = await fields(request)
    query = "" if sent.get("forget") else sent.get("query", "").lstrip("?")
    if not query and not sent.get("forget"):
        raise UsageProblem("Only a list that is filtered can be saved.")
    await run_sync(marks_of(_desk(request)).save, sent.get("name", ""), query)
    return done(request, sent, f"/sessions?{query}" if query else "/sessions")


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


ROUTES = [
    Route("/marks/{key}", form, methods=["GET"]),
    Route("/marks/{key}", change, methods=["POST"]),
    Route("/saved", save, methods=["POST"]),
]
