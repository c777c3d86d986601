"""How the sync behind the app stands: /api/state."""

from typing import Literal

import msgspec
from starlette.requests import Request

from unspool import __version__
from unspool.app.api.endpoint import Endpoint
from unspool.app.api.times import told
from unspool.app.background import State
from unspool.sync.report import Report


class Standing(msgspec.Struct, frozen=True):
    """The app and its sync."""

    version: str
    read_only: bool
    state: Literal["idle", "syncing", "done", "failed"]
    done: int
    """Bytes of the running sync that are kept."""
    total: int
    failure: str
    at: str | None
    """When the last sync ended."""
    round: int
    """Another number, and there is something new to show."""
    report: Report | None
    """What the last sync did."""
    missing: tuple[str, ...]
    """Sources that were named and are not there; what was kept of them is shown all the same."""


def _state(request: Request) -> Standing:
    background = request.app.state.background
    state: State = State() if background is None else background.state
    read_only = background is None or request.app.state.read_only
    missing = tuple(str(source) for source in request.app.state.desk.sources if not source.is_dir())
    return Standing(
        __version__, read_only, state.state, state.done, state.total, state.failure, told(state.at), state.round,
        state.report, missing,
    )  # fmt: skip


ENDPOINTS = (Endpoint("/api/state", "How the sync behind the app stands.", _state, Standing),)
