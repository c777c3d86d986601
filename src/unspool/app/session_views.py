"""Other views of a session: branches beside each other, and a presentation."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool import human
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession, get_session
from unspool.app.render import render_page, render_template
from unspool.app.session_frame import CHAIN_RELATIONS, NO_CACHE, frame_session_page, render_session_subpage
from unspool.errors import NotFound, UnspoolError
from unspool.model import Session, Turn
from unspool.site import summaries
from unspool.site.address import Leaf
from unspool.site.options import SiteOptions
from unspool.site.session_view import SessionView
from unspool.site.turn_layout import TurnRenderer
from unspool.site.turn_pages import prompt_range, render_turns

ROWS = 10
"""Pairs of turns on a page."""


class BranchChoice(NamedTuple):
    """A way that can be chosen; 0 is the live one."""

    number: int
    name: str
    href: str
    """Where it is told by itself."""


class TurnPair(NamedTuple):
    """Turns of one number, as markup; empty where a way has none."""

    number: int
    left: str
    right: str


def branches_page(request: Request) -> Response:
    """The page. `left` and `right` name the ways; the live one and its first branch where nothing is said."""
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    view = told.view(context.options, frame_session_page(told, context.options, context.prices, ""))
    ways = _ways(view)
    if len(ways) < 2:
        raise NotFound("The session has one branch, the live one.")
    given = request.query_params
    right = _chosen(given.get("right", ""), ways) or ways[1]
    left = _chosen(given.get("left", ""), ways) or _chosen(str(_parent(told.session, right.number)), ways) or ways[0]
    common, numbers, sides = _parted(told.session, left.number, right.number)
    first = min(_number(given.get("from", "")), max(0, len(numbers) - 1))
    first -= first % ROWS
    body = render_template(
        "sides.html",
        name=view.name,
        ways=ways,
        left=left,
        right=right,
        common=common,
        fork=view.addresses.turn(common.number) if common is not None else "",
        words=summaries.prompt_line(common.prompt, 120) if common is not None else "",
        pairs=_pairs(view, (left, right), sides, numbers[first : first + ROWS]),
        first=first,
        rows=ROWS,
        total=len(numbers),
    )
    return render_session_subpage(context, told, "Branches side by side", body)


def _ways(view: SessionView) -> list[BranchChoice]:
    ways = [BranchChoice(0, "The live conversation", view.addresses.live.first)]
    for branch in view.session.branches:
        first = branch.turns[0].prompt if branch.turns else None
        words = summaries.prompt_line(first, 60) if first is not None else "another answer"
        name = f"Branch {branch.number}: {words} · {human.count(len(branch.turns), 'turn')}"
        ways.append(BranchChoice(branch.number, name, view.addresses.branches[branch.number].first))
    return ways


def _chosen(text: str, ways: list[BranchChoice]) -> BranchChoice | None:
    return next((way for way in ways if str(way.number) == text), None)


def _parent(session: Session, number: int) -> int:
    return next((branch.parent for branch in session.branches if branch.number == number), 0)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _path(session: Session, number: int) -> list[Turn]:
    """All turns of a way from the session's first one on."""
    known = {branch.number: branch for branch in session.branches}
    turns: list[Turn] = []
    most, seen = 1 << 60, set[int]()
    while number in known and number not in seen:
        branch = known[number]
        seen.add(number)
        turns = [turn for turn in branch.turns if turn.number < most] + turns
        # an answer that was asked for again stands in the turn it leaves from
        most, number = min(most, branch.after + 1, *(turn.number for turn in branch.turns)), branch.parent
    return [turn for turn in session.turns if turn.number < most] + turns


def _parted(session: Session, left: int, right: int) -> tuple[Turn | None, list[int], tuple[list[Turn], list[Turn]]]:
    """The last turn that two ways have in common, the numbers that follow, and the turns of each from there."""
    one, other = _path(session, left), _path(session, right)
    same = 0
    while same < min(len(one), len(other)) and one[same] is other[same]:
        same += 1
    sides = one[same:], other[same:]
    return (one[same - 1] if same else None), sorted({turn.number for side in sides for turn in side}), sides


