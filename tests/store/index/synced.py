"""An archive and an index that a real sync made of built logs, and questions put to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.log_builder.builder import LogBuilder
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.database import Index
from unspool.store.index.exact_search import exact_search, regex_pattern, shell_calls, substring_pattern
from unspool.store.index.query import parse_query
from unspool.store.index.results import SearchResults
from unspool.store.index.search import SearchRequest, search_index, sessions_touching
from unspool.store.sync import sync


class Asked(NamedTuple):
    """An open archive with its index."""

    store: Index
    archive: ArchiveDatabase

    def words(self, question: str, **wanted: int) -> SearchResults:
        return search_index(self.store.db, self.archive, parse_query(question), SearchRequest(**wanted))

    def substring(self, text: str, question: str = "", **wanted: int) -> SearchResults:
        return exact_search(
            self.store.db, self.archive, substring_pattern(text), parse_query(question), SearchRequest(**wanted)
        )

    def regex(self, text: str, question: str = "", **wanted: int) -> SearchResults:
        return exact_search(
            self.store.db, self.archive, regex_pattern(text), parse_query(question), SearchRequest(**wanted)
        )

    def command(self, text: str) -> SearchResults:
        shells: Any = [shell_calls(self.store.db)]
        return exact_search(
            self.store.db, self.archive, substring_pattern(text), parse_query(""), SearchRequest(), shells
        )

    def file(self, path: str, question: str = "", **wanted: int) -> SearchResults:
        return sessions_touching(self.store.db, self.archive, path, parse_query(question), SearchRequest(**wanted))


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
    with ArchiveDatabase.open(place, readonly=True) as archive, Index.open(place, readonly=True) as index:
        yield Asked(index, archive)


def keys(results: SearchResults) -> list[str]:
    """The sessions found, in order."""
    return [session.session for session in results.sessions]


def lit(results: SearchResults) -> list[str]:
    """What is highlighted in the first hit of the first session."""
    snippet = results.sessions[0].hits[0].snippet
    return [snippet.text[start:end] for start, end in snippet.marks]
