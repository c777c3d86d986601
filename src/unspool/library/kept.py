"""Sessions whose logs are gone from their sources and are read from the archive."""

import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from unspool.archive import Archive
from unspool.archive.place import ARCHIVE, INDEX
from unspool.errors import NotFound
from unspool.formats import Found, by_id, is_known
from unspool.index.requests import requests_of
from unspool.index.store import Index
from unspool.library.lend import lent
from unspool.library.skims import Counted
from unspool.library.states import Sessions
from unspool.model import Overview
from unspool.turns.ledger import Ledger

_BEGINNING = 2 * 1024 * 1024


class KeptSessions:
    """The sessions of an archive, as far as they are not in their sources any more."""

    def __init__(self, folder: Path, key: str | None = None) -> None:
        self._folder = folder
        self._key = key

    @property
    def there(self) -> bool:
        return (self._folder / ARCHIVE).exists() and (self._folder / INDEX).exists()

    def logs(self, present: set[str]) -> list[Found]:
        """Every session's log that is not among those present, the last written first."""
        found: list[Found] = []
        with Archive.open(self._folder, key=self._key, readonly=True) as archive:
            for number, origin in archive.origins().items():
                if not is_known(origin.agent):
                    continue
                kept = archive.kept(number)
                sessions = Sessions(by_id(origin.agent), kept.values())
                for path, session in {**sessions.paths, **self._strays(number, sessions)}.items():
                    whole = str(Path(origin.root) / path)
                    if os.path.realpath(whole) not in present:
                        folder, one = path.rsplit("/", 2)[-2] if "/" in path else "", kept[path]
                        found.append(
                            Found(
                                whole, session, origin.agent, one.size, one.modified / 1e9, folder, origin.root,
                                origin=number,
                            )
                        )  # fmt: skip
        return sorted(found, key=lambda log: (-log.modified, log.path))

    def _strays(self, origin: int, sessions: Sessions) -> dict[str, str]:
        """Subagents' logs that stand for themselves, as the index knows: their ids, by path."""
        beside = set(sessions.beside)
        if not beside:
            return {}
        with Index.open(self._folder, key=self._key, readonly=True) as index:
            rows = index.db.execute("SELECT path, key FROM session WHERE origin = ?", (origin,))
            return {path: key for path, key in rows if path in beside}

    def counted(self, logs: list[Found]) -> Iterator[Counted]:
        """What the index knows of sessions; those that it does not know are left out."""
        with Index.open(self._folder, key=self._key, readonly=True) as index:
            query = "SELECT id, overview, ids FROM session WHERE origin = ? AND path = ?"
            for found in logs:
                row: Any = index.db.execute(query, (found.origin, _inside(found))).fetchone()
                if row is not None:
                    overview = msgspec.structs.replace(msgspec.msgpack.decode(row[1], type=Overview), kept=True)
                    yield Counted(found, overview, array("Q", row[2]), _ledger(index, row[0]))

    def overview(self, found: Found) -> Overview | None:
        """What the index knows of a session."""
        return next((one.overview for one in self.counted([found])), None)

    def beginning(self, found: Found) -> bytes:
        """The first lines of a log."""
        with Archive.open(self._folder, key=self._key, readonly=True) as archive:
            kept = archive.last(found.origin, _inside(found))
            return b"" if kept is None else archive.read(kept.generation, 0, _BEGINNING)

    @contextmanager
    def lent(self, found: Found) -> Iterator[Found]:
        """The same log where it can be read for a while."""
        with Archive.open(self._folder, key=self._key, readonly=True) as archive:
            format_, path = by_id(found.format), _inside(found)
            files = Sessions(format_, archive.kept(found.origin).values()).needed(path)
            with lent(archive, files) as root:
                wanted = str(root / path)
                here = next((log for log in format_.discover(root) if log.path == wanted), None)
                if here is None:
                    raise NotFound(f"The archive holds no log of {found.session_id}.")
                yield here


def _inside(found: Found) -> str:
    return os.path.relpath(found.path, found.root).replace(os.sep, "/")


def _ledger(index: Index, session: int) -> Ledger:
    ledger = Ledger()
    for row in requests_of(index.db, session):
        ledger.enter((row.message, row.request), row.usage, row.time, row.terms)
    return ledger
