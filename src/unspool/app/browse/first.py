"""The first run: what is read, that nothing leaves the machine, and the demo for whoever has no logs yet."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NamedTuple

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool.app import render
from unspool.app.desk import Desk
from unspool.archive.place import INDEX
from unspool.errors import UnspoolError
from unspool.library.sources import discovered, usual_roots

_PATIENCE = 120
_AGAIN = "2"
"""Seconds after which a page that waits for the first sessions asks again."""


class Place(NamedTuple):
    """A folder that is read."""

    path: str
    there: bool


def first(request: Request) -> HTMLResponse:
    """The page of somebody who has no sessions here yet."""
    desk: Desk = request.app.state.desk
    roots = desk.sources or tuple(usual_roots())
    logs = _count(desk)
    body = render.render(
        "first.html",
        places=[Place(str(root), root.is_dir()) for root in roots],
        logs=logs,
        archive=str(desk.folder),
        read_only=request.app.state.read_only,
    )
    response = render.page(request, "Welcome", body, (render.HOME,), ("app.css",))
    if logs and request.app.state.background is not None and not request.app.state.read_only:
        response.headers["Refresh"] = _AGAIN
    return response


def _count(desk: Desk) -> int:
    """How many logs there are to be read; none where that cannot be told."""
    try:
        return len(discovered(desk.here))
    except UnspoolError:
        return 0


def unless_empty(page: Callable[[Request], HTMLResponse]) -> Callable[[Request], HTMLResponse]:
    """A page that needs the index; before there is one, the page of a first run is in its place."""

    @wraps(page)
    def asked(request: Request) -> HTMLResponse:
        there = (request.app.state.desk.folder / INDEX).exists()
        return page(request) if there else first(request)

    return asked


async def demo(request: Request) -> Response:
    """Show the demo's sessions instead, from an archive of their own."""
    state = request.app.state
    if not demo_shown(request):
        made = await run_sync(_demo)
        if not demo_shown(request):  # somebody else may have been quicker
            state.own_desk, state.desk = state.desk, made
    return RedirectResponse("/", 303)


async def leave(request: Request) -> Response:
    """Go back from the demo."""
    state = request.app.state
    if demo_shown(request):
        state.desk, state.own_desk = state.own_desk, None
    return RedirectResponse("/", 303)


def demo_shown(request: Request) -> bool:
    """Whether what is shown is the demo."""
    return request.app.state.own_desk is not None


def _demo() -> Desk:
    """A desk of the demo. It is synced by a process of its own, for a sync forks, which threads forbid."""
    from unspool.demo import write_demo

    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unspool"
    source, folder = write_demo(base / "demo"), base / "demo-archive"
    command = [sys.executable, "-m", "unspool", "sync", "--archive", str(folder), "--source", str(source)]
    try:
        synced = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise UnspoolError(f"The demo could not be made: {problem}.") from None
    if synced.returncode:
        raise UnspoolError(f"The demo could not be made: {synced.stderr.strip()[-300:]}")
    return Desk(folder, (source,))
