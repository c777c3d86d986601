"""A chain of sessions as one story: planning, implementation, further work, read through in order.

Each page of it is a page of one of the sessions, under the name of that session where a new one begins. Its turns are
those of the session's own page, with links that lead there.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.app.desk import Desk
from unspool.app.reading.extras import CHAIN, framed
from unspool.app.reading.frames import FRESH, told_page
from unspool.app.reading.held import reading
from unspool.app.reading.told import Reading
from unspool.app.render import render
from unspool.errors import NotFound, UnspoolError
from unspool.site.address import Leaf
from unspool.site.chapters import spanned, tell
from unspool.site.options import SiteOptions
from unspool.site.scene import Scene
from unspool.site.turns import Narrator

MOST = 24
"""Sessions of one story."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Part(NamedTuple):
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


def first_page(request: Request) -> Response:
    """The page of the story that a session begins on."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    here = next((part for part in parts(desk, told) if part.key == told.session.id), None)
    return RedirectResponse(f"story/{here.first if here is not None else 1}.html", 303, headers=FRESH)


def story(request: Request) -> Response:
    """A page of the story."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    chain, number = parts(desk, told), request.path_params["number"]
    part = next((one for one in chain if one.first <= number < one.first + len(one.leaves)), None)
    if part is None:
        raise NotFound("The story has no such page.")
    teller = told if part.key == told.session.id else reading(desk, part.key)
    leaf = part.leaves[number - part.first]
    frame = framed(teller, desk.options, desk.prices, "")
    scene = teller.scene(desk.options, frame, part.home)
    body = render(
        "story.html",
        chain=chain,
        part=part,
        nth=chain.index(part) + 1,
        begins=number == part.first,
        pages=sum(len(one.leaves) for one in chain),
        number=number,
        what=spanned(leaf),
        told="".join(_turns(scene, leaf, f"part-{chain.index(part) + 1}.")),
    )
    rail = render("story_rail.html", chain=chain, here=part)
    return told_page(desk, told, "The whole story", body, ("../",), rail)


def _turns(scene: Scene, leaf: Leaf, prefix: str) -> Iterator[str]:
    live = scene.addresses.live
    own = next((one for one in live.leaves if one.path.endswith(leaf.path.rpartition("/")[2])), leaf)
    return tell(live, own, scene, Narrator(scene, prefix))


def parts(desk: Desk, told: Reading) -> list[Part]:
    """The sessions of the chain that one belongs to, in the order they began; those that are gone are left out."""
    found, waiting = {told.session.id: told}, [told]
    while waiting and len(found) < MOST:
        for link in waiting.pop().session.links:
            if link.relation in CHAIN and link.session not in found:
                try:
                    found[link.session] = reading(desk, link.session)
                except (UnspoolError, OSError):
                    continue
                waiting.append(found[link.session])
    ordered = sorted(found.values(), key=lambda one: (one.session.started or _LONG_AGO, one.session.id))
    return list(_numbered(ordered, desk.options))


def _numbered(ordered: list[Reading], options: SiteOptions) -> Iterator[Part]:
    first = 1
    for one in ordered:
        session, scene = one.session, one.scene(options)
        prompts = sum(turn.prompt is not None for turn in session.turns)
        leaves = scene.addresses.live.leaves
        yield Part(session.id, scene.name, session.kind, first, leaves, prompts, session.started)
        first += len(leaves)
