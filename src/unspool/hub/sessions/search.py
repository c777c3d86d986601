"""Search in all pushed sessions that a person may see: the last active first, each with its best places.

Filters are of sessions (project, person, model, branch, session, since, until, cost, kinds of sessions) and of passages
(role, kinds of passages); words of one place must all stand in one passage, as on one's own machine. How many there are
in all is not counted: a page of results says what leads to the next.
"""

import re
from typing import NamedTuple

import msgspec

from unspool.hub.people.person import Person
from unspool.hub.sessions import words_postgresql, words_sqlite
from unspool.hub.sessions.asking import Condition, Span, beyond, conditions, cursor, together, visible
from unspool.hub.sessions.facts import Facts
from unspool.hub.sessions.listing import rows
from unspool.hub.store.database import Database
from unspool.index.fold import UNSPACED
from unspool.index.query import Filter, Node, Query, parse, terms
from unspool.index.results import Snippet
from unspool.index.snippet import marks, patterns, snippet

_HITS = 3
_CONTEXT = 160
_RARE = 2_000
"""Passages that are gathered before sessions are walked through instead, the newest first."""
_ORDER = (
    "CASE passage.kind WHEN 'title' THEN 0 WHEN 'prompt' THEN 1 WHEN 'answer' THEN 2 WHEN 'call' THEN 3"
    " WHEN 'thinking' THEN 4 WHEN 'result' THEN 5 ELSE 6 END, passage.id DESC"
)
_OWN = re.compile(r'"[^"]*"|(?<!\S)(-?)(by|person|title):(?:"([^"]*)"|(\S+))', re.IGNORECASE)
_APART = re.compile(f"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")


class Hit(msgspec.Struct, frozen=True):
    """One place that was found."""

    kind: str
    """title, prompt, answer, thinking, call, result or notice."""
    turn: int
    page: str
    """Page and anchor, below the session's own address."""
    snippet: Snippet


class Found(msgspec.Struct, frozen=True):
    """A session and its best places."""

    session: Facts
    hits: tuple[Hit, ...]


class Results(msgspec.Struct, frozen=True):
    """Sessions, and what leads to more of them."""

    found: tuple[Found, ...]
    next: str
    notes: tuple[str, ...] = ()
    """What was mended in the question or left out of it, a sentence each."""


class _Asked(NamedTuple):
    sessions: Condition
    passages: Condition
    words: Query


def search(db: Database, person: Person, text: str, span: Span) -> Results:
    """What a question finds among all that a person may see."""
    text, own = _own(text)
    query = parse(text, own)
    sessions, passages, notes = conditions(query.filters)
    if query.tree is not None:
        passages.append(_holding(db, query.tree))
    asked = _Asked(together([visible(db, person), *sessions]), together(passages), query)
    found = _sessions(db, asked, span)
    more = len(found) > span.most
    told = tuple(Found(facts, _hits(db, facts.id, asked)) for facts in found[: span.most])
    return Results(told, cursor(found[span.most - 1].place) if more else "", (*query.notes, *notes))


def _holding(db: Database, tree: Node) -> Condition:
    """Passages that hold the words, as the database at hand is asked for them."""
    return words_sqlite.matching(tree) if db.dialect == "sqlite" else words_postgresql.matching(tree)


def _own(text: str) -> tuple[str, list[Filter]]:
    """A question without the filters that only a hub has, and these."""
    found: list[Filter] = []

    def taken(match: "re.Match[str]") -> str:
        if match[2] is None:
            return match[0]
        found.append(Filter(match[2].lower(), match[3] or match[4] or "", excluded=bool(match[1])))
        return " "

    return _OWN.sub(taken, text), found


def _sessions(db: Database, asked: _Asked, span: Span) -> list[Facts]:
    """The sessions of a page, and one more where there are more."""
    here = together([asked.sessions, *beyond(span.after)])
    if asked.passages.sql == "TRUE":
        return rows(db, here, span.most + 1)
    if db.dialect == "sqlite" and _is_rare(db, asked):
        within = f"session.id IN (SELECT passage.session FROM passage WHERE {asked.passages.sql})"  # noqa: S608
    else:
        within = f"EXISTS (SELECT 1 FROM passage WHERE passage.session = session.id AND {asked.passages.sql})"  # noqa: S608
    return rows(db, together([here, Condition(within, asked.passages.values)]), span.most + 1)


def _is_rare(db: Database, asked: _Asked) -> bool:
    """Whether so few passages hold the words that gathering them is quicker; PostgreSQL knows by itself."""
    found = words_sqlite.probe(asked.words.tree) if asked.words.tree is not None else None
    if found is None:
        return False
    count = db.row(f"SELECT count(*) FROM ({found.sql} LIMIT {_RARE + 1})", *found.values)  # noqa: S608
    return count is not None and count[0] <= _RARE


def _hits(db: Database, session: str, asked: _Asked) -> tuple[Hit, ...]:
    """The best places of a session; where nothing but filters is asked for, there is none to tell of."""
    if asked.passages.sql == "TRUE":
        return ()
    sql = (
        f"SELECT kind, turn, link, body FROM passage WHERE passage.session = ? AND {asked.passages.sql}"  # noqa: S608
        f" ORDER BY {_ORDER} LIMIT {_HITS}"
    )
    sought = patterns(terms(asked.words.tree))
    made = []
    for kind, turn, link, body in db.rows(sql, session, *asked.passages.values):
        text = _APART.sub("", body)
        made.append(Hit(kind, turn, link, snippet(text, marks(text, sought), _CONTEXT)))
    return tuple(made)
