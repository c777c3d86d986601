"""`/search` with its filters, `/search.json` for the palette, and the jump from a hit to its block."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool.app import render
from unspool.app.open_session import get_session
from unspool.app.search_results import (
    HITS,
    MAX_FOUND_SESSIONS,
    SESSIONS,
    SearchAnswer,
    SearchQuestion,
    answer_question,
    extend_last_word,
    folder_name,
    parse_question,
    session_href,
)
from unspool.errors import UnspoolError
from unspool.figures import all_turns
from unspool.model import Result, Session, ToolCall
from unspool.render.html.elements import visible
from unspool.site.address import Addresses, Item
from unspool.store.index.filters import sessions_holding
from unspool.store.index.query import NAMES
from unspool.store.index.schema import KINDS, ROLES

if TYPE_CHECKING:
    from unspool.app.context import AppContext


_SINCE = (("today", "today"), ("7d", "last 7 days"), ("30d", "last 30 days"), ("1y", "last year"))
_FIXED = {
    "kind": KINDS,
    "role": tuple(ROLES),
    "is": ("error", "subagent", "ghost"),
    "since": ("today", "yesterday", "7d", "30d", "1y"),
    "until": ("today", "7d", "30d"),
    "cost": (">1", ">10", "<0.1"),
}
_KNOWN = {
    "project": "SELECT project FROM session WHERE project LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY max(ended) DESC",
    "branch": "SELECT branch FROM session WHERE branch LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY max(ended) DESC",
    "tool": "SELECT name.text FROM tally JOIN name ON name.id = tally.tool WHERE name.text LIKE ? ESCAPE '\\' "
    "GROUP BY 1 ORDER BY sum(tally.calls) DESC",
    "model": "SELECT model FROM terms WHERE model LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY 1",
}
_LISTED = 30
_OFFERED = 8


class FilterChoice(NamedTuple):
    """One value of a filter."""

    text: str
    href: str
    chosen: bool
    about: str = ""


class FilterRow(NamedTuple):
    """A filter with its values; `folded` where there are many."""

    name: str
    choices: tuple[FilterChoice, ...]
    folded: bool = False
    chosen: str = ""

    @property
    def label(self) -> str:
        """What the page calls it."""
        return "only" if self.name == "is" else self.name


def filter_rows(db: apsw.Connection, asked: SearchQuestion) -> Iterator[FilterRow]:
    """The filters that the page offers; the values of some are those there are."""
    yield _row(asked, "kind", [(kind, kind) for kind in KINDS])
    yield _row(asked, "role", [(role, role) for role in ROLES])
    yield _row(asked, "since", _SINCE)
    yield _row(asked, "is", [("error", "failed"), ("subagent", "in subagents")])
    for name in ("project", "tool"):
        known = _values(db, name, "", _LISTED)
        if known:
            yield _row(asked, name, [(value, folder_name(value)) for value in known], folded=True)


def _row(asked: SearchQuestion, name: str, values: Sequence[tuple[str, str]], *, folded: bool = False) -> FilterRow:
    now = asked.values(name)
    any_ = FilterChoice("any", asked.having(name, "").href, not now)
    others = [
        FilterChoice(said, asked.having(name, value).href, value in now, visible(value)) for value, said in values
    ]
    return FilterRow(name, (any_, *others), folded, folder_name(now[0]) if now else "")


def complete_filter(db: apsw.Connection, text: str) -> tuple[str, ...]:
    """Whole questions that the last word of this one could lead to, where it begins a filter."""
    head, last = _last(text)
    minus, body = ("-", last[1:]) if last.startswith("-") else ("", last)
    name, colon, value = body.partition(":")
    if not colon:
        begun = [f"{one}:" for one in NAMES if len(body) > 1 and one.startswith(body.lower())]
        return tuple(f"{head}{minus}{one}" for one in begun)
    name = name.lower()
    fits = [one for one in _FIXED.get(name, ()) if one.startswith(value.lower()) and one != value.lower()]
    known = _values(db, name, value.strip('"'), _OFFERED) if name in _KNOWN else fits
    return tuple(f"{head}{minus}{name}:{_quoted(one)} " for one in known if one != value and '"' not in one)


def _last(text: str) -> tuple[str, str]:
    """The text before its last word, and that; a quoted value is one word."""
    cut = max(text.rfind(" "), text.rfind("("))
    if text.count('"') % 2:
        cut = text.rfind(" ", 0, text.rfind('"'))
    return text[: cut + 1], text[cut + 1 :]


def _quoted(value: str) -> str:
    return f'"{value}"' if any(char.isspace() or char in "()" for char in value) else value


def _values(db: apsw.Connection, name: str, part: str, most: int) -> list[str]:
    found: list[Any] = db.execute(f"{_KNOWN[name]} LIMIT ?", (sessions_holding(part), most)).fetchall()
    return [value for (value,) in found if value]


_TYPED, _TYPED_HITS = 6, 3
"""Sessions that the palette shows, and places of each."""
_MORE = 20
_ALL_HITS = 200


def search_page(request: Request) -> HTMLResponse:
    """What was found, or how to ask."""
    question = parse_question(request.query_params)
    context: AppContext = request.app.state.context
    answer = SearchAnswer() if question.nothing else answer_question(context, question)
    with context.index() as index:
        offered = tuple(filter_rows(index.db, question))
    body = render.render_template(
        "search.html", asked=question, answer=answer, rows=offered, **_ways(question, offered)
    )
    title = f"{question.text.strip()[:80]} · Search" if question.text.strip() else "Search"
    response = render.render_page(request, title, body, styles=("find.css",))
    response.status_code = 400 if answer.problem else 200
    return response


def _ways(question: SearchQuestion, offered: tuple[FilterRow, ...]) -> dict[str, object]:
    """Addresses of other questions that the page leads to."""
    told = {row.name for row in offered if row.chosen and any(choice.chosen for choice in row.choices)}
    return {
        "more": question._replace(sessions=question.sessions + _MORE).href
        if question.sessions < MAX_FOUND_SESSIONS
        else "",
        "exact": question._replace(exact=not question.exact, sessions=SESSIONS).href,
        "others": [(one, question.without(one).href) for one in question.filters if one.name not in told],
        "within": lambda key: question.having("session", key)._replace(hits=_ALL_HITS).href,
    }


def search_json(request: Request) -> Response:
    """The best of what is found so far; why there is nothing, where the index cannot be asked."""
    question = parse_question(request.query_params)
    try:
        answer = _typed(request.app.state.context, question)
    except UnspoolError as problem:
        answer = SearchAnswer(problem=visible(str(problem)))
    whole = question._replace(sessions=SESSIONS, hits=HITS).href
    answer = msgspec.structs.replace(answer, all=whole)
    return Response(msgspec.json.encode(answer), media_type="application/json", headers={"Cache-Control": "no-store"})


def _typed(context: "AppContext", question: SearchQuestion) -> SearchAnswer:
    """The answer to a text that is being typed: its last word may go on."""
    with context.index() as index:
        ways = complete_filter(index.db, question.text)
    text = question.text if question.exact else extend_last_word(question.text)
    typed = question._replace(text=text, sessions=_TYPED, hits=_TYPED_HITS)
    answer = SearchAnswer() if question.nothing else answer_question(context, typed)
    return msgspec.structs.replace(answer, completions=ways)


SEARCH_ROUTES = [Route("/search", search_page), Route("/search.json", search_json)]


_ANCHOR = re.compile(r"(?:msg-(\d{1,15})|line-\d{1,15})(?:-\d{1,9})?")


def jump_to_block(request: Request) -> RedirectResponse:
    """Leads to the page and block that an anchor means; to the session's first page where there is none."""
    key, anchor = request.path_params["key"], request.path_params["anchor"]
    context: AppContext = request.app.state.context
    told = get_session(context, key)
    place = request.query_params.get("place", "")
    line = int(place) if place.isascii() and place.isdigit() and len(place) < 16 else None
    meant = SoughtLine(anchor, line, request.query_params.get("agent", ""))
    link = find_block(told.session, told.addresses(context.options), meant)
    return RedirectResponse(session_href(key) + link, 302)


