"""The routes of a session: its pages, words found in it, a turn as Markdown."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool.agents import FoundLog
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, requested_session, results_of, session_items
from unspool.app.partial_read import get_session_for_page
from unspool.app.render import render_page, render_template, session_crumbs
from unspool.app.session_frame import NO_CACHE, add_slash, frame_session_page, html_response
from unspool.app.session_views import (
    branches_page,
    presentation_page,
    replay_page,
    resume_page,
    story_page,
    story_start,
)
from unspool.errors import NotFound
from unspool.figures import family
from unspool.model import Image, Json, Notice, Place, Prompt, Session, Text, Thinking, ToolCall, Unknown
from unspool.render.markdown import MarkdownImages, render_markdown
from unspool.render.transcript import turn_nodes
from unspool.render.turns import RenderContext
from unspool.render.view import View
from unspool.site.address import INDEX, Addresses, Item
from unspool.site.png import NEEDED, to_png
from unspool.site.story_card import story_card
from unspool.site.turn_pages import session_page
from unspool.store.library.inputs import hold_stream, open_log

_LONGEST = 4_000
"""Characters of one string that are shown; the whole line can be had as it is."""
_PART = 1 << 20


class RawLine(NamedTuple):
    log: str
    place: Place
    what: str
    raw: bytes

    @property
    def pretty(self) -> str:
        """The line laid out; as it is where it holds no JSON. Endless strings are cut, and say so."""
        try:
            data = msgspec.json.decode(self.raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self.raw.decode("utf-8", "replace")
        return msgspec.json.format(msgspec.json.encode(_short(data)), indent=2).decode()


def lines_of_block(context: AppContext, opened: OpenSession, anchor: str) -> tuple[list[RawLine], str]:
    """The lines behind a block or prompt, by its anchor, with those of a call's answers; and where it is opened."""
    addresses = opened.addresses(context.options)
    owner, item = _item(opened.session, addresses, anchor)
    places = {item.place: "Line"}
    for answer in results_of(item):
        places.setdefault(answer.place, "Answer on line")
    with _log(context, opened.found, owner) as stream:
        ordered = sorted(places, key=lambda place: place.offset)
        found = [RawLine(owner.log.path, place, places[place], _read(stream, place)) for place in ordered]
    return found, addresses.link(item)


def _item(session: Session, addresses: Addresses, anchor: str) -> tuple[Session, Item]:
    """Whose block has an anchor; the address is only ever compared, so it can name nothing else."""
    for member in family(session):
        for item in session_items(member):
            if addresses.anchor(item) == anchor:
                return member, item
    raise NotFound("The session has no such block.")


@contextmanager
def _log(context: AppContext, found: FoundLog, owner: Session) -> Iterator[BinaryIO]:
    """The log of a session or subagent at its start, from its place or from the archive."""
    if not found.origin:
        with open_log(owner.log.path) as stream:
            yield stream
        return
    with context.archive() as archive:
        inside = Path(owner.log.path).relative_to(found.root).as_posix()
        kept = archive.last(found.origin, inside)
        if kept is None:
            raise NotFound("The archive holds no such log.")
        with hold_stream(archive.read(kept.generation)) as stream:
            yield stream


def _read(stream: BinaryIO, place: Place) -> bytes:
    """The bytes at a place of a stream that stands before it; packed streams cannot leap."""
    if stream.seekable():
        stream.seek(place.offset)
    while (left := place.offset - stream.tell()) > 0 and stream.read(min(left, _PART)):
        pass
    return stream.read(place.size)


def _short(value: Json) -> Json:
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}… ({len(value) - _LONGEST:,} more characters)"
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    return [_short(inner) for inner in value] if isinstance(value, list) else value


def raw_lines_page(request: Request) -> Response:
    """The lines behind a block, laid out; with `exact`, their very bytes."""
    context, opened = requested_session(request)
    found, back = lines_of_block(context, opened, request.query_params.get("block", ""))
    if "exact" in request.query_params:
        whole = b"\n".join(line.raw.removesuffix(b"\n") for line in found) + b"\n"
        headers = {**NO_CACHE, "Content-Disposition": 'attachment; filename="lines.jsonl"'}
        return PlainTextResponse(whole, headers=headers)
    body = render_template("raw.html", lines=found, log=found[0].log, back=back, anchor=request.query_params["block"])
    return render_page(request, "Raw lines", body, session_crumbs(opened.key, opened.session), ("read.css",))


_TURN = re.compile(r"(?:branch-(\d{1,6})\.)?turn-(\d{1,9})", re.ASCII)


def session_index(request: Request) -> Response:
    """The first page of a session; with `at`, a way to the page that an anchor stands on."""
    anchor = request.query_params.get("at", "")
    if not anchor:
        return session_inner_page(request)
    turn_at = _TURN.fullmatch(anchor)
    if turn_at is None:  # where blocks are, whoever finds them by their lines can tell
        return RedirectResponse(f"at/{quote(anchor, safe='')}", 303, headers=NO_CACHE)
    context, opened = requested_session(request)
    href = opened.addresses(context.options).turn(int(turn_at[2]), int(turn_at[1] or 0))
    return RedirectResponse(href, 303, headers=NO_CACHE)


