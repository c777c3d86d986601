"""The list beside a session: those around it in the list that it was opened from."""

from urllib.parse import parse_qsl

import apsw
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from unspool.app import render
from unspool.app.session_list import ListRequest
from unspool.app.session_query import PAGE_SIZE, SessionQuery, parse_session_query
from unspool.errors import UnspoolError
from unspool.site.session_rows import SessionDay, SessionRow


def beside_list(request: Request) -> HTMLResponse:
    """The sessions around one, for its page: of the list whose filters `in` holds, or those that `key` names.

    Where it is not among them it is shown in the list of all; nothing is shown as long as there is no index.
    """
    key, days = request.path_params["key"], tuple[SessionDay, ...]()
    try:
        with request.app.state.context.index() as index:
            listing = ListRequest(request, index.db)
            rows, by_day = _listed(listing, request, key)
            days = listing.days(rows, by_day)
    except (UnspoolError, apsw.Error, OSError):  # the session can be read all the same
        pass
    body = render.render_template("beside.html", days=days, key=key)
    return HTMLResponse(body, headers={"Cache-Control": "no-cache"})


def _listed(listing: ListRequest, request: Request, key: str) -> tuple[tuple[SessionRow, ...], bool]:
    """The rows, and whether their order is one of time."""
    keys = [one for one in request.query_params.getlist("key")[:PAGE_SIZE] if "\0" not in one]
    if key in keys:
        return listing.finder.named(keys), False
    query = parse_session_query(dict(parse_qsl(request.query_params.get("in", ""), errors="replace")))
    rows = listing.finder.around(query, key)
    if not rows:
        query = SessionQuery(kind="any")
        rows = listing.finder.around(SessionQuery(), key) or listing.finder.around(query, key)
    return rows, query.sort in ("", "oldest")


ROUTES = [Route("/s/{key}/beside", beside_list)]