def _pairs(
    view: SessionView,
    ways: tuple[BranchChoice, BranchChoice],
    sides: tuple[list[Turn], list[Turn]],
    numbers: list[int],
) -> list[TurnPair]:
    tell = [TurnRenderer(view, view.addresses.branches[way.number].prefix if way.number else "") for way in ways]
    made: list[dict[int, str]] = [{}, {}]
    for at, side in enumerate(sides):
        for turn in side:
            if turn.number in numbers:
                made[at][turn.number] = made[at].get(turn.number, "") + tell[at].turn(turn)
    return [TurnPair(number, made[0].get(number, ""), made[1].get(number, "")) for number in numbers]


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
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    turns = [turn for turn in told.session.turns if turn.prompt is not None] or list(told.session.turns)
    at = _asked(request.query_params.get("turn", ""), turns)
    view = told.view(context.options, frame_session_page(told, context.options, context.prices, ""))
    slide = Slide(
        view.name,
        turns[at].number,
        at + 1,
        len(turns),
        turns[at - 1].number if at else -1,
        turns[at + 1].number if at + 1 < len(turns) else -1,
        view.addresses.turn(turns[at].number),
        TurnRenderer(view).turn(turns[at]),
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
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    here = next((part for part in story_parts(context, told) if part.key == told.session.id), None)
    return RedirectResponse(f"story/{here.first if here is not None else 1}.html", 303, headers=NO_CACHE)


def story_page(request: Request) -> Response:
    """A page of the story."""
    context: AppContext = request.app.state.context
    told = get_session(context, request.path_params["key"])
    chain, number = story_parts(context, told), request.path_params["number"]
    part = next((one for one in chain if one.first <= number < one.first + len(one.leaves)), None)
    if part is None:
        raise NotFound("The story has no such page.")
    teller = told if part.key == told.session.id else get_session(context, part.key)
    leaf = part.leaves[number - part.first]
    frame = frame_session_page(teller, context.options, context.prices, "")
    view = teller.view(context.options, frame, part.home)
    body = render_template(
        "story.html",
        chain=chain,
        part=part,
        nth=chain.index(part) + 1,
        begins=number == part.first,
        pages=sum(len(one.leaves) for one in chain),
        number=number,
        what=prompt_range(leaf),
        told="".join(_turns(view, leaf, f"part-{chain.index(part) + 1}.")),
    )
    rail = render_template("story_rail.html", chain=chain, here=part)
    return render_session_subpage(context, told, "The whole story", body, ("../",), rail)


def _turns(view: SessionView, leaf: Leaf, prefix: str) -> Iterator[str]:
    live = view.addresses.live
    own = next((one for one in live.leaves if one.path.endswith(leaf.path.rpartition("/")[2])), leaf)
    return render_turns(live, own, view, TurnRenderer(view, prefix))


def story_parts(context: AppContext, told: OpenSession) -> list[StoryPart]:
    """The sessions of the chain that one belongs to, in the order they began; those that are gone are left out."""
    found, waiting = {told.session.id: told}, [told]
    while waiting and len(found) < MAX_STORY_SESSIONS:
        for link in waiting.pop().session.links:
            if link.relation in CHAIN_RELATIONS and link.session not in found:
                try:
                    found[link.session] = get_session(context, link.session)
                except (UnspoolError, OSError):
                    continue
                waiting.append(found[link.session])
    ordered = sorted(found.values(), key=lambda one: (one.session.started or _LONG_AGO, one.session.id))
    return list(_numbered(ordered, context.options))


def _numbered(ordered: list[OpenSession], options: SiteOptions) -> Iterator[StoryPart]:
    first = 1
    for one in ordered:
        session, view = one.session, one.view(options)
        prompts = sum(turn.prompt is not None for turn in session.turns)
        leaves = view.addresses.live.leaves
        yield StoryPart(session.id, view.name, session.kind, first, leaves, prompts, session.started)
        first += len(leaves)
