"""Search in all pushed sessions that a person may see: the last active first, each with its best places.

Filters are of sessions (project, person, model, branch, session, since, until, cost, kinds of sessions) and of passages
(role, kinds of passages); words of one place must all stand in one passage, as on one's own machine. How many there are
in all is not counted: a page of results says what leads to the next.
"""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from unspool.hub.people.person import Person
from unspool.hub.sessions import words_postgresql, words_sqlite
from unspool.hub.sessions.asking import Condition, Span, beyond, conditions, cursor, together, visible
from unspool.hub.sessions.facts import Facts
from unspool.hub.sessions.listing import rows
from unspool.hub.store.database import Database, Row
from unspool.hub.trouble import Unfit
from unspool.index.fold import UNSPACED
from unspool.index.query import Filter, Node, parse, terms
from unspool.index.results import Snippet
from unspool.index.snippet import marks, patterns, snippet

_HITS = 3
_CONTEXT = 160
_LONGEST = 10.0
"""Seconds that are looked through for one question."""
_BATCH = 100
"""Sessions that are looked at before more are asked for."""
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
    """What is asked of sessions, what of passages besides words, and the words."""

    sessions: Condition
    passages: list[Condition]
    tree: Node | None


def search(db: Database, person: Person, text: str, span: Span) -> Results:
    """What a question finds among all that a person may see."""
    text, own = _own(text)
    query = parse(text, own)
    sessions, passages, notes = conditions(db, query.filters)
    asked = _Asked(together([visible(db, person), *sessions]), passages, query.tree)
    found = _sessions(db, asked, span)
    more = len(found) > span.most
    told = tuple(Found(facts, _hits(db, facts.id, asked)) for facts in found[: span.most])
    return Results(told, cursor(found[span.most - 1].place) if more else "", (*query.notes, *notes))


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
    """The sessions of a page, and one more where there are more.

    Where few passages hold the words, their sessions are gathered; else sessions are walked through, the newest first,
    until there are enough: either way is slow where the other is quick.
    """
    here = [asked.sessions, *beyond(span.after)]
    if asked.tree is None and not asked.passages:
        return rows(db, together(here), span.most + 1)
    if db.dialect == "sqlite" and asked.tree is not None:
        found = words_sqlite.gathered(db, asked.tree)
        narrowed = asked._replace(sessions=together([asked.sessions, found])) if found is not None else asked
        return list(islice(_walked(db, narrowed, span.after), span.most + 1))
    return rows(db, together([*here, _held(db, asked)]), span.most + 1)


def _held(db: Database, asked: _Asked) -> Condition:
    """Sessions that have such passages."""
    words = [] if asked.tree is None else [words_postgresql.holding(asked.tree)]
    held = together([*asked.passages, *words])
    found = words_postgresql.gathered(db, asked.tree, held) if asked.tree is not None else None
    exists = f"EXISTS (SELECT 1 FROM passage WHERE passage.session = session.id AND {held.sql})"  # noqa: S608
    return found or Condition(exists, held.values)


def _walked(db: Database, asked: _Asked, after: tuple[int, str] | None) -> Iterator[Facts]:
    """Sessions that hold what is asked for, the newest first, each looked into by itself, as SQLite does not."""
    until = time.monotonic() + _LONGEST
    while batch := rows(db, together([asked.sessions, *beyond(after)]), _BATCH):
        if time.monotonic() > until:
            raise Unfit("This takes too long to find; narrow it down, as with project: or since:.")
        yield from (facts for facts in batch if _places(db, facts.id, asked, "1", "LIMIT 1"))
        after = batch[-1].place


def _inside(db: Database, session: str, tree: Node) -> Condition:
    return words_sqlite.inside(db, session, tree) if db.dialect == "sqlite" else words_postgresql.holding(tree)


def _hits(db: Database, session: str, asked: _Asked) -> tuple[Hit, ...]:
    """The best places of a session; where nothing but filters of sessions is asked for, there is none to tell of."""
    if asked.tree is None and not asked.passages:
        return ()
    sought = patterns(terms(asked.tree))
    found = _places(db, session, asked, "kind, turn, link, body", f"ORDER BY {_ORDER} LIMIT {_HITS}")
    return tuple(_hit(row, sought) for row in found)


def _places(db: Database, session: str, asked: _Asked, columns: str, rest: str) -> list[Row]:
    """Columns of the passages of a session that are asked for; `rest` says in which order and how many."""
    where = together([*asked.passages, *([_inside(db, session, asked.tree)] if asked.tree is not None else [])])
    sql = f"SELECT {columns} FROM passage WHERE passage.session = ? AND {where.sql} {rest}"  # noqa: S608
    return db.rows(sql, session, *where.values)


def _hit(row: Row, sought: "Sequence[re.Pattern[str]]") -> Hit:
    kind, turn, link, body = row
    text = _APART.sub("", body)
    return Hit(kind, turn, link, snippet(text, marks(text, sought), _CONTEXT))
