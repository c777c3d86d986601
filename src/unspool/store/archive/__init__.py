"""Keeps bytes, gives bytes back, proves it. Knows nothing of what they mean, and imports nothing of sessions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unspool.store.archive.archive import ArchiveDatabase, KeptFile, PackPiece
    from unspool.store.archive.chain import FileStatus, Origin
    from unspool.store.archive.keeper import Keeper

_HOMES = {
    "ArchiveDatabase": "archive", "KeptFile": "archive", "PackPiece": "archive", "Origin": "chain", "Keeper": "keeper",
    "FileStatus": "chain",
}  # fmt: skip
"""Where each name is from; loaded when it is asked for, since commands that only look need little of it."""

__all__ = ["ArchiveDatabase", "FileStatus", "Keeper", "KeptFile", "Origin", "PackPiece"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
