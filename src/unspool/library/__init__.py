"""Sessions, from the agents' folders or from a log that is named."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from unspool.formats import Companion, Found, by_id
from unspool.library.chains import Skimmed, linked
from unspool.library.find import find, is_input
from unspool.library.inputs import is_url
from unspool.library.neighbours import Neighbours
from unspool.library.opening import read_session, read_stream
from unspool.library.projects import unified
from unspool.library.skims import Counted, counted, priced
from unspool.library.sources import alone, discovered
from unspool.model import Overview, Session, Usage
from unspool.prices import Cost, PriceTable
from unspool.turns.ledger import Ledger


class Listing(msgspec.Struct, frozen=True):
    """Sessions newest first, with what they used together, each request counted once."""

    overviews: tuple[Overview, ...]
    usage: Usage
    cost: Cost
    failures: tuple[str, ...] = ()


class Library:
    """The sessions of some folders; of the agents' own folders where none is named."""

    def __init__(self, sources: Sequence[Path] = (), prices: PriceTable | None = None) -> None:
        self.sources = tuple(sources)
        self._prices = prices
        self._logs: tuple[Found, ...] | None = None
        self._neighbours = Neighbours(self.logs)

    @property
    def prices(self) -> PriceTable:
        self._prices = self._prices or PriceTable.load()
        return self._prices

    def logs(self) -> tuple[Found, ...]:
        """Every session's log, the last written first; nothing is read yet."""
        if self._logs is None:
            self._logs = tuple(discovered(self.sources))
        return self._logs

    def overviews(self, progress: Callable[[int], None] | None = None) -> tuple[Overview, ...]:
        """What a list shows of every session, newest first."""
        return self.listing(progress).overviews

    def listing(self, progress: Callable[[int], None] | None = None) -> Listing:
        """All sessions counted, linked to each other and priced."""
        done = list(counted(self.logs(), progress or (lambda _: None)))
        overviews = self._overviews(done)
        failures = tuple(one.failure for one in done if one.failure)
        together = _together([one.ledger for one in done])
        return Listing(overviews, together.usage, self.prices.cost(together), failures)

    def _overviews(self, done: list[Counted]) -> tuple[Overview, ...]:
        named = [(f"{one.found.root}/{one.found.folder}", one) for one in done if one.overview is not None]
        priced_ = [priced(one.overview, one.ledger, self.prices) for _, one in named if one.overview is not None]
        settled_ = unified((folder, overview) for (folder, _), overview in zip(named, priced_, strict=True))
        skims = [Skimmed(overview, one.ids) for (_, one), overview in zip(named, settled_, strict=True)]
        listed = linked(skims)
        return tuple(sorted(listed, key=_newest))

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
        return self._neighbours.linked(read_session(found), found) if isinstance(found, Found) else read_stream(found)

    def companions(self, session: Session) -> tuple[Companion, ...]:
        """Files of a session that are no logs: spilled outputs, plans, todo lists, ..."""
        found = alone(Path(session.log.path))
        return tuple(by_id(found.format).companions(found, session.slug)) if found is not None else ()


def _together(ledgers: list[Ledger]) -> Ledger:
    """All requests once, gathered into the largest ledger, which spares a copy of it."""
    gathered = max(ledgers, key=len, default=Ledger())
    for ledger in ledgers:
        if ledger is not gathered:
            gathered.merge(ledger)
    return gathered


def _newest(overview: Overview) -> tuple[float, str]:
    when = overview.ended or overview.log.modified
    return (-when.timestamp() if when is not None else 0.0, overview.id)


def open_session(name: str | Path, sources: Sequence[Path] = ()) -> Session:
    """One session, whole. `name`: an id or its start, a path, "-", a URL, a piece of its title, or "latest"."""
    return Library(sources).open(name)


def sessions(sources: Sequence[Path] = ()) -> tuple[Overview, ...]:
    """An overview of every session, newest first."""
    return Library(sources).overviews()


__all__ = ["Library", "Listing", "open_session", "read_session", "read_stream", "sessions"]
