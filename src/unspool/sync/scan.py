"""One place compared with what the archive holds of it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from unspool.archive import Archive, Kept
from unspool.archive.status import Outcome
from unspool.sync.graves import Graves
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
        graves = Graves.of(archive)
        self.files: dict[str, Seen] = {path: seen for path, seen in place.files().items() if not graves.hold(path)}
        self.fresh = {path for path, seen in self.files.items() if not _same(seen, self.kept.get(path))}
        self.failures: list[str] = []

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
                yield keeper.keep(self.origin, path, seen.path, seen.status, self.kept.get(path)), seen.status.size
            except OSError as error:
                self.failures.append(f"Cannot read {seen.path}: {error.strerror or error}.")

    def refresh(self, archive: Archive) -> None:
        """Look again at what is kept."""
        self.kept = archive.kept(self.origin)


def _same(seen: Seen, kept: Kept | None) -> bool:
    return (
        kept is not None and kept.gone is None and seen.status == (kept.size, kept.modified, kept.changed, kept.inode)
    )
