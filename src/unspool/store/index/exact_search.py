"""Search for exact texts and regular expressions: candidates from the index, proof from the archive."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import apsw

from unspool.agents import AGENTS
from unspool.errors import UsageProblem
from unspool.store.index.conditions import SqlCondition, one_of
from unspool.store.index.context_search import ContextSearch
from unspool.store.index.filters import SearchScope, search_conditions
from unspool.store.index.hits import HitBuilder, HitRow, HitSession
from unspool.store.index.query import SearchQuery
from unspool.store.index.results import FoundSession, Hit, SearchResults, Snippet, make_snippet
from unspool.store.index.schema import KINDS
from unspool.store.index.search import DEFAULT, SearchRequest, word_condition

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase

_MOST = 300
_VERBATIM = re.compile(r"[A-Za-z0-9_ .,:;!?@#$%^*()\[\]{}=+|~`-]+")
"""What every writer of JSON writes as it is."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""A class of characters; a bracket that comes first in it belongs to it."""
_LITERAL = re.compile(r"\\[^A-Za-z0-9]|[^\\.^$*+?{}\[\]()|]")


class ExactPattern(NamedTuple):
    """What to look for in texts."""

    regex: re.Pattern[str]
    literals: tuple[str, ...] = ()
    """Longest first."""
    words: str = ""

    def spans(self, text: str) -> list[tuple[tuple[int, int], int]]:
        found = (one.span() for one in self.regex.finditer(text) if one.end() > one.start())
        return [(span, 0) for span in islice(found, _MOST)]

    @property
    def hint(self) -> tuple[bytes, bool]:
        """Bytes that stand in every line that fits, and whether their case counts; none where nothing is sure."""
        found = (part for literal in self.literals for part in _VERBATIM.findall(literal))
        longest = max(found, key=len, default="")
        exact = not self.regex.flags & re.IGNORECASE
        return (longest if exact else longest.lower()).encode(), exact


def substring_pattern(text: str) -> ExactPattern:
    """A text as it is."""
    if not text:
        raise UsageProblem("An empty text is everywhere; say what to look for.")
    return ExactPattern(re.compile(re.escape(text), _flags(text)), (text,), _words([text]))


