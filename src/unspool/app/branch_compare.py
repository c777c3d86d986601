"""Two ways that a conversation went, side by side from where they part: `/s/{key}/branches`."""

from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from unspool import human
from unspool.app.render import render_template
from unspool.app.session_cache import get_session
from unspool.app.session_frame import frame_session_page, render_session_subpage
from unspool.errors import NotFound
from unspool.model import Session, Turn
from unspool.site import summaries
from unspool.site.session_view import SessionView
from unspool.site.turn_pages import TurnRenderer

if TYPE_CHECKING:
    from unspool.app.context import AppContext

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
    desk: AppContext = request.app.state.desk
    told = get_session(desk, request.path_params["key"])
    scene = told.scene(desk.options, frame_session_page(told, desk.options, desk.prices, ""))
    ways = _ways(scene)
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
        name=scene.name,
        ways=ways,
        left=left,
        right=right,
        common=common,
        fork=scene.addresses.turn(common.number) if common is not None else "",
        words=summaries.prompt_line(common.prompt, 120) if common is not None else "",
        pairs=_pairs(scene, (left, right), sides, numbers[first : first + ROWS]),
        first=first,
        rows=ROWS,
        total=len(numbers),
    )
    return render_session_subpage(desk, told, "Branches side by side", body)


def _ways(scene: SessionView) -> list[BranchChoice]:
    ways = [BranchChoice(0, "The live conversation", scene.addresses.live.first)]
    for branch in scene.session.branches:
        first = branch.turns[0].prompt if branch.turns else None
        words = summaries.prompt_line(first, 60) if first is not None else "another answer"
        name = f"Branch {branch.number}: {words} · {human.count(len(branch.turns), 'turn')}"
        ways.append(BranchChoice(branch.number, name, scene.addresses.branches[branch.number].first))
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
    scene: SessionView,
    ways: tuple[BranchChoice, BranchChoice],
    sides: tuple[list[Turn], list[Turn]],
    numbers: list[int],
) -> list[TurnPair]:
    tell = [TurnRenderer(scene, scene.addresses.branches[way.number].prefix if way.number else "") for way in ways]
    made: list[dict[int, str]] = [{}, {}]
    for at, side in enumerate(sides):
        for turn in side:
            if turn.number in numbers:
                made[at][turn.number] = made[at].get(turn.number, "") + tell[at].turn(turn)
    return [TurnPair(number, made[0].get(number, ""), made[1].get(number, "")) for number in numbers]
