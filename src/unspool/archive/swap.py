"""A database file takes the place of another, whole or not at all; and a file's bytes are made to be gone."""

import os
from pathlib import Path

from unspool.files import settle

_CHUNK = 1 << 20
BESIDE = ("-journal", "-wal", "-shm")


def swapped(new: Path, path: Path) -> None:
    """Move a finished file to where another one is; what lay beside the old one is nothing to the new."""
    with new.open("rb+") as stream:
        os.fsync(stream.fileno())
    for suffix in BESIDE:
        erased(path.with_name(path.name + suffix))
    new.replace(path)
    settle(path.parent)


def erased(path: Path) -> None:
    """Overwrite a file and remove it. What a disk or a snapshot keeps besides is beyond any program."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return
    overwritten(descriptor)
    path.unlink(missing_ok=True)


def overwritten(descriptor: int) -> None:
    """Fill an open file with zeros, empty it, and close it."""
    try:
        left = os.fstat(descriptor).st_size
        while left > 0:
            left -= os.write(descriptor, bytes(min(_CHUNK, left)))
        os.fsync(descriptor)
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def without(path: Path) -> None:
    """Make sure that a database file of that name, and what lies beside it, is not there."""
    for suffix in ("", *BESIDE):
        erased(path.with_name(path.name + suffix))
