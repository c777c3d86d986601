"""The routes of a session: its pages, words found in it, a turn as Markdown."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool.app.branch_compare import branches_page
from unspool.app.partial_read import get_session_for_page
from unspool.app.presentation import presentation_page, story_page, story_start
from unspool.app.raw_lines import raw_lines_page
from unspool.app.session_cache import get_session
from unspool.app.session_frame import NO_CACHE, frame_session_page
from unspool.errors import NotFound
from unspool.figures import all_turns
from unspool.model import Image, Json, Notice, Prompt, Session, Text, Thinking, ToolCall, Turn, Unknown
from unspool.render.blocks import RenderPosition, turn_nodes
from unspool.render.markdown import MarkdownImages, render_markdown
from unspool.render.view import Participants, View
from unspool.site.address import INDEX, Addresses, Item
from unspool.site.session_pages import session_page

if TYPE_CHECKING:
    from unspool.app.context import AppContext


_TURN = re.compile(r"(?:branch-(\d{1,6})\.)?turn-(\d{1,9})", re.ASCII)


def session_index(request: Request) -> Response:
    """The first page of a session; with `at`, a way to the page that an anchor stands on."""
    anchor = request.query_params.get("at", "")
    return _leap(request, anchor) if anchor else _page(request, INDEX)


def _leap(request: Request, anchor: str) -> Response:
    """A turn is known by its number; where blocks are, whoever finds them by their lines can tell."""
    turn_at = _TURN.fullmatch(anchor)
    if turn_at is None:
        return RedirectResponse(f"at/{quote(anchor, safe='')}", 303, headers=NO_CACHE)
    desk: AppContext = request.app.state.desk
    addresses = get_session(desk, request.path_params["key"]).addresses(desk.options)
    return RedirectResponse(addresses.turn(int(turn_at[2]), int(turn_at[1] or 0)), 303, headers=NO_CACHE)


def session_inner_page(request: Request) -> Response:
    """Another page of it: of the conversation, a branch, a subagent."""
    return _page(request, request.path_params["path"])


def add_slash(request: Request) -> Response:
    """Links of a page are relative to the session's folder, so its address ends in a slash."""
    return RedirectResponse(f"{request.url.path}/", 308)


def _page(request: Request, path: str) -> Response:
    desk: AppContext = request.app.state.desk
    told = get_session_for_page(desk, request.path_params["key"], path)
    scene = told.scene(desk.options, frame_session_page(told, desk.options, desk.prices, path))
    made = session_page(scene, path)
    if made is None:
        raise NotFound("The session has no such page.")
    return HTMLResponse(made.html.encode("utf-8", "replace"), headers=NO_CACHE)


def wait_until_read(request: Request) -> Response:
    """Answers once all of a session has been read."""
    get_session(request.app.state.desk, request.path_params["key"])
    return JSONResponse({"ready": True}, headers=NO_CACHE)


def last_page(request: Request) -> Response:
    """To the end of the conversation, where a session that goes on is followed."""
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    return RedirectResponse(f"{told.addresses(desk.options).live.leaves[-1].path}#live", 303, headers=NO_CACHE)


MAX_LINKS = 2_000
"""Places that are named; more are only counted."""
MAX_FIND_TEXT = 400
"""Characters that are looked for."""


class FoundInSession(msgspec.Struct, frozen=True):
    """Where words were found: `links` are pages and anchors, of the first blocks; `count` is of all of them."""

    words: str
    count: int
    links: tuple[str, ...]


def find_in_session(session: Session, addresses: Addresses, words: str) -> FoundInSession:
    """The blocks that hold words as they were typed, whatever their case; none where nothing was typed."""
    sought = " ".join(words[:MAX_FIND_TEXT].split()).casefold()
    links: list[str] = []
    count = 0
    for item in _items(session, addresses) if sought else ():
        if any(_holds(text, sought) for text in block_texts(item)):
            count += 1
            if len(links) < MAX_LINKS:
                links.append(addresses.link(item))
    return FoundInSession(sought, count, tuple(links))


def _holds(text: str, sought: str) -> bool:
    """Words that follow one another may stand on two lines."""
    folded = text.casefold()
    return sought in folded or (" " in sought and sought in " ".join(folded.split()))


def _items(session: Session, addresses: Addresses) -> Iterator[Item]:
    """Prompts and blocks: the conversation, its branches, each subagent."""
    agents = (chapter.agent.session for chapter in addresses.agents.values() if chapter.agent is not None)
    for member in (session, *agents):
        for turn in all_turns(member):
            yield from (turn.prompt,) if turn.prompt is not None else ()
            yield from turn.blocks


def block_texts(item: Item) -> Iterator[str]:
    """What a block says, piece by piece."""
    match item:
        case Prompt():
            yield from (f"{item.command} {item.arguments}", item.text, item.plan.text if item.plan else "")
        case Text() | Thinking() | Notice():
            yield item.text
        case ToolCall():
            yield item.name
            yield from _strings(item.input)
            answers = (answer for answer in (*item.earlier, item.result) if answer is not None)
            yield from (text for answer in answers for text in (answer.text, answer.feedback))
        case Image() | Unknown():
            return


def _strings(value: Json) -> Iterator[str]:
    """Every string inside a value, however deep; names of fields are none of them."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as fields:
                waiting.extend(reversed(fields.values()))
            case list() as parts:
                waiting.extend(reversed(parts))


def turn_to_markdown(session: Session, number: int, branch: int = 0) -> str:
    """A turn of the live conversation, or of a branch; NotFound where there is none of that number."""
    turns = session.turns
    if branch:
        turns = next((one.turns for one in session.branches if one.number == branch), ())
    turn = next((one for one in turns if one.number == number), None)
    if turn is None:
        raise NotFound(f"The session has no turn {number}{f' on branch {branch}' if branch else ''}.")
    return _told(session, turn)


def _told(session: Session, turn: Turn) -> str:
    first, *rest = turn_nodes(turn, RenderPosition(View(full=True, branches=False), Participants(session)))
    del first  # its heading is a place in a document that this is not
    return "".join(render_markdown(rest, MarkdownImages("beside", None))).strip() + "\n"


def find_words(request: Request) -> Response:
    """The blocks that hold `q`."""
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    found = find_in_session(told.session, told.addresses(desk.options), request.query_params.get("q", ""))
    return Response(msgspec.json.encode(found), media_type="application/json", headers=NO_CACHE)


def turn_markdown(request: Request) -> Response:
    """One turn, to be pasted elsewhere."""
    given = request.path_params
    told = get_session(request.app.state.desk, given["key"])
    text = turn_to_markdown(told.session, given["number"], given.get("branch", 0))
    return Response(text.encode("utf-8", "replace"), media_type="text/markdown; charset=utf-8", headers=NO_CACHE)


ROUTES = [
    Route("/s/{key}", add_slash),
    Route("/s/{key}/", session_index),
    Route("/s/{key}/ready", wait_until_read),
    Route("/s/{key}/last", last_page),
    Route("/s/{key}/find", find_words),
    Route("/s/{key}/raw", raw_lines_page),
    Route("/s/{key}/present", presentation_page),
    Route("/s/{key}/branches", branches_page),
    Route("/s/{key}/story", story_start),
    Route("/s/{key}/story/{number:int}.html", story_page),
    Route("/s/{key}/turn/{number:int}.md", turn_markdown),
    Route("/s/{key}/turn/{branch:int}/{number:int}.md", turn_markdown),
    Route("/s/{key}/{path}", session_inner_page),
]
