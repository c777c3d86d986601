"""A search question in an address, and its answer as pages and palette show it."""

from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote, urlencode

import apsw
import msgspec
from starlette.datastructures import QueryParams

from unspool import human
from unspool.app.api_endpoint import parse_number
from unspool.app.context import AppContext
from unspool.app.marks import custom_titles
from unspool.app.render import session_href
from unspool.config.settings import current_settings
from unspool.errors import UsageProblem
from unspool.render.html.elements import visible
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.exact_search import exact_search, substring_pattern
from unspool.store.index.query import Filter, SearchQuery, parse_query
from unspool.store.index.results import FoundContextFile, FoundSession, Hit, SearchResults, Snippet
from unspool.store.index.search import SearchRequest, search_index
from unspool.store.index.times import utc_time
from unspool.tools.ansi import strip_ansi

MAX_QUESTION = 1000
"""Characters of a question."""
FILTER_NAMES = (
    "kind",
    "project",
    "agent",
    "role",
    "tool",
    "is",
    "since",
    "until",
    "model",
    "branch",
    "cost",
    "session",
    "file",
)
"""Filters that an address may hold beside the words, in the order in which they are told."""
SESSIONS, HITS = 10, 3
MAX_FOUND_SESSIONS = 500
"""Sessions that one page may show."""
_MOST_HITS, _MOST_FILTERS = 200, 20
_CONTEXT = 220


class SearchQuestion(NamedTuple):
    text: str = ""
    filters: tuple[Filter, ...] = ()
    exact: bool = False
    """Whether the text is looked for as it stands."""
    sessions: int = SESSIONS
    hits: int = HITS
    cut: bool = False

    @property
    def nothing(self) -> bool:
        return not self.text.strip() and not self.filters

    @property
    def query(self) -> SearchQuery:
        """The question taken apart; a text that is looked for as it stands is no part of it."""
        query = parse_query("" if self.exact else self.text, self.filters, current_settings().zone)
        note = (f"Only the first {MAX_QUESTION:,} characters were asked for.",) if self.cut else ()
        return query._replace(notes=(*query.notes, *note))

    @property
    def wanted(self) -> SearchRequest:
        return SearchRequest(self.sessions, self.hits, _CONTEXT)

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(one.value for one in self.filters if one.name == name)

    def having(self, name: str, value: str) -> "SearchQuestion":
        """The same question with this value of a filter and no other; with none of it where there is no value."""
        others = tuple(one for one in self.filters if one.name != name)
        return self._replace(filters=(*others, Filter(name, value)) if value else others, sessions=SESSIONS, hits=HITS)

    def without(self, gone: Filter) -> "SearchQuestion":
        return self._replace(filters=tuple(one for one in self.filters if one != gone))

    @property
    def href(self) -> str:
        pairs = [("q", self.text)] + [(one.name, one.value) for one in self.filters]
        pairs += [("exact", "1")] if self.exact else []
        pairs += [("n", str(self.sessions))] if self.sessions != SESSIONS else []
        pairs += [("hits", str(self.hits))] if self.hits != HITS else []
        return "/search?" + urlencode(pairs, errors="replace")


def parse_question(given: QueryParams) -> SearchQuestion:
    """The question that an address asks; whatever it says, there is one."""
    text = given.get("q", "")
    filters = [
        Filter(name, value[:MAX_QUESTION])
        for name in FILTER_NAMES
        for value in dict.fromkeys(given.getlist(name))
        if value.strip()
    ]
    return SearchQuestion(
        text[:MAX_QUESTION],
        tuple(filters[:_MOST_FILTERS]),
        given.get("exact") == "1",
        _number(given.get("n", ""), SESSIONS, MAX_FOUND_SESSIONS),
        _number(given.get("hits", ""), HITS, _MOST_HITS),
        len(text) > MAX_QUESTION,
    )


def extend_last_word(text: str) -> str:
    """A text that is being typed: its last word may go on."""
    last = text.split()[-1:] or [""]
    whole = not text[-1:].isalnum() or text.count('"') % 2 or ":" in last[0] or last[0] in ("AND", "OR", "NOT")
    return text if whole else f"{text}*"


def _number(text: str, usual: int, most: int) -> int:
    number = parse_number(text)
    return usual if number is None else min(max(number, 1), most)


