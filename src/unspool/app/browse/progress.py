"""How the sync behind the app stands, in words."""

from typing import NamedTuple

from starlette.requests import Request

from unspool import human


class Progress(NamedTuple):
    """How the sync behind the app stands."""

    words: str = ""
    done: int = 0
    """Parts of a hundred."""
    failure: str = ""
    goes_on: bool = False


def progress(request: Request) -> Progress:
    """How the sync stands; nothing where there is none."""
    background = getattr(request.app.state, "background", None)
    if background is None:
        return Progress()
    state = background.state
    if state.state == "syncing":
        done = min(100, 100 * state.done // state.total) if state.total else 0
        words = f"{human.size(state.done)} of {human.size(state.total)}" if state.total else "looking for logs"
        return Progress(f"Reading logs: {words}", done, "", goes_on=True)
    return Progress("", 0, state.failure if state.state == "failed" else "")
