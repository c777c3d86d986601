"""Trouble as an answer: JSON for programs, a page for people, nothing of the inside in either."""

import sys
import traceback
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from unspool.errors import NotFound, UnspoolError, UsageProblem
from unspool.hub.door import NOTHING, Stranger
from unspool.hub.trouble import HubError, TooMuch, Trouble
from unspool.hub.web.render import dress, render

_SOON = 5
"""Seconds after which something that is not there now is worth another try."""


def told(request: Request, error: Exception) -> Response:
    """What is said of an error."""
    status, reason = _said(error)
    headers = _headers(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # where it happened and not what it says, which may be of what somebody wrote
        sys.stderr.write("".join([*traceback.format_tb(error.__traceback__), type(error).__name__, "\n"]))
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": HTTPStatus(status).phrase, "reason": reason}, status, headers)
    body = render("trouble.html", status=status, reason=reason, sign_in=status == 401, styles=dress().styles)
    return HTMLResponse(body, status, headers)


def _said(error: Exception) -> tuple[int, str]:
    """Status and sentence. What nobody foresaw says nothing of itself: it may hold anything."""
    if isinstance(error, HubError):
        return error.status, str(error)
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND, NOTHING
    if isinstance(error, UsageProblem):
        return HTTPStatus.BAD_REQUEST, str(error)
    if isinstance(error, HTTPException):
        reason = NOTHING if error.status_code == HTTPStatus.NOT_FOUND else HTTPStatus(error.status_code).phrase
        return error.status_code, reason
    return HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here; the hub's log has it."


def _headers(error: Exception) -> dict[str, str]:
    headers = dict(getattr(error, "headers", None) or {})
    if isinstance(error, TooMuch):
        headers["Retry-After"] = str(error.after)
    if isinstance(error, Trouble):
        headers["Retry-After"] = str(_SOON)
    if isinstance(error, Stranger):
        headers["WWW-Authenticate"] = "Bearer"
    return headers


HANDLERS: dict[Any, Any] = {
    HTTPException: told, HubError: told, UnspoolError: told, OSError: told, Exception: told,
}  # fmt: skip
