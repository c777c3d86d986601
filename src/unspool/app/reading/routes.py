"""The addresses of a session: its pages, by the same names as on disk, its turns as Markdown, its lines as they are."""

from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unspool.app.reading import turn
from unspool.app.reading.frames import FRESH
from unspool.app.reading.held import reading
from unspool.app.reading.leaves import last_page, ready, session_index, session_leaf, without_slash
from unspool.app.reading.lines import raw_line
from unspool.app.reading.present import present
from unspool.app.reading.sides import branches
from unspool.app.reading.story import first_page, story
from unspool.app.reading.within import within

if TYPE_CHECKING:
    from unspool.app.desk import Desk


def find(request: Request) -> Response:
    """The blocks that hold `q`."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    found = within(told.session, told.addresses(desk.options), request.query_params.get("q", ""))
    return Response(msgspec.json.encode(found), media_type="application/json", headers=FRESH)


def turn_markdown(request: Request) -> Response:
    """One turn, to be pasted elsewhere."""
    given = request.path_params
    told = reading(request.app.state.desk, given["key"])
    text = turn.markdown(told.session, given["number"], given.get("branch", 0))
    return Response(text.encode("utf-8", "replace"), media_type="text/markdown; charset=utf-8", headers=FRESH)


ROUTES = [
    Route("/s/{key}", without_slash),
    Route("/s/{key}/", session_index),
    Route("/s/{key}/ready", ready),
    Route("/s/{key}/last", last_page),
    Route("/s/{key}/find", find),
    Route("/s/{key}/raw", raw_line),
    Route("/s/{key}/present", present),
    Route("/s/{key}/branches", branches),
    Route("/s/{key}/story", first_page),
    Route("/s/{key}/story/{number:int}.html", story),
    Route("/s/{key}/turn/{number:int}.md", turn_markdown),
    Route("/s/{key}/turn/{branch:int}/{number:int}.md", turn_markdown),
    Route("/s/{key}/{path}", session_leaf),
]
