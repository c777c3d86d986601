"""A hub saved to a folder, while it runs, and brought back from there.

The folder holds what a hub without servers holds, so it can be looked at with every command that takes `--data`. Saved
to the same folder again, only what is new is copied; what was saved before stays until the new is all there.
"""

from pathlib import Path

from unspool.errors import Exists, NotFound
from unspool.files import write_atomically
from unspool.hub.store.copying import Copied, Told, copied
from unspool.hub.store.move import move
from unspool.hub.store.opening import DATABASE, Place, Store, opened
from unspool.hub.store.proof import kept, keys, parts
from unspool.hub.store.tables import empty

SEAL = "backup"
"""The file that tells a folder of backups from a hub's own; empty until there is one."""


def backup(source: Store, folder: Path, told: Told) -> Copied:
    """Save a hub as it is at one moment."""
    place = Place(folder)
    if (folder / DATABASE).exists() and not (folder / SEAL).exists():
        raise Exists("This folder holds a hub, and no backup of one.")
    target = opened(place)
    (folder / SEAL).touch(0o600)
    try:
        result = copied(source, target, told, mark=False)
        write_atomically(folder / SEAL, [b"finished\n"])
        _pruned(target)
    finally:
        target.db.close()
    return result


def restore(folder: Path, target: Store, told: Told) -> Copied:
    """Bring a hub back from a folder, into an empty place."""
    source = opened(Place(folder), new=False)
    try:
        if empty(source.db) and not _finished(folder):
            raise NotFound("The backup in this folder was never finished.")
        return move(source, target, told)
    finally:
        source.db.close()


def _finished(folder: Path) -> bool:
    return (folder / SEAL).exists() and (folder / SEAL).stat().st_size > 0


def _pruned(target: Store) -> None:
    """Remove contents that only an older backup had."""
    for part in parts(target.db):
        for key in keys(target.objects, part) - {one.key for one in kept(target.db, part)}:
            target.objects.delete(key)
