"""Full-text search over pushed sessions, on SQLite and PostgreSQL.

The database knows which parts of texts may hold what is asked for, and of these which passages: it has numbers of their
words and a signature. What may be meant is read from the object store, where each passage is proved, and what is shown
of it is taken from there.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

import msgspec

from unspool.errors import NotFound
from unspool.hub.errors import BadRequest
from unspool.hub.people.users import Person
from unspool.hub.sessions import listing
from unspool.hub.sessions.listing import ListPage, SessionFacts, session_rows
from unspool.hub.sessions.matching import (
    PassageQuestion,
    array_condition,
    full_text,
    full_text_in_projects,
    in_projects,
)
from unspool.hub.store.blobs import Objects
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database
from unspool.hub.store.signature import PartSignature
from unspool.hub.store.texts import RANKED, PartPlace, SessionPassage, read_parts
from unspool.store.index.conditions import SqlCondition, all_of, among, one_of
from unspool.store.index.normalize_text import UNSPACED
from unspool.store.index.query import Filter, parse_query, query_terms
from unspool.store.index.results import Snippet, make_snippet, word_marks, word_patterns

_HITS = 3
_CONTEXT = 160
_LONGEST = 10.0
"""Seconds that are looked through for one question."""
_FEW, _MANY = 2_000, 50_000
"""Parts that are gathered at most: at once, and where walking through sessions found little."""
_WALKED = 300
"""Sessions that are walked through before that."""
_BATCH = 1_000
"""Sessions whose signatures are looked at, at most, in one go."""
_READERS = 8
"""Sessions whose texts are read at the same time, of all questions of a process."""
_READ = 24
"""Sessions that are read before it is known whether more are needed."""
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
    person: Person
    sessions: SqlCondition
    passages: PassageQuestion
    once: bool
    """Whether history is found once: not where a session is named, which may have copied it."""


def search(store: Store, person: Person, text: str, span: ListPage) -> HubResults:
    db = store.db
    text, own = _own(text)
    query = parse_query(text, own)
    asked = listing.filter_conditions(db, query.filters)
    named = any(one.name == "session" and not one.excluded for one in query.filters)
    seen = all_of([listing.visible_to(db, person), *asked.sessions])
    question = _Question(person, seen, PassageQuestion(asked.kinds, query.tree), once=not named)
    if query.tree is None and asked.kinds is None:
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


class _Place(NamedTuple):
    """A session that may hold what is asked for, in the order of lists."""

    finished: int
    session: str
    year: int
    numbers: tuple[int, ...] = ()
    """The parts that may hold it; none where any may."""


def _proved(store: Store, question: _Question, span: ListPage) -> Iterator[FoundInHub]:
    """Sessions that hold what is asked for, the newest first, each with its best places.

    Where few parts have the words, all of them are gathered; else sessions are walked through until there are enough.
    Where that finds little, what is left is gathered after all: either route is slow where the other is quick.
    """
    until, after, most = time.monotonic() + _LONGEST, span.after, span.most + 1
    found = walked = 0
    rest = _gathered(store.db, question, after, _FEW)
    while rest is None:
        batch = _newest(store.db, question, after, most)
        for one in _found_among(store, question, batch, until):
            found += 1
            yield one
        if len(batch) < most:
            return
        before, walked, after, most = walked, walked + most, batch[-1][:2], min(_BATCH, 2 * most)
        if before < _WALKED <= walked and 2 * found < span.most:
            rest = _gathered(store.db, question, after, _MANY)
    begin, most = 0, span.most + 1
    while begin < len(rest):
        yield from _found_among(store, question, rest[begin : begin + most], until)
        begin, most = begin + most, min(_BATCH, 2 * most)


def _newest(db: Database, question: _Question, after: tuple[int, str] | None, most: int) -> list[_Place]:
    """The newest sessions, whatever they hold."""
    which = all_of([question.sessions, *listing.after_cursor(after)])
    sql = (
        "SELECT session.finished, session.id, session_text.year"  # noqa: S608  values are bound
        f" FROM session JOIN session_text ON session_text.session = session.id WHERE {which.sql}"
        f" ORDER BY session.finished DESC, session.id DESC LIMIT {most:d}"
    )
    return [_Place(*row) for row in db.rows(sql, *which.values)]


def _gathered(db: Database, question: _Question, after: tuple[int, str] | None, most: int) -> list[_Place] | None:
    """All sessions with parts that may hold what is asked for, the newest first; None where there are too many."""
    parts = _parts_with_words(db, question, most)
    if parts is None:
        return None
    most = _MANY if db.dialect == "postgresql" else most  # which expected fewer; what has begun is not thrown away
    which = all_of([question.sessions, *listing.after_cursor(after)])
    sql = (
        f"WITH part AS MATERIALIZED ({parts.sql} LIMIT {most + 1:d})"  # noqa: S608
        " SELECT counted.many, found.* FROM (SELECT count(*) AS many FROM part) AS counted LEFT JOIN"
        " (SELECT session.finished, session.id, part.year, part.number FROM part"
        f" JOIN session ON session.id = part.session WHERE {which.sql}) AS found ON TRUE"
    )
    with db.transaction():
        if db.dialect == "postgresql":
            db.run("SET LOCAL enable_seqscan = off")  # a server thinks too little of what unpacking words takes
        rows = db.rows(sql, *parts.values, *which.values)
    if rows[0][0] > most:
        return None
    places: dict[tuple[int, str, int], list[int]] = {}
    for _, finished, session, year, number in rows:
        if session is not None:
            places.setdefault((finished, session, year), []).append(number)
    return [_Place(*place, tuple(places[place])) for place in sorted(places, reverse=True)]


def _parts_with_words(db: Database, question: _Question, most: int) -> SqlCondition | None:
    """A statement for the parts with the words of a question; None where it has none, or a server expects too many."""
    tree = question.passages.tree
    if tree is None:
        return None
    projects, columns = listing.visible_projects(db, question.person), "SELECT session, year, number FROM"
    if db.dialect == "sqlite":
        words = full_text(tree)
        words = full_text_in_projects(words, projects) if words and projects else words
        join = "words_of_part CROSS JOIN text_part ON text_part.id = words_of_part.rowid WHERE words_of_part MATCH ?"
        return SqlCondition(f"{columns} {join}", (words,)) if words else None
    condition = array_condition(tree)
    if condition is None:
        return None
    condition = in_projects(condition, projects) if projects else condition
    found = SqlCondition(f"{columns} text_part WHERE {condition.sql}", condition.values)
    plan = db.row(f"EXPLAIN (FORMAT JSON) {found.sql}", *found.values)
    explained = msgspec.json.decode(plan[0]) if plan and isinstance(plan[0], str | bytes) else plan and plan[0]
    return found if explained and float(explained[0]["Plan"]["Plan Rows"]) <= most else None


def _found_among(store: Store, question: _Question, places: Sequence[_Place], until: float) -> Iterator[FoundInHub]:
    """Those of some sessions that hold what is asked for, in their order."""
    ids, begin, most = _screened(store.db, question, places), 0, _READ
    while begin < len(ids):
        _check_time(until)
        read = _best_places(store, question.passages, ids[begin : begin + most], until)
        begin, most = begin + most, most if read else 2 * most
        copied = listing.copied_lines(store.db, question.person, [*read]) if question.once and read else {}
        if copied:  # which is rare: without what is found elsewhere, others may be the best
            read |= _best_places(store, question.passages, [*copied], until, copied)
        told = session_rows(store.db, _any_of(store.db, "session.id", [*read]), len(read)) if read else []
        yield from (FoundInHub(facts, read[facts.id]) for facts in told if read[facts.id])


def _best_places(
    store: Store,
    asked: PassageQuestion,
    sessions: Sequence[str],
    until: float,
    copied: Mapping[str, frozenset[int]] = {},
) -> dict[str, tuple[HubHit, ...]]:
    """The best places of sessions, but for turns with copied lines; of those that were found to have any, or asked
    about once more."""
    texts = _texts(store.db, sessions, asked)
    wanted = [_Wanted(asked, copied.get(session, frozenset())) for session in sessions]
    best = _readers().map(partial(_best, store.objects, until), map(texts.get, sessions), wanted)
    found: dict[str, tuple[HubHit, ...]] = {}
    for session, one, read in zip(sessions, wanted, best, strict=True):
        hits = read
        if hits is None:  # it was pushed anew just now
            hits = _best(store.objects, until, _texts(store.db, [session], asked).get(session), one)
        if hits or session in copied:
            found[session] = hits or ()
    return found


def _any_of(db: Database, column: str, sessions: Sequence[str]) -> SqlCondition:
    """Any of some sessions, in a statement that is the same for any number of them."""
    if db.dialect == "sqlite":
        return among(column, sessions)
    return SqlCondition(f"{column} = ANY(?::text[])", ("{" + ",".join(sessions) + "}",))


def _screened(db: Database, question: _Question, places: Sequence[_Place]) -> list[str]:
    """The sessions that may hold what is asked for, by the signatures of their parts."""
    if not places:
        return []
    years = one_of("year", sorted({place.year for place in places}))
    both = all_of([years, _any_of(db, "session", [place.session for place in places])])
    meant = {place.session: place.numbers for place in places}
    found: set[str] = set()
    sql = f"SELECT session, number, signature FROM text_part WHERE {both.sql}"  # noqa: S608
    for session, number, signature in db.rows(sql, *both.values):
        if session in found or (meant[session] and number not in meant[session]):
            continue
        if question.passages.candidates(PartSignature(signature)):
            found.add(session)
    return [place.session for place in places if place.session in found]


class _Candidate(NamedTuple):
    """A part of a session of which some passages may be meant."""

    place: PartPlace
    signature: PartSignature
    passages: int


class _Texts(NamedTuple):
    """The parts of a session that may hold what is asked for, and the object that they lie in."""

    key: str
    parts: list[_Candidate]


def _texts(db: Database, sessions: Sequence[str], asked: PassageQuestion) -> dict[str, _Texts]:
    these = _any_of(db, "session_text.session", sessions)
    sql = (
        "SELECT session_text.session, blob.key, text_part.signature, text_part.number, text_part.place, text_part.size"  # noqa: S608
        " FROM session_text JOIN blob ON blob.digest = session_text.digest JOIN text_part"
        " ON text_part.session = session_text.session AND text_part.year = session_text.year"
        f" WHERE {these.sql}"
    )
    by_session: dict[str, _Texts] = {}
    for session, key, data, *place in db.rows(sql, *these.values):
        signature = PartSignature(data)
        if passages := asked.candidates(signature):
            found = by_session.setdefault(session, _Texts(key, []))
            found.parts.append(_Candidate(PartPlace(*place), signature, passages))
    return by_session


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise BadRequest("This takes too long to find; narrow it down, as with project: or since:.")


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_READERS, "search")


class _Wanted(NamedTuple):
    asked: PassageQuestion
    copied: frozenset[int]
    """Lines of turns that are found in another session."""

    def is_met_by(self, passage: SessionPassage) -> bool:
        return passage.line not in self.copied and self.asked.is_met_by(passage)


def _best(objects: Objects, until: float, texts: _Texts | None, wanted: _Wanted) -> tuple[HubHit, ...] | None:
    """The best places of a session: by their kinds, of a kind the last first. None where its texts are gone."""
    try:
        found = list(islice(_matches(objects, until, texts, wanted), _HITS)) if texts else []
    except NotFound:
        return None
    sought = word_patterns(query_terms(wanted.asked.tree)) if found else []
    hits = []
    for passage in found:
        text = _APART.sub("", passage.body)
        snippet = make_snippet(text, word_marks(text, sought), _CONTEXT)
        hits.append(HubHit(passage.kind, passage.turn, passage.link, snippet))
    return tuple(hits)


def _matches(objects: Objects, until: float, texts: _Texts, wanted: _Wanted) -> Iterator[SessionPassage]:
    known: dict[int, list[SessionPassage]] = {}
    parts = sorted(texts.parts, key=lambda part: part.place.number, reverse=True)
    for rank in range(len(RANKED)):
        of_rank = [(part, part.passages & part.signature.of_kinds((rank,))) for part in parts]
        waiting = [(part.place, passages) for part, passages in of_rank if passages]
        for at, (place, passages) in enumerate(waiting):
            if place.number not in known:
                _check_time(until)
                some = [one for one, _ in waiting[at : at + (_TOGETHER if known else 1)] if one.number not in known]
                known.update(read_parts(objects, texts.key, some))
            read = known[place.number]
            for number in range(len(read) - 1, -1, -1):
                if passages >> number & 1 and wanted.is_met_by(read[number]):
                    yield read[number]
