"""What an archive holds, for comparing it with its sources. Opened for reading alone."""

from collections.abc import Sequence
from pathlib import Path

from unspool.archive import Archive, Kept
from unspool.archive.place import ARCHIVE
from unspool.archive.trouble import told
from unspool.errors import Busy, UnspoolError
from unspool.formats import by_id, is_known
from unspool.sync.places import Place
from unspool.sync.scene import Holding, KeptFile


def holding(folder: Path, places: Sequence[Place], key: str | None = None) -> Holding | None:
    """What the archive in a folder holds of some places; None where there is no archive."""
    path = folder / ARCHIVE
    try:
        if not path.exists():
            return None
        with told(path), Archive.open(folder, key=key, readonly=True) as archive:
            return _held(archive, places, path.stat().st_mtime)
    except Busy:
        return Holding(trouble="Another process is writing to the archive; ask again when it is done.", busy=True)
    except UnspoolError as error:
        return Holding(trouble=str(error))
    except OSError as error:
        return Holding(trouble=f"Cannot read the archive {path}: {error}.")


def _held(archive: Archive, places: Sequence[Place], written: float) -> Holding:
    here = {place.origin for place in places}
    files: dict[str, KeptFile] = {}
    sessions: set[str] = set()
    for number, origin in archive.origins().items():
        if not is_known(origin.agent):
            continue
        kept = archive.kept(number)
        format_ = by_id(origin.agent)
        sessions.update(format_.belongs(path) for path in kept if format_.is_session(path))
        if origin in here:
            files.update((f"{origin.root}/{path}", _file(one)) for path, one in kept.items())
    return Holding(files, frozenset(sessions - {""}), written, graves=archive.graves())


def _file(one: Kept) -> KeptFile:
    return KeptFile(one.size, one.modified / 1e9)
