"""Marking a session: the form, and what it sends. It works without a script; with one, nothing is loaded anew."""

from contextlib import suppress
from typing import Any
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool.app import render
from unspool.app.context import AppContext
from unspool.app.mark_store import LONGEST_NOTE, LONGEST_TAG, LONGEST_TITLE, StoredMark, get_mark_store
from unspool.errors import NotFound, UsageProblem
from unspool.site.summaries import shorten_line
from unspool.web.forms import answer_form, read_form, return_path

_TITLE = "SELECT title FROM session WHERE key = ? ORDER BY coalesce(ended, 0) DESC LIMIT 1"


def mark_form(request: Request) -> HTMLResponse:
    """All that can be said about a session; `part=form` gives the form alone."""
    key, desk = request.path_params["key"], _desk(request)
    title = _title(desk, key)
    said, name = get_mark_store(desk).said(), shorten_line(title, 160) or key
    alone = request.query_params.get("part") == "form"
    body = render.render_template(
        "mark.html",
        key=key,
        title=name,
        mark=said.of(key),
        known=tuple(said.tags),
        back=return_path(dict(request.query_params), f"/s/{quote(key, safe='')}/"),
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
    key, desk, sent = request.path_params["key"], _desk(request), await read_form(request)
    values: dict[str, Any] = {name: sent[name] for name in ("title", "note") if name in sent}
    if "star" in sent:
        values["starred"] = sent["star"].rpartition("\n")[2] == "1"  # a box that is ticked comes after its hidden twin
    if "tags" in sent:
        values["tags"] = sent["tags"].replace("\n", ",").split(",")
    if not values:
        raise UsageProblem("The form says nothing about the session.")
    mark = await run_sync(_changed, desk, key, values)
    return answer_form(request, sent, f"/s/{quote(key, safe='')}/", mark._asdict())


def _changed(desk: AppContext, key: str, values: dict[str, Any]) -> StoredMark:
    _title(desk, key)
    marks = get_mark_store(desk)
    marks.change(key, **values)
    return marks.said().of(key)


def _title(desk: AppContext, key: str) -> str:
    """The session's own title; NotFound where there is none. One that no sync has seen yet is called by its id."""
    with suppress(NotFound), desk.index() as index:
        title: str | None = index.db.execute(_TITLE, (key,)).get
        if title is not None:
            return title
    return desk.found(key).session_id


async def save_filter(request: Request) -> Response:
    """Keep a filter under a name, or forget it."""
    sent = await read_form(request)
    query = "" if sent.get("forget") else sent.get("query", "").lstrip("?")
    if not query and not sent.get("forget"):
        raise UsageProblem("Only a list that is filtered can be saved.")
    await run_sync(get_mark_store(_desk(request)).save, sent.get("name", ""), query)
    return answer_form(request, sent, f"/sessions?{query}" if query else "/sessions")


def _desk(request: Request) -> AppContext:
    desk: AppContext = request.app.state.desk
    return desk


ROUTES = [
    Route("/marks/{key}", mark_form, methods=["GET"]),
    Route("/marks/{key}", change_mark, methods=["POST"]),
    Route("/saved", save_filter, methods=["POST"]),
]
