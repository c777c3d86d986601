"""Search by words and filters: hits weighed, grouped by session, the best session first.

A hit weighs its bm25 times WEIGHTS of its kind; a session as its best hit, times a bonus for being recent that falls
from one half to nothing, by half every month: `weight = bm25 x kind x (1 + 0.5 x 2^(-age / 30 days))`. Words that
more than COMMON documents hold tell little by themselves, and weighing each hit would take long: there a session
weighs by the kind of its best hit and by how many it has, `kind x (1 + log10(hits) / 10)`, with the same bonus. Where
no word is asked for there is nothing to weigh, and the newest comes first.
"""

import time
from collections.abc import Sequence
from heapq import nlargest
from math import log10
from typing import Any, NamedTuple

import apsw

from unspool.index.filters import Condition, conditions
from unspool.index.hits import Row, Store, Teller
from unspool.index.match import match
from unspool.index.query import Query, terms
from unspool.index.results import FoundSession, Results, Snippet
from unspool.index.schema import KINDS
from unspool.index.scope import Scope, Span
from unspool.index.snippet import marks, patterns, snippet

WEIGHTS = {"title": 1.6, "prompt": 1.4, "answer": 1.2, "thinking": 0.9, "call": 1.0, "result": 0.8, "notice": 0.6}
"""What people and the model said is looked for more often than what tools printed."""
_FRESH = 0.5
_HALF_LIFE = 30 * 86_400.0
_KINDS = " ".join(f"WHEN {KINDS.index(kind)} THEN {by}" for kind, by in WEIGHTS.items())
_KIND = f"CASE doc.kind {_KINDS} END"
_SCORE = f"-rank * {_KIND}"
COMMON = 3000
"""Documents that may match before hits are no longer weighed one by one."""


class Wanted(NamedTuple):
    """How much is wanted."""

    sessions: int = 10
    """0: all."""
    hits: int = 3
    """Of each session."""
    context: int = 160
    """Characters of a snippet."""


DEFAULT = Wanted()


class Words:
    """Looks for words in texts."""

    def __init__(self, query: Query, size: int) -> None:
        self._sought = patterns(terms(query.tree))
        self._size = size

    def pick(self, texts: Sequence[str]) -> Snippet:
        """The piece with most of the words; the beginning where none stands there as it was typed."""
        found = [(text, marks(text, self._sought)) for text in texts]
        text, where = max(found, key=lambda one: len({number for _, number in one[1]}))
        return snippet(text, where, self._size)


def search(db: apsw.Connection, archive: Store, query: Query, wanted: Wanted = DEFAULT) -> Results:
    """What a question finds. UsageProblem where a filter's value means nothing."""
    asked = conditions(db, query)
    teller = Teller(db, archive, Words(query, wanted.context))
    found = None if query.tree is None else match(query.tree)
    if found is None or found.excluded:
        results = _listed(Scope(db, [*asked, *word_condition(query)]), teller, wanted)
    else:
        begun = any(term.prefix for term in terms(query.tree))
        results = _ranked(Scope(db, asked), teller, _Asked(found.text, begun), wanted)
    return results.noting(query.notes)


def word_condition(query: Query) -> list[Condition]:
    """The words of a question as a condition among others."""
    if query.tree is None:
        return []
    found = match(query.tree)
    within = "doc.id IN (SELECT rowid FROM words WHERE words MATCH ?)"
    return [Condition(f"NOT ({within})" if found.excluded else within, (found.text,))]


class _Group(NamedTuple):
    """The hits of one session: what the best weighs, how many, and where they are."""

    weight: float
    span: Span
    hits: int


class _Asked(NamedTuple):
    """Words to look for; `begun`: some are only beginnings, and what they match takes long to gather."""

    words: str
    begun: bool


def _ranked(scope: Scope, teller: Teller, asked: _Asked, wanted: Wanted) -> Results:
    found, common = _grouped(scope, asked)
    ended, now = scope.ended([span.session for span, _, _ in found]), time.time()
    groups = [
        _Group(weight * fresh(ended[span.session], now) * (1 + log10(hits) / 10 if common else 1), span, hits)
        for span, hits, weight in found
    ]
    best = nlargest(wanted.sessions or len(groups), groups)
    rows = _best(scope, asked, best, _KIND if common else _SCORE, wanted.hits)
    teller.prepare(row for some in rows for row in some)
    told = (
        _told(teller, group.span.session, some, group.hits, group.weight)
        for group, some in zip(best, rows, strict=True)
    )
    return Results(tuple(told), len(groups), sum(group.hits for group in groups))


def _grouped(scope: Scope, asked: _Asked) -> tuple[list[Any], bool]:
    """The sessions that hold the words, each with how many hits and what the best weighs; whether they are common."""
    by_kind, by_rank = f"count(*), max({_KIND})", f"count(*), max({_SCORE})"
    if not asked.begun:
        common = scope.exceeds(asked.words, COMMON)
        return scope.grouped(asked.words, by_kind if common else by_rank), common
    found = scope.grouped(asked.words, by_kind)
    if sum(hits for _, hits, _ in found) > COMMON or scope.exceeds(asked.words, COMMON):
        return found, True
    return scope.grouped(asked.words, by_rank), False


def _best(scope: Scope, asked: _Asked, groups: Sequence[_Group], score: str, most: int) -> list[list[Row]]:
    """The best documents of each group."""
    if asked.begun:
        found = scope.best(asked.words, [group.span.session for group in groups], score, most)
        return [found[group.span.session] for group in groups]
    order = f"ORDER BY {score} DESC, doc.id DESC LIMIT {most:d}"
    return [scope.matching(asked.words, group.span, order) for group in groups]


def fresh(ended: float | None, now: float) -> float:
    """What being recent multiplies a weight by; nothing is known to be recent that has no time."""
    return 1.0 if ended is None else float(1 + _FRESH * 2 ** (-max(0.0, now - ended) / _HALF_LIFE))


def _told(teller: Teller, session: int, rows: Sequence[Row], count: int, weight: float = 0.0) -> FoundSession:
    told = teller.told(session)
    hits = [hit for row in rows if (hit := teller.hit(row, told)) is not None]
    return teller.session(told, hits, count, weight)


def _listed(scope: Scope, teller: Teller, wanted: Wanted) -> Results:
    found: list[tuple[int, int, list[Row]]] = []
    more = False
    for session in scope.newest():
        more = bool(wanted.sessions) and len(found) == wanted.sessions
        if more:
            break
        count = scope.count(session)
        if count:
            order = f" ORDER BY turn.time DESC, doc.id DESC LIMIT {wanted.hits:d}"
            found.append((session, count, scope.rows(session, order)))
    teller.prepare(row for _, _, rows in found for row in rows)
    sessions = tuple(_told(teller, session, rows, count) for session, count, rows in found)
    return Results(sessions, *((None, None) if more else (len(found), sum(count for _, count, _ in found))))
