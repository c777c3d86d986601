"""An archive encrypted, decrypted, or given another key: written anew beside, proved equal, then put in its place."""

import os
from pathlib import Path

from unspool.archive.archive import Archive
from unspool.archive.place import ARCHIVE, INDEX
from unspool.archive.rows import copied, equal
from unspool.archive.swap import overwritten, swapped, without
from unspool.archive.trouble import told
from unspool.archive.verify import verify
from unspool.errors import Unreadable, UnspoolError

_NEW = ".new"


def convert(folder: Path, old: str | None, new: str | None) -> None:
    """Give the archive of a folder another key; None is none. The index goes: the next sync makes it with that key.

    An archive that is not clean is refused, so that the new one is known to be whole.
    """
    if not verify(folder, key=old).clean:
        raise Unreadable(f"The archive in {folder} is damaged; run `unspool verify --repair` first.")
    path = folder / ARCHIVE
    beside = folder / (ARCHIVE + _NEW) / ARCHIVE
    _clear(beside)
    try:
        with Archive.open(folder, key=old) as archive, told(path):
            archive.db.execute("BEGIN EXCLUSIVE")  # whoever writes must wait, and then meets another file
            _written(archive, beside, new)
            without(folder / INDEX)
            _replace(archive, beside, path)
    finally:
        _clear(beside)


def _written(archive: Archive, beside: Path, key: str | None) -> None:
    with Archive.open(beside.parent, key=key) as fresh:
        with fresh.writing():
            copied(archive.db, fresh.db)
        if not equal(archive.db, fresh.db):
            raise UnspoolError("The new archive is not equal to the old one; nothing was changed.")
    if not verify(beside.parent, key=key).clean:
        raise UnspoolError("The new archive is not clean; nothing was changed.")


def _replace(archive: Archive, beside: Path, path: Path) -> None:
    """The new file in the place of the old one, whose bytes are then overwritten."""
    old = os.open(path, os.O_RDWR)
    swapped(beside, path)
    archive.close()  # ends the transaction; the file that it was about has no name any more
    overwritten(old)


def _clear(beside: Path) -> None:
    if beside.parent.is_dir():
        without(beside)
        beside.parent.rmdir()
