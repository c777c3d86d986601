"""One place compared with what the archive holds of it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unspool.archive import Archive, Kept
from unspool.archive.graves import Graves
from unspool.archive.sieve import Drops, Sieved
from unspool.archive.status import Outcome
from unspool.sync.places import Place, Seen

if TYPE_CHECKING:
    from unspool.archive import Keeper  # which a sync without anything new does without


class Scan:
    """The files of a place, and which of them the archive does not hold as they stand."""

    def __init__(self, archive: Archive, place: Place) -> None:
        self.place = place
        with archive.db:
            self.origin = archive.origin(place.origin)
        self.kept = archive.kept(self.origin)
        self.failures: list[str] = []
        self.files: dict[str, Seen] = place.files()
        self._sieved: dict[str, Sieved] = {}
        graves = archive.graves()
        if graves.names:
            self._hide(graves)
        self.fresh = {path for path, seen in self.files.items() if not _same(seen, self.kept.get(path))}

    def _hide(self, graves: Graves) -> None:
        """Pass over what was forgotten."""
        from unspool.sync.forgotten import Forgotten

        forgotten = Forgotten(graves, self.place.format)
        self.files = {path: seen for path, seen in self.files.items() if not forgotten.hides(path)}
        for path in list(self.files):
            if (drops := forgotten.drops(path)) is not None:
                self._sift(path, drops)

    def _sift(self, path: str, drops: Drops) -> None:
        """Take a file without some lines; from here on its size is that of the rest."""
        seen, kept = self.files[path], self.kept.get(path)
        if kept is not None and kept.gone is None and seen.status[1:] == (kept.modified, kept.changed, kept.inode):
            self.files[path] = seen._replace(status=seen.status._replace(size=kept.size))  # it is as it was
            return
        sieved = self._sieved[path] = Sieved(Path(seen.path), seen.status.size, drops)
        try:
            self.files[path] = seen._replace(status=seen.status._replace(size=sieved.size))
        except OSError as error:
            self.failures.append(_unreadable(seen, error))
            del self.files[path]

    @property
    def gone(self) -> Iterator[Kept]:
        """Kept files that are no longer there, met for the first time."""
        prefix = self.place.prefix
        for path, kept in self.kept.items():
            if path not in self.files and kept.gone is None and path.startswith(prefix):
                yield kept

    def keep(self, keeper: "Keeper", paths: Iterable[str]) -> Iterator[tuple[Outcome, int]]:
        """Keep those of the files that are fresh; what became of each, and its size."""
        for path in sorted(self.fresh.intersection(paths)):
            seen = self.files[path]
            self.fresh.discard(path)
            try:
                source = self._sieved.get(path) or Path(seen.path)
                yield keeper.keep(self.origin, path, source, seen.status, self.kept.get(path)), seen.status.size
            except OSError as error:
                self.failures.append(_unreadable(seen, error))


def _unreadable(seen: Seen, error: OSError) -> str:
    return f"Cannot read {seen.path}: {error.strerror or error}."


def _same(seen: Seen, kept: Kept | None) -> bool:
    return (
        kept is not None and kept.gone is None and seen.status == (kept.size, kept.modified, kept.changed, kept.inode)
    )
