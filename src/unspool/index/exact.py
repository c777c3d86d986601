"""Search for exact texts: candidates from the index, proof from the archive, the newest session first.

Where the pattern holds whole words, the full-text index names the documents to look at; where it does not, all that
the filters leave are looked at. The newest sessions are read first, for they may be enough; the others in the order
of the archive, so that each pack is unpacked once. Texts that repeat within a log, and data in base64, are in the
index once and never, and so they are here.
"""

from collections.abc import Sequence
from typing import Any

import apsw

from unspool.formats import FORMATS
from unspool.index.filters import Condition, conditions
from unspool.index.hits import Row, Teller
from unspool.index.looking import Bytes, Looking
from unspool.index.pattern import Pattern, Seek
from unspool.index.query import Query
from unspool.index.results import FoundSession, Hit, Results
from unspool.index.schema import KINDS
from unspool.index.scope import Scope
from unspool.index.search import DEFAULT, Wanted, word_condition

_CALL = KINDS.index("call")
_FIRST = 40
"""Sessions that are read newest first."""
_ORDER = "ORDER BY log.number, doc.place, doc.id"


def exact(
    db: apsw.Connection,
    archive: Bytes,
    pattern: Pattern,
    query: Query,
    wanted: Wanted = DEFAULT,
    more: Sequence[Condition] = (),
) -> Results:
    """Where a pattern stands, in what a question with its filters leaves."""
    scope = Scope(db, [*conditions(db, query), *word_condition(query), *more])
    teller = Teller(db, archive, Seek(pattern, wanted.context))
    search = _Search(scope, teller, Looking(teller, archive, pattern), pattern.words)
    return search.results(wanted).noting(query.notes)


class _Search:
    def __init__(self, scope: Scope, teller: Teller, looking: Looking, words: str) -> None:
        self._scope = scope
        self._teller = teller
        self._looking = looking
        self._words = words
        self._spans = {found[0].session: found[0] for found in scope.grouped(words, "count(*)")} if words else {}

    def results(self, wanted: Wanted) -> Results:
        """The newest sessions that hold the pattern."""
        newest = [session for session in self._scope.newest() if not self._words or session in self._spans]
        found: dict[int, FoundSession] = {}
        for session in newest[:_FIRST]:
            self._look(session, wanted.hits, found)
            if wanted.sessions and len(found) == wanted.sessions and session != newest[-1]:
                return Results(tuple(found.values()), None, None)
        for session in self._scope.archived(newest[_FIRST:]):
            self._look(session, wanted.hits, found)
        ordered = [found[session] for session in newest if session in found]
        shown = tuple(ordered[: wanted.sessions or None])
        return Results(shown, len(ordered), sum(one.count for one in ordered))

    def _look(self, session: int, most: int, found: dict[int, FoundSession]) -> None:
        told = self._teller.told(session)
        if not self._looking.may_hold(told, self._scope.generations(session)):
            return
        hits = sorted(self._looking.hits(self._rows(session), told), key=_newest)
        if hits:
            found[session] = self._teller.session(told, hits[:most], len(hits), 0.0)

    def _rows(self, session: int) -> list[Row]:
        if self._words:
            return self._scope.matching(self._words, self._spans[session], _ORDER)
        return self._scope.rows(session, _ORDER)


def _newest(hit: Hit) -> tuple[bool, int]:
    """Names of the session first, then what was said last."""
    return hit.turn is not None, -(hit.time or 0)


def shell_calls(db: apsw.Connection) -> Condition:
    """Commands that were run: calls of tools that are a shell."""
    names: list[Any] = db.execute("SELECT id, text FROM name").fetchall()
    shells = tuple(number for number, text in names if any(one.role(text) == "shell" for one in FORMATS))
    return Condition(f"doc.kind = ? AND doc.tool IN ({', '.join('?' * len(shells))})", (_CALL, *shells))
