"""Search by words and filters, and which sessions touched a file."""

import time
from collections.abc import Callable, Sequence
from heapq import nlargest
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import msgspec

from unspool.store.index.conditions import SqlCondition, all_of
from unspool.store.index.context_search import ContextSearch
from unspool.store.index.filters import DocumentSpan, SearchScope, search_conditions
from unspool.store.index.hits import COLUMNS, HitBuilder, HitRow
from unspool.store.index.normalize_text import full_text_match
from unspool.store.index.query import SearchQuery, query_terms
from unspool.store.index.results import (
    FoundSession,
    Hit,
    SearchResults,
    Snippet,
    make_snippet,
    word_marks,
    word_patterns,
)
from unspool.store.index.schema import KINDS, TOUCHES
from unspool.store.index.touched_files import TOUCH_JOIN, named_files

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

WEIGHTS = {"title": 1.6, "prompt": 1.4, "answer": 1.2, "thinking": 0.9, "call": 1.0, "result": 0.8, "notice": 0.6}
"""What people and the model said is looked for more often than what tools printed."""
_FRESH = 0.5
_HALF_LIFE = 30 * 86_400.0
_KINDS = " ".join(f"WHEN {KINDS.index(kind)} THEN {by}" for kind, by in WEIGHTS.items())
_KIND = f"CASE doc.kind {_KINDS} END"
_SCORE = f"-rank * {_KIND}"
COMMON = 3000
"""Documents that may match before hits are no longer weighed one by one."""


class SearchRequest(NamedTuple):
    sessions: int = 10
    """0: all."""
    hits: int = 3
    """Of each session."""
    context: int = 160
    """Characters of a snippet."""


DEFAULT = SearchRequest()


def search_index(
    db: apsw.Connection,
    archive: "ArchiveDatabase",
    query: SearchQuery,
    wanted: SearchRequest = DEFAULT,
    clean: Callable[[str], str] = str,
) -> SearchResults:
    """What a question finds. UsageProblem where a filter's value means nothing.

    `clean` makes of a whole text what may be shown of it, before a snippet is cut out that could hold half a secret.
    """
    patterns = word_patterns(query_terms(query.tree))

    def pick(texts: Sequence[str]) -> Snippet:
        """The piece with most of the words; the beginning where none stands there as it was typed."""
        found = [(text, word_marks(text, patterns)) for text in map(clean, texts)]
        text, marks = max(found, key=lambda one: len({number for _, number in one[1]}))
        return make_snippet(text, marks, wanted.context)

    asked, builder = search_conditions(db, query), HitBuilder(db, archive, pick)
    found = None if query.tree is None else full_text_match(query.tree)
    if found is None or found.excluded:
        results = _listed(SearchScope(db, [*asked, *word_condition(query)]), builder, wanted)
    else:
        begun = any(term.prefix for term in query_terms(query.tree))
        results = _ranked(SearchScope(db, asked), builder, _Asked(found.text, begun), wanted)
    results = ContextSearch(db, archive, query, pick).added_to(results, wanted.sessions)
    return results.noting(query.notes)


def word_condition(query: SearchQuery) -> list[SqlCondition]:
    """The words of a question as a condition among others."""
    if query.tree is None:
        return []
    found = full_text_match(query.tree)
    within = "doc.id IN (SELECT rowid FROM words WHERE words MATCH ?)"
    return [SqlCondition(f"NOT ({within})" if found.excluded else within, (found.text,))]


class _Group(NamedTuple):
    """The hits of one session: what the best weighs, how many, and where they are."""

    weight: float
    span: DocumentSpan
    hits: int


class _Asked(NamedTuple):
    """Words to look for; `begun`: some are only beginnings, and what they match takes long to gather."""

    words: str
    begun: bool


def _ranked(scope: SearchScope, builder: HitBuilder, asked: _Asked, wanted: SearchRequest) -> SearchResults:
    found, common = _grouped(scope, asked)
    ended, now = scope.ended([span.session for span, _, _ in found]), time.time()
    groups = [
        _Group(weight * recency_factor(ended[span.session], now) * (1 + log10(hits) / 10 if common else 1), span, hits)
        for span, hits, weight in found
    ]
    best = nlargest(wanted.sessions or len(groups), groups)
    rows = _best(scope, asked, best, _KIND if common else _SCORE, wanted.hits)
    builder.prepare(row for some in rows for row in some)
    found_sessions = (
        _found(builder, group.span.session, some, group.hits, group.weight)
        for group, some in zip(best, rows, strict=True)
    )
    return SearchResults(tuple(found_sessions), len(groups), sum(group.hits for group in groups))


