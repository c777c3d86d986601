"""Finds how an error was solved before: by the index where it stood, by the sessions themselves what followed."""

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import apsw
import msgspec

from unspool.errors import UnspoolError, UsageProblem
from unspool.figures.solved_errors import AskedError, SolvedError, solved_errors
from unspool.model import Session
from unspool.store.index.query import Filter, SearchQuery, parse_query
from unspool.store.index.search import SearchRequest, search_index

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

_WORDS = 16
"""Words of an error that are looked for."""
_SESSIONS = 10
"""Sessions that are read for what followed."""
_OF_ONE = 3
"""Errors of one session that are told."""


class FoundSolution(msgspec.Struct, frozen=True):
    session: str
    title: str
    project: str
    agent: str
    ended: datetime | None
    error: SolvedError


class ErrorSources(NamedTuple):
    """Where errors are looked for: the index, the archive, and how a session is opened."""

    db: apsw.Connection
    archive: "ArchiveDatabase"
    open_session: Callable[[str], Session]


def find_solutions(sources: ErrorSources, error: str, without: Collection[str] = ()) -> list[FoundSolution]:
    """Errors like this one in any session but some, those that were solved and are most alike first.

    UsageProblem where the error has no words to look for.
    """
    asked = AskedError.of(error)
    if not asked.words:
        raise UsageProblem("Say the error in the words that it was printed with.")
    request = SearchRequest(_SESSIONS + len(without), 1, 40)
    hits = search_index(sources.db, sources.archive, _query(asked.words), request).sessions
    found: list[FoundSolution] = []
    for hit in [hit for hit in hits if hit.session not in without][:_SESSIONS]:
        with suppress(UnspoolError):  # its log may be gone since, or be unreadable
            session = sources.open_session(hit.session)
            told = sorted(solved_errors(session, asked), key=_rank)[:_OF_ONE]
            where = session.id, session.title, session.project, session.agent, session.ended
            found += [FoundSolution(*where, one) for one in told]
    return sorted(found, key=lambda one: _rank(one.error))


def _rank(error: SolvedError) -> tuple[bool, float, int]:
    return not error.solved, -error.alike, len(error.steps)


def _query(words: frozenset[str]) -> SearchQuery:
    """Any of the words, the longest, which tell most, before all others; in results that failed."""
    chosen = sorted(words, key=lambda word: (-len(word), word))[:_WORDS]
    return parse_query(" OR ".join(f'"{word}"' for word in chosen), [Filter("is", "error"), Filter("kind", "result")])
