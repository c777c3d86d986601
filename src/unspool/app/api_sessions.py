"""/api/sessions and /api/search."""

from itertools import starmap
from typing import Any

import msgspec
from starlette.requests import Request

from unspool.app.api_endpoint import SINCE, UNTIL, ApiEndpoint, Parameter, format_time, parse_since, parse_until
from unspool.app.marks import AllMarks, read_marks
from unspool.app.open_session import get_session
from unspool.app.session_query import SessionFinder, SessionQuery
from unspool.config.settings import current_settings
from unspool.errors import NotFound, UsageProblem
from unspool.model import Overview
from unspool.render.json import Document, JsonWriter
from unspool.render.view import View
from unspool.site.session_rows import SessionRow
from unspool.store.index.billing import exact_dollars
from unspool.store.index.conditions import SqlCondition
from unspool.store.index.query import parse_query
from unspool.store.index.results import SearchResults
from unspool.store.index.schema import PICO
from unspool.store.index.search import SearchRequest, search_index
from unspool.store.index.stats import ToolStats


class Marked(msgspec.Struct, frozen=True):
    """What a person said about a session."""

    starred: bool
    title: str
    """The name that it was given, which pages show instead of its own; empty where it has its own."""
    note: str
    tags: tuple[str, ...]


_KEY = Parameter("key", "The session's id.")
_QUESTION = 'Words, "phrases", OR, -without, and filters such as project: role: tool: since:.'
_TOOLS = """SELECT text, sum(calls), sum(errors), 1, sum(refused), sum(interrupted), sum(unanswered)
FROM tally JOIN name ON name.id = tally.tool
JOIN turn ON turn.id = tally.turn JOIN log ON log.id = turn.log WHERE log.session = ? GROUP BY 1
ORDER BY calls DESC, text"""
_FILES = """SELECT DISTINCT file.path FROM log JOIN turn ON turn.log = log.id JOIN touch ON touch.turn = turn.id
JOIN file ON file.id = touch.file WHERE log.session = ? ORDER BY file.path LIMIT 1000"""


class Listed(msgspec.Struct, frozen=True):
    """What a list shows of a session."""

    key: str
    project: str
    title: str
    kind: str
    """`ghost` where only traces of it survive."""
    branch: str
    started: str | None
    ended: str | None
    turns: int
    messages: int
    tool_calls: int
    tool_errors: int
    cost: str
    """Dollars at list prices, subagents included."""
    unpriced: int
    """Requests whose price is not known."""
    mark: Marked | None = None
    """What was said about it in the app; null where nothing was."""
    known: bool = True
    """False where more was spent than `cost` says: a price is not known, or the log never held the final figures."""
    tool_refusals: int = 0
    """Calls that a person or a rule did not let run; `tool_errors` are those that ran and failed."""
    tool_interruptions: int = 0
    """Calls that were broken off."""
    tool_unanswered: int = 0
    """Calls without a result."""
    agent: str = ""
    """The id of the agent that it is of."""


class Sessions(msgspec.Struct, frozen=True):
    """A page of sessions, the last active first."""

    sessions: tuple[Listed, ...]
    total: int
    """How many fit in all."""
    next: int | None
    """The `offset` of the next page; null where this is the last."""


class Whole(msgspec.Struct, frozen=True):
    """All that is known of a session without reading it."""

    session: Listed
    overview: Overview | None
    """As `unspool list --json` has it; null for a ghost."""
    tools: tuple[ToolStats, ...]
    files: tuple[str, ...]
    """The files that it read or changed, up to 1,000."""
    address: str
    """Of its page."""


def _sessions(request: Request, limit: int, offset: int, **asked: str | None) -> Sessions:
    since, until = parse_since(asked.pop("since"), None), parse_until(asked.pop("until"), None)
    spans = (("coalesce(ended, started) >= ?", since), ("coalesce(started, ended) < ?", until))
    also = [SqlCondition(sql, (second,)) for sql, second in spans if second is not None]
    texts = {name: text for name, text in asked.items() if text is not None and (name, text) != ("starred", "0")}
    query = msgspec.convert(texts, SessionQuery)
    marks = read_marks(request.app.state.context)
    with request.app.state.context.index() as index:
        found = SessionFinder(index.db, marks).find(query, offset, limit, also, everything=True)
    following = offset + len(found.rows)
    listed = tuple(_listed(row, marks) for row in found.rows)
    return Sessions(listed, found.total, following if following < found.total else None)


