"""Sessions, from the agents' folders or from a log that is named."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from unspool.formats import Companion, Found, by_id
from unspool.library.find import find, is_input
from unspool.library.inputs import is_url
from unspool.library.listing import Listing, listed
from unspool.library.neighbours import Neighbours
from unspool.library.opening import read_session, read_stream
from unspool.library.read import recorded_requests
from unspool.library.skims import counted
from unspool.library.sources import alone, discovered
from unspool.model import Overview, Session
from unspool.model.request import RecordedRequests
from unspool.prices import PriceTable

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions  # brings the database, which most readers do without


class Library:
    """The sessions of some folders; of the agents' own folders where none is named."""

    def __init__(
        self, sources: Sequence[Path] = (), prices: PriceTable | None = None, kept: "KeptSessions | None" = None
    ) -> None:
        self.sources = tuple(sources)
        self._prices = prices
        self.kept = kept
        """Sessions that only an archive has; None where only the sources count."""
        self._logs: tuple[Found, ...] | None = None
        self._neighbours = Neighbours(self.logs, kept)

    @property
    def prices(self) -> PriceTable:
        self._prices = self._prices or PriceTable.load()
        return self._prices

    def logs(self) -> tuple[Found, ...]:
        """Every session's log, the last written first; nothing is read yet."""
        if self._logs is None:
            here = discovered(self.sources)
            gone = self.kept.logs({os.path.realpath(log.path) for log in here}) if self.kept is not None else []
            self._logs = tuple(sorted([*here, *gone], key=lambda log: (-log.modified, log.path)))
        return self._logs

    def overviews(self, progress: Callable[[int], None] | None = None) -> tuple[Overview, ...]:
        """What a list shows of every session, newest first."""
        return self.listing(progress).overviews

    def listing(self, progress: Callable[[int], None] | None = None) -> Listing:
        """All sessions counted, linked to each other and priced."""
        here = [log for log in self.logs() if not log.origin]
        gone = [log for log in self.logs() if log.origin]
        done = list(counted(here, progress or (lambda _: None)))
        if gone and self.kept is not None:
            done += self.kept.counted(gone)
        return listed(done, self.prices)

    def find(self, name: str) -> Found:
        """The log that `name` means; see `unspool.library.find`."""
        return find(name, self.logs(), self.overviews)

    def resolve(self, name: str | Path) -> Found | str:
        """What a person's name for a session means: a found log, or the input to read it from."""
        text = str(name)
        if text == "-" or is_url(text):
            return text
        if isinstance(name, Path) or is_input(text) or Path(text).is_file():
            return alone(Path(text)) or text
        return self.find(text)

    def open(self, log: Found | str | Path) -> Session:
        """The session of a log, whole: given as found, or by anything a person may call it."""
        found = log if isinstance(log, Found) else self.resolve(log)
        if not isinstance(found, Found):
            return read_stream(found)
        return self._neighbours.linked(read_session(found, self.kept), found)

    def requests(self, log: Found | str | Path) -> RecordedRequests | None:
        """The requests that a session's log keeps whole; None for an input that can be read only once."""
        found = log if isinstance(log, Found) else self.resolve(log)
        if not isinstance(found, Found):
            return recorded_requests(found) if Path(found).is_file() else None
        with self.located(found) as here:
            return recorded_requests(here.path, by_id(here.format))

    @contextmanager
    def located(self, found: Found) -> Iterator[Found]:
        """The log with its files where they can be read while the `with` lasts, though only the archive has them."""
        if found.origin and self.kept is not None:
            with self.kept.lent(found) as here:
                yield here
        else:
            yield found

    def companions(self, session: Session) -> tuple[Companion, ...]:
        """Files of a session that are no logs: spilled outputs, plans, todo lists, ..."""
        found = alone(Path(session.log.path))
        return tuple(by_id(found.format).companions(found, session.slug)) if found is not None else ()


def open_session(name: str | Path, sources: Sequence[Path] = ()) -> Session:
    """One session, whole. `name`: an id or its start, a path, "-", a URL, a piece of its title, or "latest"."""
    return Library(sources).open(name)


def sessions(sources: Sequence[Path] = ()) -> tuple[Overview, ...]:
    """An overview of every session, newest first."""
    return Library(sources).overviews()