class SnippetPart(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a text, and whether it is what was asked for."""

    text: str
    lit: bool = False


class HitView(msgspec.Struct, frozen=True):
    kind: str
    label: str
    pieces: tuple[SnippetPart, ...]
    href: str
    error: bool = False
    agent: str = ""


class FoundSessionView(msgspec.Struct, frozen=True):
    key: str
    title: str
    project: str
    place: str
    """The project's whole path."""
    branch: str
    kind: str
    when: datetime | None
    href: str
    count: int
    more: int
    """Places that are not shown."""
    hits: tuple[HitView, ...]
    resume: str = ""


class ContextFileView(msgspec.Struct, frozen=True):
    """A context file that was found."""

    kind: str
    path: str
    project: str
    when: datetime | None
    version: str
    """Which of several; empty where there is one."""
    current: bool
    """Whether it is still so."""
    href: str
    pieces: tuple[SnippetPart, ...]


class SearchAnswer(msgspec.Struct, frozen=True):
    sessions: tuple[FoundSessionView, ...] = ()
    summary: str = ""
    more: bool = False
    """Whether there are, or may be, more sessions."""
    notes: tuple[str, ...] = ()
    problem: str = ""
    """Why nothing was looked for."""
    all: str = ""
    """The address of the page with all of it."""
    completions: tuple[str, ...] = ()
    """What the text that is being typed could become."""
    context_files: tuple[ContextFileView, ...] = ()
    context_files_found: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.sessions and not self.context_files


def build_answer(results: SearchResults, question: SearchQuestion, titles: dict[str, str]) -> SearchAnswer:
    """What a page shows; `titles` are names that a person gave to sessions."""
    sessions = tuple(_session(one, titles.get(one.session, one.title)) for one in results.sessions)
    more = results.sessions_found is None or results.sessions_found > len(sessions)
    # in the words of the page instead of the command line's
    notes = (visible(note.replace("--substring finds such text", "“Exact text” finds it")) for note in results.notes)
    files = tuple(map(_context_file, results.context_files))
    return SearchAnswer(
        sessions,
        summary(results),
        more and bool(sessions),
        tuple(notes),
        all=question.href,
        context_files=files,
        context_files_found=results.context_files_found,
    )


def folder_name(path: str) -> str:
    """The last folder of a path, on whatever system; the path itself where it has none."""
    return visible(path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path)


def block_href(key: str, anchor: str, agent: str = "", place: int | None = None) -> str:
    """The address that leads to a block, by its anchor and by where its line is in its log."""
    exact: list[tuple[str, str]] = [] if place is None else [("place", str(place))]
    exact += [("agent", agent)] if agent else []
    more = f"?{urlencode(exact, errors='replace')}" if exact else ""
    return f"{session_href(key)}at/{quote(anchor, safe='')}{more}"


def summary(results: SearchResults) -> str:
    here = len(results.sessions)
    if results.sessions_found is None:
        return f"the newest {human.count(here, 'session')}; there may be more"
    hits, found = human.count(results.hits_found or 0, "place"), results.sessions_found
    return f"{hits} in {human.count(found, 'session')}" + (f", the best {here:,} shown" if found > here else "")


def pieces(snippet: Snippet) -> tuple[SnippetPart, ...]:
    """The snippet on one line, cut at its marks."""
    found, at = [SnippetPart("…")] if snippet.before else [], 0
    for start, end in snippet.marks:
        found += [SnippetPart(_flat(snippet.text[at:start])), SnippetPart(_flat(snippet.text[start:end]), True)]
        at = end
    found += [SnippetPart(_flat(snippet.text[at:])), SnippetPart("…" if snippet.after else "")]
    return tuple(one for one in found if one.text)


def _session(one: FoundSession, title: str) -> FoundSessionView:
    return FoundSessionView(
        one.session,
        _flat(title).strip() or one.session,
        folder_name(one.project),
        visible(one.project),
        visible(one.branch),
        one.kind if one.kind != "interactive" else "",
        utc_time(one.ended if one.ended is not None else one.started),
        session_href(one.session),
        one.count,
        max(0, one.count - len(one.hits)),
        tuple(_hit(hit, one.session) for hit in one.hits),
        visible(one.resume),
    )


def _context_file(one: FoundContextFile) -> ContextFileView:
    number = f"version {one.version} of {one.versions}" if one.versions > 1 else ""
    href, project = f"/context-files?{urlencode({'path': one.path}, errors='replace')}", folder_name(one.project)
    told = (one.kind, visible(one.path), project, utc_time(one.time), number, one.current)
    return ContextFileView(*told, href, pieces(one.snippet))


def _hit(hit: Hit, key: str) -> HitView:
    href = block_href(key, hit.anchor, hit.agent, hit.place) if hit.anchor else session_href(key)
    label = visible(hit.tool) if hit.tool and hit.kind in ("call", "result") else hit.kind
    return HitView(hit.kind, label, pieces(hit.snippet), href, hit.error, visible(hit.agent))


def _flat(text: str) -> str:
    """One line without anything that acts unseen; spaces at its ends are kept as one."""
    words = " ".join(visible(strip_ansi(text)).split())
    before = " " if text[:1].isspace() else ""
    return f"{before}{words}{' ' if words and text[-1:].isspace() else ''}"


def answer_question(context: AppContext, question: SearchQuestion) -> SearchAnswer:
    """The answer to a question; one that means nothing is answered with why."""
    with context.index() as index, context.archive() as archive:
        try:
            return build_answer(_results(index.db, archive, question), question, custom_titles(context))
        except UsageProblem as problem:
            return SearchAnswer(problem=visible(str(problem)))


def _results(db: apsw.Connection, archive: ArchiveDatabase, question: SearchQuestion) -> SearchResults:
    query = question.query
    if question.exact and question.text:
        return exact_search(db, archive, substring_pattern(question.text), query, question.wanted)
    if query.tree is None and not query.filters:
        return SearchResults((), 0, 0, query.notes)
    return search_index(db, archive, query, question.wanted)
