"""An archive and an index that a real sync made of built logs, and questions put to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from unspool.archive import Archive
from unspool.demo.builder import LogBuilder
from unspool.index.exact import exact, shell_calls
from unspool.index.pattern import regular, substring
from unspool.index.query import parse
from unspool.index.results import Results
from unspool.index.search import Wanted, search
from unspool.index.store import Index
from unspool.index.touches import touches
from unspool.sync import sync


class Asked(NamedTuple):
    """An open archive with its index."""

    store: Index
    archive: Archive

    def words(self, question: str, **wanted: int) -> Results:
        return search(self.store.db, self.archive, parse(question), Wanted(**wanted))

    def substring(self, text: str, question: str = "", **wanted: int) -> Results:
        return exact(self.store.db, self.archive, substring(text), parse(question), Wanted(**wanted))

    def regex(self, text: str, question: str = "", **wanted: int) -> Results:
        return exact(self.store.db, self.archive, regular(text), parse(question), Wanted(**wanted))

    def command(self, text: str) -> Results:
        shells: Any = [shell_calls(self.store.db)]
        return exact(self.store.db, self.archive, substring(text), parse(""), Wanted(), shells)

    def file(self, path: str, question: str = "", **wanted: int) -> Results:
        return touches(self.store.db, self.archive, path, parse(question), Wanted(**wanted))


def kept(folder: Path, *logs: LogBuilder) -> Path:
    """The folder of an archive of these logs."""
    for log in logs:
        log.write(folder / "source")
    report = sync(folder / "archive", [folder / "source"])
    assert report.failures == []
    return folder / "archive"


@contextmanager
def asked(folder: Path, *logs: LogBuilder) -> Iterator[Asked]:
    """The archive of these logs, to be asked."""
    place = kept(folder, *logs)
    with Archive.open(place, readonly=True) as archive, Index.open(place, readonly=True) as index:
        yield Asked(index, archive)


def keys(results: Results) -> list[str]:
    """The sessions found, in order."""
    return [session.session for session in results.sessions]


def lit(results: Results) -> list[str]:
    """What is highlighted in the first hit of the first session."""
    snippet = results.sessions[0].hits[0].snippet
    return [snippet.text[start:end] for start, end in snippet.marks]
