"""Full-text search over pushed sessions, on SQLite and PostgreSQL.

The database knows which parts of texts may hold what is asked for: it has their words and not where they stand. Those
parts are read from the object store, where each passage is proved, and what is shown of it is taken from there.
"""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache, partial
from itertools import islice
from typing import NamedTuple

import msgspec

from unspool.errors import NotFound
from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.sessions import listing
from unspool.hub.sessions.listing import ListPage, SessionFacts, session_rows
from unspool.hub.store.blobs import Objects
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database
from unspool.hub.store.schema import quote_word, split_words
from unspool.hub.store.texts import (
    RANKED,
    PartPlace,
    SessionPassage,
    is_kept_word,
    kind_rank,
    kinds_mask,
    read_parts,
)
from unspool.store.index.conditions import SqlCondition, all_of, one_of
from unspool.store.index.normalize_text import UNSPACED, match_ways, normalize_text
from unspool.store.index.query import And, Filter, Node, Not, Or, Term, parse_query, query_terms
from unspool.store.index.results import Snippet, make_snippet, word_marks, word_patterns

_PARTS = (
    "session_text JOIN text_part ON text_part.session = session_text.session AND text_part.month = session_text.month"
)
_NOTHING = "\x01"
"""A word that no text has."""


class _Signs(NamedTuple):
    """How a database's full text says things."""

    both: str
    either: str
    begins: str


_SIGNS = {"postgresql": _Signs(" & ", " | ", ":*"), "sqlite": _Signs(" AND ", " OR ", " *")}


def _necessary(tree: Node, dialect: str) -> str | None:
    """What a part must hold for a passage of it to be what is asked for, as full text says it; None for nothing.

    Of a phrase that is its words; what must not be there in a passage may well be in another one of the part.
    """
    signs = _SIGNS[dialect]
    match tree:
        case Term():
            ways = [_all_words(words, prefix=tree.prefix, dialect=dialect) for words in _ways(tree)]
            return None if None in ways else f"({signs.either.join(filter(None, ways))})"
        case Not():
            return None
        case And(parts):
            found = [one for one in (_necessary(part, dialect) for part in parts) if one is not None]
            return f"({signs.both.join(found)})" if found else None
        case Or(parts):
            either = [_necessary(part, dialect) for part in parts]
            return None if None in either else f"({signs.either.join(filter(None, either))})"


@lru_cache(1000)
def _ways(term: Term) -> tuple[tuple[str, ...], ...]:
    """The ways a word or phrase may be written, each as the words that it is cut into."""
    cut = dict.fromkeys(tuple(split_words(normalize_text(way))) for way in match_ways(term))
    return tuple(words for words in cut if words) or ((_NOTHING,),)


def _all_words(words: tuple[str, ...], *, prefix: bool, dialect: str) -> str | None:
    signs = _SIGNS[dialect]
    last = len(words) - 1
    quoted = [
        _quoted(word, dialect) + (signs.begins if prefix and at == last else "")
        for at, word in enumerate(words)
        if is_kept_word(word)
    ]
    return f"({signs.both.join(quoted)})" if quoted else None


def _quoted(word: str, dialect: str) -> str:
    return quote_word(word) if dialect == "postgresql" else f'"{word}"'


class _Wanted(NamedTuple):
    """What is asked of a passage, in the order of questions that are the quickest to answer."""

    kinds: frozenset[str] | None
    copied: frozenset[int]
    """Lines of turns that are found in another session."""
    tree: Node | None

    def holds(self, passage: SessionPassage) -> bool:
        if (self.kinds is not None and passage.kind not in self.kinds) or passage.line in self.copied:
            return False
        return self.tree is None or _is_in(self.tree, f" {' '.join(split_words(passage.body))} ")


def _is_in(tree: Node, words: str) -> bool:
    """Whether words, with a space before and after each, are as a question wants them."""
    match tree:
        case Term():
            end = "" if tree.prefix else " "
            return any(f" {' '.join(way)}{end}" in words for way in _ways(tree))
        case Not(part):
            return not _is_in(part, words)
        case And(parts):
            return all(_is_in(part, words) for part in parts)
        case Or(parts):
            return any(_is_in(part, words) for part in parts)


_MANY = {"postgresql": 3_000, "sqlite": 2_000}
"""Parts that are gathered at most; on a server as it expects."""


