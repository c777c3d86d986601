"""`/search` with its filters, `/search.json` for the palette, and the jump from a hit to its block."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import apsw
import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool.agents.context_files import CONTEXT_KINDS
from unspool.app.api_endpoint import parse_number
from unspool.app.open_session import requested_session, results_of, session_items
from unspool.app.render import LinkChoice, render_page, render_template, session_href
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
)
from unspool.errors import UnspoolError
from unspool.model import Session
from unspool.render.html.elements import visible
from unspool.site.address import Addresses
from unspool.store.index.filters import PROMPT_HISTORY, sessions_holding
from unspool.store.index.query import NAMES
from unspool.store.index.schema import KINDS, ROLES

_SINCE = (("today", "today"), ("7d", "last 7 days"), ("30d", "last 30 days"), ("1y", "last year"))
_FIXED = {
    "kind": (*KINDS, *CONTEXT_KINDS, PROMPT_HISTORY),
    "role": tuple(ROLES),
    "is": ("error", "subagent", "ghost"),
    "since": ("today", "yesterday", "7d", "30d", "1y"),
    "until": ("today", "7d", "30d"),
    "cost": (">1", ">10", "<0.1"),
}
_KNOWN = {
    "project": "SELECT project FROM session WHERE project LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY max(ended) DESC",
    "agent": "SELECT agent FROM session WHERE agent LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY count(*) DESC",
    "branch": "SELECT branch FROM session WHERE branch LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY max(ended) DESC",
    "tool": "SELECT name.text FROM tally JOIN name ON name.id = tally.tool WHERE name.text LIKE ? ESCAPE '\\' "
    "GROUP BY 1 ORDER BY sum(tally.calls) DESC",
    "model": "SELECT model FROM terms WHERE model LIKE ? ESCAPE '\\' GROUP BY 1 ORDER BY 1",
}
_LISTED = 30
_OFFERED = 8


class FilterRow(NamedTuple):
    """A filter with its values; `folded` where there are many."""

    name: str
    choices: tuple[LinkChoice, ...]
    folded: bool = False
    chosen: str = ""
    title: str = ""
    """What it is called, where that is not the filter's name."""

    @property
    def label(self) -> str:
        return self.title or self.name


def filter_rows(db: apsw.Connection, question: SearchQuestion) -> Iterator[FilterRow]:
    """The filters that the page offers; the values of some are those there are."""
    offered: Sequence[tuple[str, str, Sequence[tuple[str, str]]]] = (
        ("kind", "", [(kind, kind) for kind in KINDS]),
        ("role", "", [(role, role) for role in ROLES]),
        ("since", "", _SINCE),
        ("is", "only", [("error", "failed"), ("subagent", "in subagents")]),
        ("project", "", [(value, folder_name(value)) for value in _values(db, "project", "", _LISTED)]),
        ("tool", "", [(value, folder_name(value)) for value in _values(db, "tool", "", _LISTED)]),
        ("kind", "context files", [(kind, kind) for kind in (*CONTEXT_KINDS, PROMPT_HISTORY)]),
    )
    for name, title, values in offered:
        chosen = question.values(name)
        choices = [LinkChoice("any", question.having(name, "").href, not chosen)]
        for value, text in values:
            choices.append(LinkChoice(text, question.having(name, value).href, value in chosen, visible(value)))
        if values:
            folded = name in ("project", "tool") or title == "context files"
            named = not title or any(value in chosen for value, _ in values)
            yield FilterRow(name, tuple(choices), folded, folder_name(chosen[0]) if chosen and named else "", title)


def complete_filter(db: apsw.Connection, text: str) -> tuple[str, ...]:
    """Whole questions that the last word of this one could lead to, where it begins a filter."""
    cut = max(text.rfind(" "), text.rfind("("))
    if text.count('"') % 2:  # a quoted value is one word
        cut = text.rfind(" ", 0, text.rfind('"'))
    head, last = text[: cut + 1], text[cut + 1 :]
    minus, body = ("-", last[1:]) if last.startswith("-") else ("", last)
    name, colon, value = body.partition(":")
    if not colon:
        begun = [f"{one}:" for one in NAMES if len(body) > 1 and one.startswith(body.lower())]
        return tuple(f"{head}{minus}{one}" for one in begun)
    name = name.lower()
    fits = [one for one in _FIXED.get(name, ()) if one.startswith(value.lower()) and one != value.lower()]
    known = _values(db, name, value.strip('"'), _OFFERED) if name in _KNOWN else fits
    others = [one for one in known if one != value and '"' not in one]
    quoted = [f'"{one}"' if any(char.isspace() or char in "()" for char in one) else one for one in others]
    return tuple(f"{head}{minus}{name}:{one} " for one in quoted)


