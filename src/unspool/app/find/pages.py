"""`/search`, a page that needs no script, and `/search.json`, what the palette asks for as one types."""

from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unspool.app import render
from unspool.app.find.answer import answered
from unspool.app.find.asked import HITS, MOST, SESSIONS, Asked, asked, growing
from unspool.app.find.choices import Row, completions, rows
from unspool.app.find.shown import Shown
from unspool.errors import UnspoolError
from unspool.export.html.escape import visible

if TYPE_CHECKING:
    from unspool.app.desk import Desk

_TYPED, _TYPED_HITS = 6, 3
"""Sessions that the palette shows, and places of each."""
_MORE = 20
_ALL_HITS = 200


def page(request: Request) -> HTMLResponse:
    """What was found, or how to ask."""
    question = asked(request.query_params)
    desk: Desk = request.app.state.desk
    answer = Shown() if question.nothing else answered(desk, question)
    with desk.index() as index:
        offered = tuple(rows(index.db, question))
    body = render.render("search.html", asked=question, answer=answer, rows=offered, **_ways(question, offered))
    title = f"{question.text.strip()[:80]} · Search" if question.text.strip() else "Search"
    response = render.page(request, title, body, styles=("find.css",))
    response.status_code = 400 if answer.problem else 200
    return response


def _ways(question: Asked, offered: tuple[Row, ...]) -> dict[str, object]:
    """Addresses of other questions that the page leads to."""
    told = {row.name for row in offered if row.chosen and any(choice.chosen for choice in row.choices)}
    return {
        "more": question._replace(sessions=question.sessions + _MORE).href if question.sessions < MOST else "",
        "exact": question._replace(exact=not question.exact, sessions=SESSIONS).href,
        "others": [(one, question.without(one).href) for one in question.filters if one.name not in told],
        "within": lambda key: question.having("session", key)._replace(hits=_ALL_HITS).href,
    }


def data(request: Request) -> Response:
    """The best of what is found so far; why there is nothing, where the index cannot be asked."""
    question = asked(request.query_params)
    try:
        answer = _typed(request.app.state.desk, question)
    except UnspoolError as problem:
        answer = Shown(problem=visible(str(problem)))
    whole = question._replace(sessions=SESSIONS, hits=HITS).href
    answer = msgspec.structs.replace(answer, all=whole)
    return Response(msgspec.json.encode(answer), media_type="application/json", headers={"Cache-Control": "no-store"})


def _typed(desk: "Desk", question: Asked) -> Shown:
    """The answer to a text that is being typed: its last word may go on."""
    with desk.index() as index:
        ways = completions(index.db, question.text)
    text = question.text if question.exact else growing(question.text)
    typed = question._replace(text=text, sessions=_TYPED, hits=_TYPED_HITS)
    answer = Shown() if question.nothing else answered(desk, typed)
    return msgspec.structs.replace(answer, completions=ways)


ROUTES = [Route("/search", page), Route("/search.json", data)]
