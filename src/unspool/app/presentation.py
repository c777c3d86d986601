"""`/s/{key}/present` and `/s/{key}/story`: one turn at a time, and a chain of sessions read through as one."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession
from unspool.app.render import render_page, render_template
from unspool.app.session_cache import get_session
from unspool.app.session_frame import CHAIN_RELATIONS, NO_CACHE, frame_session_page, render_session_subpage
from unspool.errors import NotFound, UnspoolError
from unspool.model import Turn
from unspool.site.address import Leaf
from unspool.site.options import SiteOptions
from unspool.site.session_view import SessionView
from unspool.site.turn_pages import TurnRenderer, prompt_range, render_turns


class Slide(NamedTuple):
    """A turn on the stage. Numbers of turns that are not there are -1."""

    title: str
    number: int
    at: int
    total: int
    previous: int
    following: int
    leave: str
    """Where the turn is in its page."""
    html: str


def presentation_page(request: Request) -> Response:
    """A turn on the stage; the first that was asked for where none is named."""
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    turns = [turn for turn in told.session.turns if turn.prompt is not None] or list(told.session.turns)
    at = _asked(request.query_params.get("turn", ""), turns)
    scene = told.scene(desk.options, frame_session_page(told, desk.options, desk.prices, ""))
    slide = Slide(
        scene.name,
        turns[at].number,
        at + 1,
        len(turns),
        turns[at - 1].number if at else -1,
        turns[at + 1].number if at + 1 < len(turns) else -1,
        scene.addresses.turn(turns[at].number),
        TurnRenderer(scene).turn(turns[at]),
    )
    body = render_template("present.html", slide=slide)
    return render_page(request, f"{slide.title} · presented", body, (), ("present.css",), ("present.js",))


def _asked(text: str, turns: list[Turn]) -> int:
    """Where the turn that an address names stands."""
    if not turns:
        raise NotFound("The session has no turns to present.")
    if not text:
        return 0
    found = [at for at, turn in enumerate(turns) if str(turn.number) == text]
    if not found:
        raise NotFound("The session has no such turn.")
    return found[0]


MAX_STORY_SESSIONS = 24
"""Sessions of one story."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class StoryPart(NamedTuple):
    """A session of the story; `first` is the number of the page that it begins on."""

    key: str
    title: str
    kind: str
    first: int
    leaves: tuple[Leaf, ...]
    prompts: int
    started: datetime | None

    @property
    def home(self) -> str:
        return f"/s/{quote(self.key, safe='')}/"


def story_start(request: Request) -> Response:
    """The page of the story that a session begins on."""
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    here = next((part for part in story_parts(desk, told) if part.key == told.session.id), None)
    return RedirectResponse(f"story/{here.first if here is not None else 1}.html", 303, headers=NO_CACHE)


def story_page(request: Request) -> Response:
    """A page of the story."""
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    chain, number = story_parts(desk, told), request.path_params["number"]
    part = next((one for one in chain if one.first <= number < one.first + len(one.leaves)), None)
    if part is None:
        raise NotFound("The story has no such page.")
    teller = told if part.key == told.session.id else get_session(desk, part.key)
    leaf = part.leaves[number - part.first]
    frame = frame_session_page(teller, desk.options, desk.prices, "")
    scene = teller.scene(desk.options, frame, part.home)
    body = render_template(
        "story.html",
        chain=chain,
        part=part,
        nth=chain.index(part) + 1,
        begins=number == part.first,
        pages=sum(len(one.leaves) for one in chain),
        number=number,
        what=prompt_range(leaf),
        told="".join(_turns(scene, leaf, f"part-{chain.index(part) + 1}.")),
    )
    rail = render_template("story_rail.html", chain=chain, here=part)
    return render_session_subpage(desk, told, "The whole story", body, ("../",), rail)


def _turns(scene: SessionView, leaf: Leaf, prefix: str) -> Iterator[str]:
    live = scene.addresses.live
    own = next((one for one in live.leaves if one.path.endswith(leaf.path.rpartition("/")[2])), leaf)
    return render_turns(live, own, scene, TurnRenderer(scene, prefix))


def story_parts(desk: AppContext, told: OpenSession) -> list[StoryPart]:
    """The sessions of the chain that one belongs to, in the order they began; those that are gone are left out."""
    found, waiting = {told.session.id: told}, [told]
    while waiting and len(found) < MAX_STORY_SESSIONS:
        for link in waiting.pop().session.links:
            if link.relation in CHAIN_RELATIONS and link.session not in found:
                try:
                    found[link.session] = get_session(desk, link.session)
                except (UnspoolError, OSError):
                    continue
                waiting.append(found[link.session])
    ordered = sorted(found.values(), key=lambda one: (one.session.started or _LONG_AGO, one.session.id))
    return list(_numbered(ordered, desk.options))


def _numbered(ordered: list[OpenSession], options: SiteOptions) -> Iterator[StoryPart]:
    first = 1
    for one in ordered:
        session, scene = one.session, one.scene(options)
        prompts = sum(turn.prompt is not None for turn in session.turns)
        leaves = scene.addresses.live.leaves
        yield StoryPart(session.id, scene.name, session.kind, first, leaves, prompts, session.started)
        first += len(leaves)
