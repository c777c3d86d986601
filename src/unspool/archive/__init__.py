"""Keeps bytes, gives bytes back, proves it. Knows nothing of what they mean."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unspool.archive.archive import Archive, Kept, Piece
    from unspool.archive.chain import Origin
    from unspool.archive.keeper import Keeper
    from unspool.archive.status import Status

_HOMES = {
    "Archive": "archive", "Kept": "archive", "Piece": "archive", "Origin": "chain", "Keeper": "keeper",
    "Status": "status",
}  # fmt: skip
"""Where each name is from; loaded when it is asked for, since commands that only look need little of it."""

__all__ = ["Archive", "Keeper", "Kept", "Origin", "Piece", "Status"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
