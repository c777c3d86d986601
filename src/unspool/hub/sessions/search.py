"""Full-text search over pushed sessions, on SQLite and PostgreSQL."""

import re
import time
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.sessions import listing
from unspool.hub.sessions.listing import ListPage, SessionFacts, session_rows
from unspool.hub.store.database import Database, Row
from unspool.hub.store.schema import quote_word, split_words
from unspool.store.index.conditions import SqlCondition, all_of, one_of
from unspool.store.index.normalize_text import UNSPACED, full_text_match, match_ways, normalize_text
from unspool.store.index.query import And, Filter, Node, Not, Or, Term, parse_query, query_terms
from unspool.store.index.results import Snippet, make_snippet, word_marks, word_patterns

_MANY = 3_000
"""Passages that are gathered at most, as the server expects."""
_PASSAGES = "passage JOIN session AS mine ON mine.id = passage.session"
_NOTHING = quote_word("\x01")
"""A word that no text has."""


def matching_in_postgres(tree: Node) -> SqlCondition:
    return SqlCondition("passage.words @@ ?::tsquery", (_query(tree),))


def gather_in_postgres(db: Database, tree: Node, passages: SqlCondition) -> SqlCondition | None:
    """Sessions with such passages, gathered first; None where the server expects too many of them for that."""
    found = matching_in_postgres(tree)
    plan = db.row(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM passage WHERE {found.sql}", *found.values)  # noqa: S608
    if plan is None:
        return None
    explained = msgspec.json.decode(plan[0]) if isinstance(plan[0], str | bytes) else plan[0]
    if float(explained[0]["Plan"]["Plan Rows"]) > _MANY:
        return None
    inner = f"SELECT DISTINCT passage.session FROM {_PASSAGES} WHERE {passages.sql}"  # noqa: S608
    sql = f"session.id IN (WITH found AS MATERIALIZED ({inner}) SELECT found.session FROM found)"  # noqa: S608
    return SqlCondition(sql, passages.values)


def _query(tree: Node) -> str:
    match tree:
        case Term():  # any of the ways a word may be written, each a phrase of the words that it is cut into
            cut = dict.fromkeys(tuple(split_words(normalize_text(way))) for way in match_ways(tree))
            end = ":*)" if tree.prefix else ")"
            phrases = ["(" + " <-> ".join(map(quote_word, words)) + end for words in cut if words]
            return "(" + " | ".join(phrases or [_NOTHING]) + ")"
        case Not(part):
            return f"!({_query(part)})"
        case And(parts):
            return "(" + " & ".join(map(_query, parts)) + ")"
        case Or(parts):
            return "(" + " | ".join(map(_query, parts)) + ")"


_MANY_IN_SQLITE = 2_000
"""Passages that are gathered at most."""
_AMONG = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"


def gather_in_sqlite(db: Database, tree: Node) -> SqlCondition | None:
    """Sessions of passages that hold what is asked for, gathered first; None where there are too many for that."""
    found = full_text_match(tree)
    if found.excluded:
        return None
    join = "SELECT passage.session FROM words CROSS JOIN passage ON passage.id = words.rowid WHERE words MATCH ?"
    rows = db.rows(f"{join} LIMIT {_MANY_IN_SQLITE + 1}", found.text)
    return one_of("session.id", sorted({session for (session,) in rows})) if len(rows) <= _MANY_IN_SQLITE else None


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
    kind: str
    """title, prompt, answer, thinking, call, result or notice."""
    turn: int
    page: str
    """Page and anchor, below the session's own address."""
    snippet: Snippet


class FoundInHub(msgspec.Struct, frozen=True):
    session: SessionFacts
    hits: tuple[HubHit, ...]


class HubResults(msgspec.Struct, frozen=True):
    found: tuple[FoundInHub, ...]
    next: str
    notes: tuple[str, ...] = ()
    """What was mended in the question or left out of it, a sentence each."""


class _Question(NamedTuple):
    """What is asked of sessions, what of passages besides words, and the words."""

    sessions: SqlCondition
    passages: list[SqlCondition]
    tree: Node | None
    here: SqlCondition
    """Which passages are found where they stand: history is found once, unless the session that copied it is named."""


def search(db: Database, person: Person, text: str, span: ListPage) -> HubResults:
    text, own = _own(text)
    query = parse_query(text, own)
    sessions, passages, notes = listing.filter_conditions(db, query.filters)
    named = any(one.name == "session" and not one.excluded for one in query.filters)
    here = SqlCondition() if named else listing.found_here(db, person)
    question = _Question(all_of([listing.visible_to(db, person), *sessions]), passages, query.tree, here)
    found = _sessions(db, question, span)
    more = len(found) > span.most
    page = listing.with_own_figures(db, person, found[: span.most])
    results = tuple(FoundInHub(facts, _hits(db, facts.id, question)) for facts in page)
    return HubResults(results, listing.page_cursor(found[span.most - 1].place) if more else "", (*query.notes, *notes))


def _own(text: str) -> tuple[str, list[Filter]]:
    """A question without the filters that only a hub has, and these."""
    found: list[Filter] = []

    def taken(match: "re.Match[str]") -> str:
        if match[2] is None:
            return match[0]
        found.append(Filter(match[2].lower(), match[3] or match[4] or "", excluded=bool(match[1])))
        return " "

    return _OWN.sub(taken, text), found


def _sessions(db: Database, question: _Question, span: ListPage) -> list[SessionFacts]:
    """The sessions of a page, and one more where there are more.

    Where few passages hold the words, their sessions are gathered; else sessions are walked through, the newest first,
    until there are enough: either route is slow where the other is quick.
    """
    here = [question.sessions, *listing.after_cursor(span.after)]
    if question.tree is None and not question.passages:
        return session_rows(db, all_of(here), span.most + 1)
    if db.dialect == "sqlite" and question.tree is not None:
        found = gather_in_sqlite(db, question.tree)
        narrowed = question._replace(sessions=all_of([question.sessions, found])) if found is not None else question
        return list(islice(_walked(db, narrowed, span.after), span.most + 1))
    words = [] if question.tree is None else [matching_in_postgres(question.tree)]
    held = all_of([*question.passages, *words, question.here])
    found = gather_in_postgres(db, question.tree, held) if question.tree is not None else None
    exists = f"EXISTS (SELECT 1 FROM {_PASSAGES} WHERE passage.session = session.id AND {held.sql})"  # noqa: S608
    return session_rows(db, all_of([*here, found or SqlCondition(exists, held.values)]), span.most + 1)


def _walked(db: Database, question: _Question, after: tuple[int, str] | None) -> Iterator[SessionFacts]:
    """Sessions that hold what is asked for, the newest first, each looked into by itself, as SQLite does not."""
    until = time.monotonic() + _LONGEST
    while batch := session_rows(db, all_of([question.sessions, *listing.after_cursor(after)]), _BATCH):
        if time.monotonic() > until:
            raise BadRequest("This takes too long to find; narrow it down, as with project: or since:.")
        yield from (facts for facts in batch if _places(db, facts.id, question, "1", "LIMIT 1"))
        after = batch[-1].place


def _hits(db: Database, session: str, question: _Question) -> tuple[HubHit, ...]:
    """The best places of a session; where nothing but filters of sessions is asked for, there is none to tell of."""
    if question.tree is None and not question.passages:
        return ()
    sought = word_patterns(query_terms(question.tree))
    columns = "passage.kind, passage.turn, passage.link, passage.body"
    found = _places(db, session, question, columns, f"ORDER BY {_ORDER} LIMIT {_HITS}")
    hits = []
    for kind, turn, link, body in found:
        text = _APART.sub("", body)
        hits.append(HubHit(kind, turn, link, make_snippet(text, word_marks(text, sought), _CONTEXT)))
    return tuple(hits)


def _places(db: Database, session: str, question: _Question, columns: str, rest: str) -> list[Row]:
    """Columns of the passages of a session that are asked for; `rest` says in which order and how many."""
    conditions = [*question.passages, question.here]
    if question.tree is not None:
        sqlite = db.dialect == "sqlite"
        conditions.append(
            matching_in_sqlite(db, session, question.tree) if sqlite else matching_in_postgres(question.tree)
        )
    where = all_of(conditions)
    sql = f"SELECT {columns} FROM {_PASSAGES} WHERE passage.session = ? AND {where.sql} {rest}"  # noqa: S608
    return db.rows(sql, session, *where.values)