def _values(db: apsw.Connection, name: str, part: str, most: int) -> list[str]:
    found: list[Any] = db.execute(f"{_KNOWN[name]} LIMIT ?", (sessions_holding(part), most)).fetchall()
    return [value for (value,) in found if value]


_TYPED, _TYPED_HITS = 6, 3
"""Sessions that the palette shows, and places of each."""
_MORE = 20
_ALL_HITS = 200


def search_page(request: Request) -> HTMLResponse:
    question = parse_question(request.query_params)
    context = request.app.state.context
    answer = SearchAnswer() if question.nothing else answer_question(context, question)
    with context.index() as index:
        offered = tuple(filter_rows(index.db, question))
    body = render_template("search.html", asked=question, answer=answer, rows=offered, **_links(question, offered))
    title = f"{question.text.strip()[:80]} · Search" if question.text.strip() else "Search"
    response = render_page(request, title, body, styles=("app.css", "find.css"))
    response.status_code = 400 if answer.problem else 200
    return response


def _links(question: SearchQuestion, offered: tuple[FilterRow, ...]) -> dict[str, object]:
    """Addresses of other questions that the page leads to."""
    shown = {row.name for row in offered if row.chosen and any(choice.chosen for choice in row.choices)}
    more = question._replace(sessions=question.sessions + _MORE).href
    return {
        "more": more if question.sessions < MAX_FOUND_SESSIONS else "",
        "exact": question._replace(exact=not question.exact, sessions=SESSIONS).href,
        "others": [(one, question.without(one).href) for one in question.filters if one.name not in shown],
        "within": lambda key: question.having("session", key)._replace(hits=_ALL_HITS).href,
    }


def search_json(request: Request) -> Response:
    """The best of what the page of the same question finds; the last word may go on where nothing is found without.
    Why there is nothing, where the index cannot be asked."""
    question, context = parse_question(request.query_params), request.app.state.context
    typed = question._replace(sessions=_TYPED, hits=_TYPED_HITS)
    try:
        with context.index() as index:
            completions = complete_filter(index.db, question.text)
        answer = SearchAnswer() if question.nothing else answer_question(context, typed)
        text = question.text if question.exact else extend_last_word(question.text)
        if answer.is_empty and text != question.text and not question.nothing:
            question, typed = question._replace(text=text), typed._replace(text=text)
            answer = answer_question(context, typed)
        answer = msgspec.structs.replace(answer, completions=completions)
    except UnspoolError as problem:
        answer = SearchAnswer(problem=visible(str(problem)))
    answer = msgspec.structs.replace(answer, all=question._replace(sessions=SESSIONS, hits=HITS).href)
    return Response(msgspec.json.encode(answer), media_type="application/json", headers={"Cache-Control": "no-store"})


_ANCHOR = re.compile(r"(?:msg-(\d{1,15})|line-\d{1,15})(?:-\d{1,9})?")


def jump_to_block(request: Request) -> RedirectResponse:
    """Leads to the page and block that an anchor means; to the session's first page where there is none."""
    (context, opened), given = requested_session(request), request.query_params
    addresses, place = opened.addresses(context.options), parse_number(given.get("place", ""), 10**15)
    link = find_block(opened.session, addresses, request.path_params["anchor"], place, given.get("agent", ""))
    return RedirectResponse(session_href(request.path_params["key"]) + link, 302)


def find_block(session: Session, addresses: Addresses, anchor: str, place: int | None, agent: str) -> str:
    """The address, below the session's, of the block that a line is part of; empty where there is none.

    `place` is the byte offset of the line in its log, `agent` the subagent whose log that is.
    """
    known = _ANCHOR.fullmatch(anchor)
    if known is None:
        return ""
    moment = int(known[1]) if known[1] else None
    chapter = addresses.agents.get(agent)
    member = chapter.agent.session if chapter is not None and chapter.agent is not None else session
    items = list(session_items(member))
    for fits in (
        lambda item: place in [one.place.offset for one in (item, *results_of(item))],
        lambda item: addresses.anchor(item) == anchor,
        lambda item: moment in [to_milliseconds(one.time) for one in (item, *results_of(item)) if one.time is not None],
    ):
        found = next(filter(fits, items), None)
        if found is not None:
            return addresses.link(found)
    if moment is None:
        return ""
    # the last turn that had begun: copies of a line are told once, so not every moment has a block
    begun = [turn.number for turn in session.turns if turn.started and to_milliseconds(turn.started) <= moment]
    return addresses.turn(max(begun)) if begun else ""


def to_milliseconds(time: datetime) -> int:
    """A moment as anchors have it."""
    return round(time.timestamp() * 1000)


ROUTES = [
    Route("/search", search_page),
    Route("/search.json", search_json),
    Route("/s/{key}/at/{anchor}", jump_to_block),
]