def _parts_condition(question: "_Question", dialect: str) -> SqlCondition:
    """What a part must be for a passage of it to be what is asked for; of SQLite, but for the words."""
    conditions = []
    if question.kinds is not None:
        conditions.append(SqlCondition("(text_part.kinds & ?) <> 0", (kinds_mask(question.kinds),)))
    words = question.necessary(dialect)
    if words is not None and dialect == "postgresql":
        conditions.append(SqlCondition("text_part.words @@ ?::tsquery", (words,)))
    return all_of(conditions)


def _gathered(db: Database, question: "_Question") -> SqlCondition | None:
    """Sessions with parts that may hold what is asked for, gathered first; None where there are too many for that."""
    words = question.necessary(db.dialect)
    most = _MANY[db.dialect]
    if words is None:
        return None
    if db.dialect == "sqlite":
        join = "FROM words_of_part CROSS JOIN text_part ON text_part.id = words_of_part.rowid"
        rows = db.rows(f"SELECT text_part.session {join} WHERE words_of_part MATCH ? LIMIT {most + 1}", words)
    else:
        found = "text_part WHERE text_part.words @@ ?::tsquery"
        plan = db.row(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {found}", words)  # noqa: S608
        explained = msgspec.json.decode(plan[0]) if plan and isinstance(plan[0], str | bytes) else plan and plan[0]
        if not explained or float(explained[0]["Plan"]["Plan Rows"]) > most:
            return None
        with db.transaction():
            db.run("SET LOCAL enable_seqscan = off")  # a server thinks too little of what unpacking words takes
            rows = db.rows(f"SELECT text_part.session FROM {found} LIMIT {most + 1}", words)  # noqa: S608
    return one_of("session.id", sorted({session for (session,) in rows})) if len(rows) <= most else None


def _walked(db: Database, question: "_Question") -> SqlCondition:
    """Sessions with such parts, looked into one by one; in a file each that comes is looked into later."""
    if db.dialect == "sqlite":
        return SqlCondition()
    held = _parts_condition(question, db.dialect)
    # OFFSET has a server look into sessions in their order, and not make a table of all parts first
    sql = f"EXISTS (SELECT 1 FROM {_PARTS} WHERE session_text.session = session.id AND {held.sql} OFFSET 0)"  # noqa: S608
    return SqlCondition(sql, held.values)


class _Texts(NamedTuple):
    """The parts of a session that may hold what is asked for, and the object that they lie in."""

    key: str
    parts: list[PartPlace]


def _texts(db: Database, sessions: list[str], question: "_Question") -> dict[str, _Texts]:
    held, words, these = _parts_condition(question, db.dialect), question.necessary(db.dialect), "session_text.session"
    columns = f"{these}, blob.key, text_part.number, text_part.place, text_part.size, text_part.kinds"
    among = one_of(these, sessions)
    if db.dialect == "sqlite":
        rows = []
        sql = f"SELECT {columns} FROM {_PARTS} JOIN blob ON blob.digest = session_text.digest WHERE {held.sql}"  # noqa: S608
        for session in sessions:  # those of a session lie together
            first, last = db.row("SELECT min(id), max(id) FROM text_part WHERE session = ?", session) or (0, 0)
            found = "SELECT rowid FROM words_of_part WHERE words_of_part MATCH ? AND rowid BETWEEN ? AND ?"
            which = f" AND text_part.id IN ({found})" if words is not None else ""
            values = (words, first, last) if words is not None else ()
            rows += db.rows(f"{sql} AND {these} = ?{which}", *held.values, session, *values)
    else:
        inner = (
            f"SELECT * FROM text_part WHERE session = {these} AND month = session_text.month AND {held.sql} OFFSET 0"  # noqa: S608
        )
        sql = f"SELECT {columns} FROM session_text JOIN blob ON blob.digest = session_text.digest"  # noqa: S608
        sql += f" CROSS JOIN LATERAL ({inner}) AS text_part WHERE {among.sql}"
        rows = db.rows(sql, *held.values, *among.values)
    by_session: dict[str, _Texts] = {}
    for session, key, *part in rows:
        by_session.setdefault(session, _Texts(key, [])).parts.append(PartPlace(*part))
    return by_session


_HITS = 3
_CONTEXT = 160
_LONGEST = 10.0
"""Seconds that are looked through for one question."""
_BATCH = 200
"""Sessions that are looked at, at most, before more are asked for."""
_READERS = 8
"""Sessions whose texts are read at the same time, of all questions of a process."""
_TOGETHER = 8
"""Parts of a session that are read in one go where the first did not suffice."""
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
    """What is asked of sessions, and of passages: their kinds and their words."""

    person: Person
    sessions: SqlCondition
    kinds: frozenset[str] | None
    tree: Node | None
    once: bool
    """Whether history is found once: not where a session is named, which may have copied it."""

    def necessary(self, dialect: str) -> str | None:
        return None if self.tree is None else _necessary(self.tree, dialect)


def search(store: Store, person: Person, text: str, span: ListPage) -> HubResults:
    db = store.db
    text, own = _own(text)
    query = parse_query(text, own)
    asked = listing.filter_conditions(db, query.filters)
    named = any(one.name == "session" and not one.excluded for one in query.filters)
    seen = all_of([listing.visible_to(db, person), *asked.sessions])
    question = _Question(person, seen, asked.kinds, query.tree, once=not named)
    if question.tree is None and question.kinds is None:
        here = all_of([question.sessions, *listing.after_cursor(span.after)])
        found = [FoundInHub(facts, ()) for facts in session_rows(db, here, span.most + 1)]
    else:
        found = list(islice(_proved(store, question, span), span.most + 1))
    page = listing.with_own_figures(db, person, [one.session for one in found[: span.most]])
    results = tuple(FoundInHub(facts, one.hits) for facts, one in zip(page, found, strict=False))
    last = listing.page_cursor(found[span.most - 1].session.place) if len(found) > span.most else ""
    return HubResults(results, last, (*query.notes, *asked.notes))


def _own(text: str) -> tuple[str, list[Filter]]:
    """A question without the filters that only a hub has, and these."""
    found: list[Filter] = []

    def taken(match: "re.Match[str]") -> str:
        if match[2] is None:
            return match[0]
        found.append(Filter(match[2].lower(), match[3] or match[4] or "", excluded=bool(match[1])))
        return " "

    return _OWN.sub(taken, text), found


def _proved(store: Store, question: _Question, span: ListPage) -> Iterator[FoundInHub]:
    """Sessions that hold what is asked for, the newest first, each with its best places.

    Where few parts hold the words, their sessions are gathered; else sessions are walked through until there are
    enough: either route is slow where the other is quick.
    """
    until, after, most = time.monotonic() + _LONGEST, span.after, span.most + 1
    which = all_of([question.sessions, _gathered(store.db, question) or _walked(store.db, question)])
    while batch := session_rows(store.db, all_of([which, *listing.after_cursor(after)]), most):
        _check_time(until)
        ids = [facts.id for facts in batch]
        texts = _texts(store.db, ids, question)
        copied = listing.copied_lines(store.db, question.person, [*texts]) if question.once and texts else {}

        wanted = [_Wanted(question.kinds, copied.get(id_, frozenset()), question.tree) for id_ in ids]
        best = _readers().map(partial(_best, store.objects, until), map(texts.get, ids), wanted)
        for facts, asked, found in zip(batch, wanted, best, strict=True):
            hits = found
            if hits is None:  # it was pushed anew just now
                hits = _best(store.objects, until, _texts(store.db, [facts.id], question).get(facts.id), asked)
            if hits:
                yield FoundInHub(facts, hits)
        after, most = batch[-1].place, min(_BATCH, 2 * most)


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise BadRequest("This takes too long to find; narrow it down, as with project: or since:.")


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_READERS, "search")