def _grouped(scope: SearchScope, asked: _Asked) -> tuple[list[Any], bool]:
    """The sessions that hold the words, each with how many hits and what the best weighs; whether they are common."""
    by_kind, by_rank = f"count(*), max({_KIND})", f"count(*), max({_SCORE})"
    if not asked.begun:
        common = scope.exceeds(asked.words, COMMON)
        return scope.grouped(asked.words, by_kind if common else by_rank), common
    found = scope.grouped(asked.words, by_kind)
    if sum(hits for _, hits, _ in found) > COMMON or scope.exceeds(asked.words, COMMON):
        return found, True
    return scope.grouped(asked.words, by_rank), False


def _best(scope: SearchScope, asked: _Asked, groups: Sequence[_Group], score: str, most: int) -> list[list[HitRow]]:
    if asked.begun:
        found = scope.best(asked.words, [group.span.session for group in groups], score, most)
        return [found[group.span.session] for group in groups]
    order = f"ORDER BY {score} DESC, doc.id DESC LIMIT {most:d}"
    return [scope.matching(asked.words, group.span, order) for group in groups]


def recency_factor(ended: float | None, now: float) -> float:
    """What being recent multiplies a weight by; nothing is known to be recent that has no time."""
    return 1.0 if ended is None else float(1 + _FRESH * 2 ** (-max(0.0, now - ended) / _HALF_LIFE))


def _found(builder: HitBuilder, number: int, rows: Sequence[HitRow], count: int, weight: float = 0.0) -> FoundSession:
    session = builder.load(number)
    hits = [hit for row in rows if (hit := builder.hit(row, session)) is not None]
    return builder.session(session, hits, count, weight)


def _listed(scope: SearchScope, builder: HitBuilder, wanted: SearchRequest) -> SearchResults:
    found: list[tuple[int, int, list[HitRow]]] = []
    more = False
    for session in scope.newest():
        more = bool(wanted.sessions) and len(found) == wanted.sessions
        if more:
            break
        count = scope.count(session)
        if count:
            order = f" ORDER BY turn.time DESC, doc.id DESC LIMIT {wanted.hits:d}"
            found.append((session, count, scope.rows(session, order)))
    builder.prepare(row for _, _, rows in found for row in rows)
    sessions = tuple(_found(builder, session, rows, count) for session, count, rows in found)
    return SearchResults(sessions, *((None, None) if more else (len(found), sum(count for _, count, _ in found))))


_CALL = KINDS.index("call")
_TOUCH = "file.path, touch.how, turn.place"
_WHEN = "coalesce(touch.time, turn.time / 1000.0, 0)"


def sessions_touching(
    db: apsw.Connection, archive: "ArchiveDatabase", path: str, query: SearchQuery, wanted: SearchRequest = DEFAULT
) -> SearchResults:
    """The sessions that touched a file: one whose path ends with `path`, else all whose path holds it."""
    asked, values = all_of([named_files(db, path), *search_conditions(db, query), *word_condition(query)])
    where = f"{TOUCH_JOIN} WHERE {asked}"
    sql = f"SELECT log.session, count(*), max({_WHEN}) {where} GROUP BY 1 ORDER BY 3 DESC"
    groups: list[Any] = db.execute(sql, values).fetchall()
    builder = HitBuilder(db, archive, lambda texts: make_snippet(texts[0], (), wanted.context))
    each = f"SELECT {_TOUCH}, {COLUMNS} {where} AND log.session = ? ORDER BY {_WHEN} DESC LIMIT ?"
    found: list[FoundSession] = []
    for session, count, _ in groups[: wanted.sessions or None]:
        rows: list[Any] = db.execute(each, (*values, session, wanted.hits)).fetchall()
        found.append(_found_touches(builder, session, count, rows))
    return SearchResults(tuple(found), len(groups), sum(group[1] for group in groups), query.notes)


def _found_touches(builder: HitBuilder, number: int, count: int, rows: list[Any]) -> FoundSession:
    session = builder.load(number)
    hits: list[Hit] = []
    for file, how, place, *columns in rows:
        row = HitRow(*columns)
        # The words of a call that was made before are not kept twice: its turn is told instead.
        hit = builder.hit(row if row.doc is not None else row._replace(kind=_CALL, place=place), session)
        if hit is not None:
            hits.append(msgspec.structs.replace(hit, file=file, how=TOUCHES[how]))
    return builder.session(session, hits, count, 0.0)