def session_inner_page(request: Request) -> Response:
    """A page of it: the first, or another of the conversation, a branch, a subagent."""
    context: AppContext = request.app.state.context
    path = request.path_params.get("path", INDEX)
    opened = get_session_for_page(context, request.path_params["key"], path)
    made = session_page(opened.view(context.options, frame_session_page(context, opened, path)), path)
    if made is None:
        raise NotFound("The session has no such page.")
    return html_response(made.html)


def wait_until_read(request: Request) -> Response:
    """Answers once all of a session has been read."""
    requested_session(request)
    return JSONResponse({"ready": True}, headers=NO_CACHE)


def last_page(request: Request) -> Response:
    """To the end of the conversation, where a session that goes on is followed."""
    context, opened = requested_session(request)
    return RedirectResponse(f"{opened.addresses(context.options).live.leaves[-1].path}#live", 303, headers=NO_CACHE)


MAX_LINKS = 2_000
"""Places that are named; more are only counted."""
MAX_FIND_TEXT = 400
"""Characters that are looked for."""


class FoundInSession(msgspec.Struct, frozen=True):
    """Where words were found: `links` are pages and anchors, of the first blocks; `count` is of all of them."""

    words: str
    count: int
    links: tuple[str, ...]
    places: tuple[int, ...] = ()
    """How often they stand in each of these blocks."""
    total: int = 0
    """How often they stand in all blocks."""


def find_in_session(session: Session, addresses: Addresses, words: str) -> FoundInSession:
    """The blocks that hold words as they were typed, whatever their case; none where nothing was typed."""
    sought = " ".join(words[:MAX_FIND_TEXT].split()).casefold()
    agents = (chapter.agent.session for chapter in addresses.agents.values() if chapter.agent is not None)
    found = [
        (item, number)
        for member in ((session, *agents) if sought else ())
        for item in session_items(member)
        if (number := sum(_places(text.casefold(), sought) for text in block_texts(item)))
    ]
    links = tuple(addresses.link(item) for item, _ in found[:MAX_LINKS])
    places = [number for _, number in found]
    return FoundInSession(sought, len(found), links, tuple(places[:MAX_LINKS]), sum(places))


def _places(text: str, sought: str) -> int:
    """How often words stand in a text; those that follow one another may stand on two lines."""
    return text.count(sought) or (" ".join(text.split()).count(sought) if " " in sought else 0)


def block_texts(item: Item) -> Iterator[str]:
    match item:
        case Prompt():
            yield from (f"{item.command} {item.arguments}", item.text, item.plan.text if item.plan else "")
        case Text() | Thinking() | Notice():
            yield item.text
        case ToolCall():
            yield item.name
            yield from _strings(item.input)
            yield from (text for answer in results_of(item) for text in (answer.text, answer.feedback))
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
    context = RenderContext.of(session, View(full=True, branches=False))
    first, *rest = turn_nodes(turn, context, late=[])
    del first  # its heading is a place in a document that this is not
    return "".join(render_markdown(rest, MarkdownImages("beside", None))).strip() + "\n"


def find_words(request: Request) -> Response:
    context, opened = requested_session(request)
    found = find_in_session(opened.session, opened.addresses(context.options), request.query_params.get("q", ""))
    return Response(msgspec.json.encode(found), media_type="application/json", headers=NO_CACHE)


def turn_markdown(request: Request) -> Response:
    (_, opened), given = requested_session(request), request.path_params
    text = turn_to_markdown(opened.session, given["number"], given.get("branch", 0))
    return Response(text.encode("utf-8", "replace"), media_type="text/markdown; charset=utf-8", headers=NO_CACHE)


def story_picture(request: Request) -> Response:
    """The story of a session as a picture to keep."""
    context, opened = requested_session(request)
    drawn, png = story_card(opened.view(context.options)), request.url.path.endswith(".png")
    data = to_png(drawn) if png else drawn
    if data is None:
        raise NotFound(NEEDED)
    name = f'attachment; filename="{re.sub(r"[^A-Za-z0-9-]", "_", opened.session.id)[:40]}.{"png" if png else "svg"}"'
    headers = {**NO_CACHE, "Content-Disposition": name}
    return Response(data, media_type="image/png" if png else "image/svg+xml", headers=headers)


ROUTES = [
    Route("/s/{key}", add_slash),
    Route("/s/{key}/card.svg", story_picture),
    Route("/s/{key}/card.png", story_picture),
    Route("/s/{key}/", session_index),
    Route("/s/{key}/ready", wait_until_read),
    Route("/s/{key}/last", last_page),
    Route("/s/{key}/find", find_words),
    Route("/s/{key}/raw", raw_lines_page),
    Route("/s/{key}/present", presentation_page),
    Route("/s/{key}/replay", replay_page),
    Route("/s/{key}/branches", branches_page),
    Route("/s/{key}/resume", resume_page),
    Route("/s/{key}/story", story_start),
    Route("/s/{key}/story/{number:int}.html", story_page),
    Route("/s/{key}/turn/{number:int}.md", turn_markdown),
    Route("/s/{key}/turn/{branch:int}/{number:int}.md", turn_markdown),
    Route("/s/{key}/{path}", session_inner_page),
]