def _best(objects: Objects, until: float, texts: _Texts | None, wanted: _Wanted) -> tuple[HubHit, ...] | None:
    """The best places of a session: by their kinds, of a kind the last first. None where its texts are gone."""
    try:
        found = list(islice(_matches(objects, until, texts, wanted), _HITS)) if texts else []
    except NotFound:
        return None
    sought = word_patterns(query_terms(wanted.tree))
    hits = []
    for passage in found:
        text = _APART.sub("", passage.body)
        snippet = make_snippet(text, word_marks(text, sought), _CONTEXT)
        hits.append(HubHit(passage.kind, passage.turn, passage.link, snippet))
    return tuple(hits)


def _matches(objects: Objects, until: float, texts: _Texts, wanted: _Wanted) -> Iterator[SessionPassage]:
    known: dict[int, list[SessionPassage]] = {}
    for rank in range(len(RANKED)):
        parts = sorted((part for part in texts.parts if part.kinds >> rank & 1), reverse=True)
        for at, part in enumerate(parts):
            if part.number not in known:
                _check_time(until)
                some = parts[at : at + (_TOGETHER if known else 1)]
                read = read_parts(objects, texts.key, [one for one in some if one.number not in known])
                known.update((number, [one for one in all_ if wanted.holds(one)]) for number, all_ in read.items())
            yield from (one for one in reversed(known[part.number]) if kind_rank(one.kind) == rank)