def _listed(row: SessionRow, marks: AllMarks) -> Listed:
    mark = marks.of(row.id)
    started, ended = (format_time(time.timestamp() if time else None) for time in (row.started, row.ended))
    counts = (row.prompts, row.messages, row.tool_calls, row.tool_errors)
    cost = exact_dollars(int(row.amount * PICO)), row.unpriced
    texts = (row.id, row.project, row.title, row.kind, row.branch)
    ends = (row.tool_refusals, row.tool_interruptions, row.tool_unanswered)
    marked = Marked(*mark) if any(mark) else None
    return Listed(*texts, started, ended, *counts, *cost, marked, row.known, *ends, agent=row.agent)


def _one(request: Request, key: str) -> Whole:
    marks = read_marks(request.app.state.context)
    with request.app.state.context.index() as index:
        sql = "SELECT id, overview FROM session WHERE key = ? AND version_of IS NULL"
        found: Any = index.db.execute(sql, (key,)).fetchone()
        if found is None:
            request.app.state.context.found(key)  # which tells where several agents have one
            raise NotFound(f"There is no session {key[:80]}.")
        number, packed = found
        (row,) = SessionFinder(index.db, marks).rows([number])
        overview = msgspec.msgpack.decode(packed, type=Overview) if packed else None
        tools = tuple(starmap(ToolStats, index.db.execute(_TOOLS, (number,))))
        files = tuple(path for (path,) in index.db.execute(_FILES, (number,)))
        return Whole(_listed(row, marks), overview, tools, files, f"/s/{row.id}/")


def _document(request: Request, key: str) -> bytes:
    app_context = request.app.state.context
    return b"".join(JsonWriter(prices=app_context.prices).chunks(get_session(app_context, key).session, View()))


def _search(request: Request, q: str, limit: int, hits: int, context: int) -> SearchResults:
    query = parse_query(q, zone=current_settings().zone)
    if query.tree is None and not query.filters:
        raise UsageProblem(" ".join((*query.notes, "Say what to look for with q.")))
    app_context = request.app.state.context
    with app_context.index() as index, app_context.archive() as archive:
        return search_index(index.db, archive, query, SearchRequest(limit, hits, context))


ENDPOINTS = (
    ApiEndpoint(
        "/api/sessions",
        "Sessions, the last active first.",
        _sessions,
        Sessions,
        (
            Parameter("project", "Only projects whose path holds this text."),
            Parameter("title", "Only titles that hold this text."),
            Parameter("branch", "Only this git branch."),
            Parameter("agent", "Only sessions of this agent, by its id."),
            Parameter("kind", "Only this kind of session."),
            Parameter("starred", "1: only those with a star.", choices=("0", "1"), default="0"),
            Parameter("tag", "Only those with this tag."),
            SINCE,
            UNTIL,
            Parameter("limit", "At most so many.", int, 50, least=1, most=500),
            Parameter("offset", "Leave out so many.", int, 0, most=10**9),
        ),
    ),
    ApiEndpoint("/api/sessions/{key}", "What is known of one session.", _one, Whole, (_KEY,), missing=True),
    ApiEndpoint(
        "/api/sessions/{key}/document",
        "One session whole, as `unspool export --format json` writes it.",
        _document,
        Document,
        (_KEY,),
        missing=True,
    ),
    ApiEndpoint(
        "/api/search",
        "Sessions that hold words, with their best hits; the question is as for `unspool search`.",
        _search,
        SearchResults,
        (
            Parameter("q", _QUESTION, default=""),
            Parameter("limit", "At most so many sessions.", int, 10, least=1, most=100),
            Parameter("hits", "At most so many hits of each.", int, 3, least=1, most=50),
            Parameter("context", "Characters of a hit.", int, 160, least=20, most=2000),
        ),
    ),
)
