"""Other views of a session: branches beside each other, a presentation, a replay, ways to go on, a chain as a story."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from unspool import human
from unspool.agents import resume_command
from unspool.app.api_endpoint import parse_number
from unspool.app.context import AppContext
from unspool.app.go_on import CommandChoice, fork_command, lighter_copies, ways_to_go_on
from unspool.app.open_session import OpenSession, get_session, requested_session
from unspool.app.render import render_stage, render_template, session_href
from unspool.app.session_frame import CHAIN_RELATIONS, NO_CACHE, frame_session_page, render_session_subpage
from unspool.config.settings import current_settings
from unspool.errors import NotFound, UnspoolError
from unspool.model import Session, Turn
from unspool.site import summaries
from unspool.site.address import Leaf
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
    """Where it is opened by itself."""


class TurnPair(NamedTuple):
    """Turns of one number, as markup; empty where a way has none."""

    number: int
    left: str
    right: str


def branches_page(request: Request) -> Response:
    """The page. `left` and `right` name the ways; the live one and its first branch where nothing is said."""
    context, opened = requested_session(request)
    view = opened.view(context.options, frame_session_page(context, opened))
    ways = _ways(view)
    if len(ways) < 2:
        raise NotFound("The session has one branch, the live one.")
    given = request.query_params
    right = _chosen(given.get("right", ""), ways) or ways[1]
    parent = next((branch.parent for branch in opened.session.branches if branch.number == right.number), 0)
    left = _chosen(given.get("left", ""), ways) or _chosen(str(parent), ways) or ways[0]
    common, numbers, sides = _parted(opened.session, left.number, right.number)
    first = min(parse_number(given.get("from", "")) or 0, max(0, len(numbers) - 1))
    first -= first % ROWS
    body = render_template(
        "sides.html",
        name=view.name,
        ways=ways,
        left=left,
        right=right,
        common=common,
        fork=view.addresses.turn(common.number) if common is not None else "",
        words=summaries.turn_line(common, 120) if common is not None else "",
        pairs=_pairs(view, (left, right), sides, numbers[first : first + ROWS]),
        first=first,
        rows=ROWS,
        total=len(numbers),
    )
    return render_session_subpage(context, opened, "Branches side by side", body)


def _ways(view: SessionView) -> list[BranchChoice]:
    ways = [BranchChoice(0, "The live conversation", view.addresses.live.first)]
    for branch in view.session.branches:
        words = summaries.turn_line(branch.turns[0], 60) if branch.turns else "nothing more"
        name = f"Branch {branch.number}: {words} · {human.count(len(branch.turns), 'prompt')}"
        ways.append(BranchChoice(branch.number, name, view.addresses.branches[branch.number].first))
    return ways


def _chosen(text: str, ways: list[BranchChoice]) -> BranchChoice | None:
    return next((way for way in ways if str(way.number) == text), None)


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
    view: SessionView, ways: tuple[BranchChoice, BranchChoice], sides: tuple[list[Turn], list[Turn]], numbers: list[int]
) -> list[TurnPair]:
    columns = []
    for way, side in zip(ways, sides, strict=True):
        renderer = TurnRenderer(view, view.addresses.branches[way.number].prefix if way.number else "")
        columns.append(["".join(renderer.turn(turn) for turn in side if turn.number == number) for number in numbers])
    return [TurnPair(*row) for row in zip(numbers, *columns, strict=True)]


def presentation_page(request: Request) -> Response:
    """A turn on the stage; the first that was asked for where none is named."""
    context, opened = requested_session(request)
    turns = [turn for turn in opened.session.turns if turn.prompt is not None] or list(opened.session.turns)
    wanted = request.query_params.get("turn", "")
    at = next((at for at, turn in enumerate(turns) if wanted in ("", str(turn.number))), None)
    if at is None:
        raise NotFound("The session has no such turn." if turns else "The session has no turns to present.")
    view = opened.view(context.options, frame_session_page(context, opened))
    body = render_template(
        "present.html",
        title=view.name,
        number=turns[at].number,
        at=at + 1,
        total=len(turns),
        previous=turns[at - 1].number if at else -1,
        following=turns[at + 1].number if at + 1 < len(turns) else -1,
        leave=view.addresses.turn(turns[at].number),
        html=TurnRenderer(view).turn(turns[at]),
    )
    return render_stage(request, f"{view.name} · presented", body, ("present.css",), ("present.js",))


class ReplayLeaf(NamedTuple):
    """A page, and when its steps happened: milliseconds of the first one, and how many later each other came."""

    href: str
    times: str


def replay_page(request: Request) -> Response:
    """The session played as it happened; its pages are fetched one after the other."""
    context, opened = requested_session(request)
    if not opened.session.turns:
        raise NotFound("The session has no turns to replay.")
    view = opened.view(context.options)
    leaves = [ReplayLeaf(leaf.path, " ".join(map(str, _moments(leaf)))) for leaf in view.addresses.live.leaves]
    body = render_template("replay.html", title=view.name, leaves=leaves, hide=current_settings().hide)
    return render_stage(request, f"{view.name} · replay", body, (), ("replay.js",))


def _moments(leaf: Leaf) -> Iterator[int]:
    # of what was copied from another session only a line is shown
    items = (item for turn in leaf.turns for item in (turn.prompt, *(() if turn.copied else turn.blocks)))
    times = sorted(round(item.time.timestamp() * 1000) for item in items if item is not None and item.time is not None)
    yield from times[:1]
    yield from (later - earlier for earlier, later in pairwise(times))


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
        return session_href(self.key)


def story_start(request: Request) -> Response:
    """Leads to the page of the story that a session begins on."""
    context, opened = requested_session(request)
    here = next((part for part in story_parts(context, opened) if part.key == opened.key), None)
    return RedirectResponse(f"story/{here.first if here is not None else 1}.html", 303, headers=NO_CACHE)


def story_page(request: Request) -> Response:
    context, opened = requested_session(request)
    chain, number = story_parts(context, opened), request.path_params["number"]
    part = next((one for one in chain if one.first <= number < one.first + len(one.leaves)), None)
    if part is None:
        raise NotFound("The story has no such page.")
    shown = opened if part.key == opened.key else get_session(context, part.key)
    view = shown.view(context.options, frame_session_page(context, shown), part.home)
    leaf = part.leaves[number - part.first]
    live = view.addresses.live
    own = next((one for one in live.leaves if one.path.endswith(leaf.path.rpartition("/")[2])), leaf)
    nth = chain.index(part) + 1
    body = render_template(
        "story.html",
        chain=chain,
        part=part,
        nth=nth,
        begins=number == part.first,
        pages=sum(len(one.leaves) for one in chain),
        number=number,
        what=prompt_range(leaf),
        turns="".join(render_turns(live, own, view, TurnRenderer(view, f"part-{nth}."))),
    )
    rail = render_template("story_rail.html", chain=chain, here=part)
    return render_session_subpage(context, opened, "The whole story", body, "../", rail)


def story_parts(context: AppContext, opened: OpenSession) -> list[StoryPart]:
    """The sessions of the chain that one belongs to, in the order they began; those that are gone are left out."""
    found, waiting, agent = {opened.session.id: opened}, [opened], opened.found.agent_id
    while waiting and len(found) < MAX_STORY_SESSIONS:
        for link in waiting.pop().session.links:
            if link.relation in CHAIN_RELATIONS and link.session not in found:
                try:
                    found[link.session] = get_session(context, context.session_key(agent, link.session))
                except (UnspoolError, OSError):
                    continue
                waiting.append(found[link.session])
    parts, first = [], 1
    for one in sorted(found.values(), key=lambda one: (one.session.started or _LONG_AGO, one.session.id)):
        session, view = one.session, one.view(context.options)
        prompts = sum(turn.prompt is not None for turn in session.turns)
        leaves = view.addresses.live.leaves
        parts.append(StoryPart(one.key, view.name, session.kind, first, leaves, prompts, session.started))
        first += len(leaves)
    return parts


def resume_page(request: Request) -> HTMLResponse:
    """All ways to go on with a session; `part=lighter` gives the lighter copies alone."""
    context, opened = requested_session(request)
    lighter = lighter_copies(context, opened) if fork_command(opened) else None
    if request.query_params.get("part") == "lighter":
        return HTMLResponse(render_template("lighter.html", lighter=lighter), headers=NO_CACHE)
    resume = resume_command(opened.found.agent_id, opened.session.id, opened.session.cwd)
    ways = (*((CommandChoice("Resume", resume),) if resume else ()), *ways_to_go_on(opened))
    return render_session_subpage(context, opened, "Go on", render_template("resume.html", ways=ways, lighter=lighter))
