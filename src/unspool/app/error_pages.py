"""What went wrong, as a page that says why and leads on; under /api, the same as JSON. The server goes on."""

import errno
import os
import sys
import traceback
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from unspool import human
from unspool.app.render import render_page, render_template
from unspool.errors import Ambiguous, Busy, FetchFailed, NoRoom, NotFound, Unreadable, UnspoolError, UsageProblem
from unspool.render.sanitize import one_line
from unspool.store.archive.database import INDEX

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
_SOON = 3
"""Seconds after which a page that has to be waited for is asked for again."""


class ErrorPage(NamedTuple):
    """Why there is no page, in a reader's words."""

    status: int
    title: str
    reason: str
    passing: bool = False
    """Whether it will be over soon: the page then asks again by itself."""
    details: str = ""


class Failure(msgspec.Struct, frozen=True):
    """What the API answers where it has nothing else to."""

    status: int
    error: str
    reason: str


def answer_error(request: Request, error: Exception) -> Response:
    trouble = _error_page(request, error)
    if trouble.status >= 500 and not trouble.passing:
        # one line where the app was started; nothing in it can drive a terminal, and no query is in it
        line = one_line(f"unspool: {request.method} {request.url.path[:200]}: {_reason(error)}")
        print(line, file=sys.stderr)  # noqa: T201
    headers = dict(getattr(error, "headers", None) or {})
    if trouble.passing:
        headers["Retry-After"] = str(_SOON)
    if request.url.path.startswith("/api/"):
        failure = msgspec.json.encode(Failure(trouble.status, trouble.title, trouble.reason))
        return Response(failure, trouble.status, headers, "application/json")
    if trouble.passing and request.method in ("GET", "HEAD"):
        headers["Refresh"] = str(_SOON)
    body = render_template("trouble.html", trouble=trouble, here="/" + request.url.path.lstrip("/\\"))
    response = render_page(request, trouble.title, body)
    response.status_code = trouble.status
    response.headers.update(headers)
    return response


EXCEPTION_HANDLERS: dict[Any, Any] = dict.fromkeys(
    (HTTPException, UnspoolError, apsw.Error, OSError, Exception), answer_error
)
"""For Starlette: whatever a handler raises has an answer."""
_KNOWN: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int, str], ...] = (
    (NotFound, 404, "There is no such thing"),
    (Ambiguous, 404, "Several fit"),
    (UsageProblem, 400, "This cannot be asked"),
    ((Busy, apsw.BusyError, apsw.LockedError), 503, "The archive is in use"),
    ((NoRoom, apsw.FullError), 507, "The disk is full"),
    (FetchFailed, 502, "It could not be fetched"),
    (UnspoolError, 500, "This cannot be shown"),
)


def _error_page(request: Request, error: Exception) -> ErrorPage:
    if isinstance(error, HTTPException):
        if error.status_code == 404:
            return ErrorPage(404, "There is no such page", f"Nothing is at {request.url.path[:200]}.")
        return ErrorPage(error.status_code, HTTPStatus(error.status_code).phrase, error.detail)
    if _unready(request, error):
        return ErrorPage(503, "Your sessions are being read", _progress(request), passing=True)
    for kinds, status, title in _KNOWN:
        if isinstance(error, kinds):
            return ErrorPage(status, title, _reason(error), passing=status == 503)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return ErrorPage(507, "The disk is full", _reason(error))
    return ErrorPage(500, "This page did not work", _reason(error), details=_details(error))


def _unready(request: Request, error: Exception) -> bool:
    """Whether it failed because the index is not there, or is being made anew."""
    if not isinstance(error, NotFound | Unreadable | apsw.Error):
        return False
    background = request.app.state.background
    if background is None or request.app.state.read_only:
        return False
    missing = not (request.app.state.context.folder / INDEX).exists()
    return missing or (background.state.state in ("idle", "syncing") and not isinstance(error, NotFound))


def _progress(request: Request) -> str:
    state = request.app.state.background.state
    if state.state == "failed":
        return f"It did not work so far: {state.failure}"
    if not state.total:
        return "The index is being made. This page will go on by itself."
    return f"{human.size(state.done)} of {human.size(state.total)} are done. This page will go on by itself."


def _reason(error: Exception) -> str:
    words = str(error)
    if isinstance(error, UnspoolError):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _details(error: Exception) -> str:
    """Where in this package it happened; the values of our variables are not told."""
    steps = traceback.extract_tb(error.__traceback__)
    own = [(step.filename.removeprefix(_PACKAGE), step) for step in steps if step.filename.startswith(_PACKAGE)]
    return "\n".join(f"{name}:{step.lineno} {step.name}" for name, step in own)
