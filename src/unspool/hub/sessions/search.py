"""Full-text search over pushed sessions, on SQLite and PostgreSQL."""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.sessions.listing import (
    ListPage,
    SessionFacts,
    after_cursor,
    filter_conditions,
    page_cursor,
    session_rows,
    visible_to,
)
from unspool.hub.store.database import Database, Row
from unspool.hub.store.schema import quote_word, split_words
from unspool.store.index.conditions import SqlCondition, all_of, one_of
from unspool.store.index.normalize_text import UNSPACED, full_text_match, match_ways, normalize_text
from unspool.store.index.query import And, Filter, Node, Not, Or, Term, parse_query, query_terms
from unspool.store.index.results import Snippet, make_snippet, word_marks, word_patterns

_MANY = 3_000
"""Passages that are gathered at most, as the server expects."""
_NOTHING = quote_word("\x01")
"""A word that no text has."""


def matching_in_postgres(tree: Node) -> SqlCondition:
    """Passages that hold what is asked for."""
    return SqlCondition("passage.words @@ ?::tsquery", (_query(tree),))


def gather_in_postgres(db: Database, tree: Node, passages: SqlCondition) -> SqlCondition | None:
    """Sessions with such passages, gathered first; None where the server expects too many of them for that."""
    found = matching_in_postgres(tree)
    plan = db.row(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM passage WHERE {found.sql}", *found.values)  # noqa: S608
    if plan is None or _expected(plan[0]) > _MANY:
        return None
    inner = f"SELECT DISTINCT passage.session FROM passage WHERE {passages.sql}"  # noqa: S608
    sql = f"session.id IN (WITH found AS MATERIALIZED ({inner}) SELECT found.session FROM found)"  # noqa: S608
    return SqlCondition(sql, passages.values)


def _expected(plan: Any) -> float:
    """How many rows a plan says there are."""
    told = msgspec.json.decode(plan) if isinstance(plan, str | bytes) else plan
    return float(told[0]["Plan"]["Plan Rows"])


def _query(tree: Node) -> str:
    match tree:
        case Term():
            return _term(tree)
        case Not(part):
            return f"!({_query(part)})"
        case And(parts):
            return "(" + " & ".join(map(_query, parts)) + ")"
        case Or(parts):
            return "(" + " | ".join(map(_query, parts)) + ")"


def _term(term: Term) -> str:
    """Any of the routes a word may be written; each a phrase of the words that it is cut into."""
    cut = dict.fromkeys(tuple(split_words(normalize_text(route))) for route in match_ways(term))
    phrases = [_phrase(found, prefix=term.prefix) for found in cut if found]
    return "(" + " | ".join(phrases or [_NOTHING]) + ")"


def _phrase(found: tuple[str, ...], *, prefix: bool) -> str:
    asked = [quote_word(word) for word in found]
    if prefix:
        asked[-1] += ":*"
    return "(" + " <-> ".join(asked) + ")"


_MANY_words_sqlite = 2_000
"""Passages that are gathered at most."""
_AMONG = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"


def gather_in_sqlite(db: Database, tree: Node) -> SqlCondition | None:
    """Sessions of passages that hold what is asked for, gathered first; None where there are too many for that."""
    found = full_text_match(tree)
    if found.excluded:
        return None
    join = "SELECT passage.session FROM words CROSS JOIN passage ON passage.id = words.rowid WHERE words MATCH ?"
    rows = db.rows(f"{join} LIMIT {_MANY_words_sqlite + 1}", found.text)
    return one_of("session.id", sorted({session for (session,) in rows})) if len(rows) <= _MANY_words_sqlite else None


def matching_in_sqlite(db: Database, session: str, tree: Node) -> SqlCondition:
    """Passages of one session that hold what is asked for; they lie together."""
    found = full_text_match(tree)
    first, last = db.row("SELECT min(id), max(id) FROM passage WHERE session = ?", session) or (0, 0)
    sign = "NOT IN" if found.excluded else "IN"
    return SqlCondition(f"passage.id {sign} ({_AMONG})", (found.text, first, last))


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


class HubHit(msgspec.Struct, frozen=True):
    """One place that was found."""

    kind: str
    """title, prompt, answer, thinking, call, result or notice."""
    turn: int
    page: str
    """Page and anchor, below the session's own address."""
    snippet: Snippet


class FoundInHub(msgspec.Struct, frozen=True):
    """A session and its best places."""

    session: SessionFacts
    hits: tuple[HubHit, ...]


class HubResults(msgspec.Struct, frozen=True):
    """Sessions, and what leads to more of them."""

    found: tuple[FoundInHub, ...]
    next: str
    notes: tuple[str, ...] = ()
    """What was mended in the question or left out of it, a sentence each."""


class _Asked(NamedTuple):
    """What is asked of sessions, what of passages besides words, and the words."""

    sessions: SqlCondition
    passages: list[SqlCondition]
    tree: Node | None


def search(db: Database, person: Person, text: str, span: ListPage) -> HubResults:
    """What a question finds among all that a person may see."""
    text, own = _own(text)
    query = parse_query(text, own)
    sessions, passages, notes = filter_conditions(db, query.filters)
    asked = _Asked(all_of([visible_to(db, person), *sessions]), passages, query.tree)
    found = _sessions(db, asked, span)
    more = len(found) > span.most
    told = tuple(FoundInHub(facts, _hits(db, facts.id, asked)) for facts in found[: span.most])
    return HubResults(told, page_cursor(found[span.most - 1].place) if more else "", (*query.notes, *notes))


def _own(text: str) -> tuple[str, list[Filter]]:
    """A question without the filters that only a hub has, and these."""
    found: list[Filter] = []

    def taken(match: "re.Match[str]") -> str:
        if match[2] is None:
            return match[0]
        found.append(Filter(match[2].lower(), match[3] or match[4] or "", excluded=bool(match[1])))
        return " "

    return _OWN.sub(taken, text), found


def _sessions(db: Database, asked: _Asked, span: ListPage) -> list[SessionFacts]:
    """The sessions of a page, and one more where there are more.

    Where few passages hold the words, their sessions are gathered; else sessions are walked through, the newest first,
    until there are enough: either route is slow where the other is quick.
    """
    here = [asked.sessions, *after_cursor(span.after)]
    if asked.tree is None and not asked.passages:
        return session_rows(db, all_of(here), span.most + 1)
    if db.dialect == "sqlite" and asked.tree is not None:
        found = gather_in_sqlite(db, asked.tree)
        narrowed = asked._replace(sessions=all_of([asked.sessions, found])) if found is not None else asked
        return list(islice(_walked(db, narrowed, span.after), span.most + 1))
    return session_rows(db, all_of([*here, _held(db, asked)]), span.most + 1)


def _held(db: Database, asked: _Asked) -> SqlCondition:
    """Sessions that have such passages."""
    words = [] if asked.tree is None else [matching_in_postgres(asked.tree)]
    held = all_of([*asked.passages, *words])
    found = gather_in_postgres(db, asked.tree, held) if asked.tree is not None else None
    exists = f"EXISTS (SELECT 1 FROM passage WHERE passage.session = session.id AND {held.sql})"  # noqa: S608
    return found or SqlCondition(exists, held.values)


def _walked(db: Database, asked: _Asked, after: tuple[int, str] | None) -> Iterator[SessionFacts]:
    """Sessions that hold what is asked for, the newest first, each looked into by itself, as SQLite does not."""
    until = time.monotonic() + _LONGEST
    while batch := session_rows(db, all_of([asked.sessions, *after_cursor(after)]), _BATCH):
        if time.monotonic() > until:
            raise BadRequest("This takes too long to find; narrow it down, as with project: or since:.")
        yield from (facts for facts in batch if _places(db, facts.id, asked, "1", "LIMIT 1"))
        after = batch[-1].place


def _inside(db: Database, session: str, tree: Node) -> SqlCondition:
    return matching_in_sqlite(db, session, tree) if db.dialect == "sqlite" else matching_in_postgres(tree)


def _hits(db: Database, session: str, asked: _Asked) -> tuple[HubHit, ...]:
    """The best places of a session; where nothing but filters of sessions is asked for, there is none to tell of."""
    if asked.tree is None and not asked.passages:
        return ()
    sought = word_patterns(query_terms(asked.tree))
    found = _places(db, session, asked, "kind, turn, link, body", f"ORDER BY {_ORDER} LIMIT {_HITS}")
    return tuple(_hit(row, sought) for row in found)


def _places(db: Database, session: str, asked: _Asked, columns: str, rest: str) -> list[Row]:
    """Columns of the passages of a session that are asked for; `rest` says in which order and how many."""
    where = all_of([*asked.passages, *([_inside(db, session, asked.tree)] if asked.tree is not None else [])])
    sql = f"SELECT {columns} FROM passage WHERE passage.session = ? AND {where.sql} {rest}"  # noqa: S608
    return db.rows(sql, session, *where.values)


def _hit(row: Row, sought: "Sequence[re.Pattern[str]]") -> HubHit:
    kind, turn, link, body = row
    text = _APART.sub("", body)
    return HubHit(kind, turn, link, make_snippet(text, word_marks(text, sought), _CONTEXT))
