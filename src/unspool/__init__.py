"""unspool: Claude Code sessions read without loss.

    >>> import unspool
    >>> session = unspool.open_session("latest")
    >>> for overview in unspool.sessions(): ...

The names below are the public API; everything else may change.
"""

from unspool.build_info import VERSION

TYPE_CHECKING = False  # spares the import of typing, the dearest part of starting up

if TYPE_CHECKING:
    from typing import Any

    from unspool.api import Archive, render_session, search, write_session, write_site
    from unspool.errors import UnspoolError
    from unspool.model import Overview, Session
    from unspool.store.library import Library, open_session, sessions

__version__ = VERSION
__all__ = [
    "Archive", "Library", "Overview", "Session", "UnspoolError", "__version__", "open_session", "render_session",
    "search", "sessions", "write_session", "write_site",
]  # fmt: skip

_HOMES = {
    "Archive": "unspool.api",
    "render_session": "unspool.api",
    "search": "unspool.api",
    "write_session": "unspool.api",
    "write_site": "unspool.api",
    "Library": "unspool.store.library",
    "open_session": "unspool.store.library",
    "sessions": "unspool.store.library",
    "Overview": "unspool.model",
    "Session": "unspool.model",
    "UnspoolError": "unspool.errors",
}


def __getattr__(name: str) -> "Any":
    """Import a public name when it is first used, so that `import unspool` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