class SoughtLine(NamedTuple):
    """What is known of the line that is looked for."""

    anchor: str
    place: int | None = None
    """Byte offset in its log."""
    agent: str = ""
    """The subagent whose log it is in."""


def find_block(session: Session, addresses: Addresses, line: SoughtLine) -> str:
    """The address, below the session's, of the block that a line is part of; empty where there is none."""
    known = _ANCHOR.fullmatch(line.anchor)
    if known is None:
        return ""
    moment = int(known[1]) if known[1] else None
    items = list(_items(_member(session, addresses, line.agent)))
    for fits in (
        lambda item: line.place in _places(item),
        lambda item: addresses.anchor(item) == line.anchor,
        lambda item: moment in _moments(item),
    ):
        meant = next(filter(fits, items), None)
        if meant is not None:
            return addresses.link(meant)
    return "" if moment is None else _begun(session, addresses, moment)


def _member(session: Session, addresses: Addresses, agent: str) -> Session:
    chapter = addresses.agents.get(agent)
    return chapter.agent.session if chapter is not None and chapter.agent is not None else session


def _items(session: Session) -> Iterator[Item]:
    for turn in all_turns(session):
        if turn.prompt is not None:
            yield turn.prompt
        yield from turn.blocks


def _results(item: Item) -> tuple[Result, ...]:
    if not isinstance(item, ToolCall):
        return ()
    return (*item.earlier, item.result) if item.result is not None else item.earlier


def _places(item: Item) -> list[int]:
    return [item.place.offset, *(result.place.offset for result in _results(item))]


def _moments(item: Item) -> list[int]:
    return [to_milliseconds(one.time) for one in (item, *_results(item)) if one.time is not None]


def _begun(session: Session, addresses: Addresses, moment: int) -> str:
    """The last turn that had begun: copies of a line are told once, so not every moment has a block."""
    begun = [turn.number for turn in session.turns if turn.started and to_milliseconds(turn.started) <= moment]
    return addresses.turn(max(begun)) if begun else ""


def to_milliseconds(time: datetime) -> int:
    """A moment as anchors have it."""
    return round(time.timestamp() * 1000)


JUMP_ROUTES = [Route("/s/{key}/at/{anchor}", jump_to_block)]
