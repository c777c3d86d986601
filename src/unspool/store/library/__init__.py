"""Sessions, from the agents' folders, from the archive, or from a log that is named: found, opened, listed. Imports
the index and the archive; the only way in for whoever shows sessions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unspool.store.library.library import Library, open_session, session_opener, sessions
    from unspool.store.library.listing import SessionListing
    from unspool.store.library.read import read_session, read_stream

_HOMES = {
    "Library": "library", "open_session": "library", "sessions": "library", "session_opener": "library",
    "SessionListing": "listing",
    "read_session": "read", "read_stream": "read",
}  # fmt: skip
"""Where each name is from; loaded when it is asked for, since commands that only look need little of it."""

__all__ = ["Library", "SessionListing", "open_session", "read_session", "read_stream", "session_opener", "sessions"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