def regex_pattern(text: str) -> ExactPattern:
    """A regular expression of Python; UsageProblem where it is none."""
    try:
        regex = re.compile(text, _flags(re.sub(r"\\.", "", text)) | re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageProblem(f"{text!r} is no regular expression: {error}.") from None
    literals = sorted(_literals(text), key=len, reverse=True)
    return ExactPattern(regex, tuple(literals), _words(literals))


def _flags(text: str) -> re.RegexFlag:
    return re.NOFLAG if any(char.isupper() for char in text) else re.IGNORECASE


def _words(literals: Sequence[str]) -> str:
    """Words that are whole wherever the literals stand, as an expression; a last one may go on."""
    phrases = [phrase for literal in literals for phrase in _phrases(literal)]
    return " AND ".join(phrases)


def _phrases(literal: str) -> Iterator[str]:
    """Runs of ASCII within a line are safe: beside another character it is not sure where a word begins.

    A number that begins a line may be the line's own, which the index leaves out.
    """
    for run in re.findall(r"[\x00-\x09\x0b-\x7f]+", literal):
        words = run[len(run) - len(run.lstrip(" 0123456789")) :]
        start = len(run) - len(words)
        whole = [one for one in _TOKEN.finditer(run, start) if one.start() > 0 and not run[one.start() - 1].isalnum()]
        if not whole:
            continue
        goes_on = whole[-1].end() == len(run)
        yield '"' + " ".join(one[0] for one in whole) + '"' + (" *" if goes_on else "")


def _literals(text: str) -> list[str]:
    """Texts that stand in whatever the expression fits: runs of plain characters outside of groups and choices."""
    if "|" in text or "(?" in text:
        return []
    found: list[str] = []
    run, depth, at = "", 0, 0
    while at < len(text):
        plain = _LITERAL.match(text, at)
        if plain and not depth:
            after = text[plain.end() : plain.end() + 1]
            kept = after not in ("*", "?", "{")
            run += _ESCAPED.sub(r"\1", plain[0]) if kept else ""
            at = plain.end()
            if after in ("*", "?", "{", "+") and after:
                found, run = [*found, run], ""
            continue
        found, run = [*found, run], ""
        depth, at = _passed(text, at, depth)
    return [one for one in [*found, run] if one]


def _passed(text: str, at: int, depth: int) -> tuple[int, int]:
    """Past what is no plain character: the depth of groups, and where to go on."""
    char = text[at]
    if char == "[":
        end = _CLASS.match(text, at)
        return depth, end.end() if end else len(text)
    if char == "{":
        return depth, text.find("}", at) + 1 or len(text)
    if char == "\\":
        return depth, at + 2
    return depth + (char == "(") - (char == ")"), at + 1


_TITLE = KINDS.index("title")
_WINDOW = 4 * 1024 * 1024


class _Lines:
    """Lines of logs that are asked for in order: the bytes around the last one are kept."""

    def __init__(self, archive: "ArchiveDatabase") -> None:
        self._archive = archive
        self._generation = -1
        self._start = 0
        self._window = b""

    def line(self, generation: int, place: int) -> bytes:
        end = self._end(generation, place)
        if end < 0:
            self._generation, self._start = generation, place
            self._window = self._archive.read(generation, place, _WINDOW)
            end = self._end(generation, place)
        if end < 0:
            return self._archive.line(generation, place)
        return self._window[place - self._start : end]

    def _end(self, generation: int, place: int) -> int:
        """Where in the window the line ends; negative where it does not lie in it."""
        at = place - self._start
        return self._window.find(b"\n", at) if generation == self._generation and 0 <= at < len(self._window) else -1


_CALL = KINDS.index("call")
_FIRST = 40
"""Sessions that are read newest first."""
_ORDER = "ORDER BY log.number, doc.place, doc.id"


def exact_search(
    db: apsw.Connection,
    archive: "ArchiveDatabase",
    pattern: ExactPattern,
    query: SearchQuery,
    wanted: SearchRequest = DEFAULT,
    more: Sequence[SqlCondition] = (),
) -> SearchResults:
    """Where a pattern stands, in what a question with its filters leaves."""

    def pick(texts: Sequence[str]) -> Snippet | None:
        """The piece around the first place where the pattern fits."""
        found = ((text, spans) for text in texts if (spans := pattern.spans(text)))
        return next((make_snippet(text, spans, wanted.context) for text, spans in found), None)

    scope = SearchScope(db, [*search_conditions(db, query), *word_condition(query), *more])
    results = _Search(scope, HitBuilder(db, archive, pick), archive, pattern).results(wanted)
    if not more:  # which only what is said in sessions can fulfil
        files = ContextSearch(db, archive, query, pick, pattern.words, exact=True)
        results = files.added_to(results, wanted.sessions)
    return results.noting(query.notes)


class _Search:
    def __init__(
        self, scope: SearchScope, builder: HitBuilder, archive: "ArchiveDatabase", pattern: ExactPattern
    ) -> None:
        self._scope, self._builder, self._archive = scope, builder, archive
        self._lines = _Lines(archive)
        self._hint, self._exact = pattern.hint
        self._words = words = pattern.words
        self._spans = {found[0].session: found[0] for found in scope.grouped(words, "count(*)")} if words else {}

    def results(self, wanted: SearchRequest) -> SearchResults:
        """The newest sessions that hold the pattern."""
        newest = [session for session in self._scope.newest() if not self._words or session in self._spans]
        found: dict[int, FoundSession] = {}
        for session in newest[:_FIRST]:
            self._look(session, wanted.hits, found)
            if wanted.sessions and len(found) == wanted.sessions and session != newest[-1]:
                return SearchResults(tuple(found.values()), None, None)
        for session in self._scope.archived(newest[_FIRST:]):
            self._look(session, wanted.hits, found)
        ordered = [found[session] for session in newest if session in found]
        shown = tuple(ordered[: wanted.sessions or None])
        return SearchResults(shown, len(ordered), sum(one.count for one in ordered))

    def _look(self, number: int, most: int, found: dict[int, FoundSession]) -> None:
        session = self._builder.load(number)
        if not self._may_hold(session, self._scope.generations(number)):
            return
        if self._words:
            rows = self._scope.matching(self._words, self._spans[number], _ORDER)
        else:
            rows = self._scope.rows(number, _ORDER)
        # Names of the session first, then what was said last.
        hits = sorted(self._hits(rows, session), key=lambda hit: (hit.turn is not None, -(hit.time or 0)))
        if hits:
            found[number] = self._builder.session(session, hits[:most], len(hits), 0.0)

    def _may_hold(self, session: HitSession, generations: Sequence[int]) -> bool:
        """Whether the bytes of a session's logs hold what the pattern cannot do without."""
        if not self._hint or any(self._in(name.encode(errors="replace")) for name in session.names):
            return True
        return any(self._streamed(generation) for generation in generations)

    def _streamed(self, generation: int) -> bool:
        before = b""
        for chunk in self._archive.stream(generation):
            if self._in(before + chunk):
                return True
            before = chunk[-len(self._hint) :]
        return False

    def _in(self, raw: bytes) -> bool:
        return self._hint in (raw if self._exact else raw.lower())

    def _hits(self, rows: Sequence[HitRow], session: HitSession) -> Iterator[Hit]:
        """The documents that hold it."""
        for row in rows:
            raw = b"" if row.kind == _TITLE else self._lines.line(row.generation, row.place)
            if row.kind == _TITLE or self._in(raw):
                hit = self._builder.hit(row, session, raw)
                if hit is not None:
                    yield hit


def shell_calls(db: apsw.Connection) -> SqlCondition:
    """Commands that were run: calls of tools that are a shell."""
    names: dict[int, str] = dict(db.execute("SELECT id, text FROM name"))
    shells = [number for number, text in names.items() if any(one.role(text) == "shell" for one in AGENTS)]
    return SqlCondition("doc.kind = ?", (_CALL,)) & one_of("doc.tool", shells)
