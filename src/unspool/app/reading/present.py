"""A session shown to others: one turn at a time, as its page tells it, with the way to those before and after."""

from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from unspool.app.reading.extras import framed
from unspool.app.reading.held import reading
from unspool.app.render import page, render
from unspool.errors import NotFound
from unspool.model import Turn
from unspool.site.turns import Narrator

if TYPE_CHECKING:
    from unspool.app.desk import Desk


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


def present(request: Request) -> Response:
    """A turn on the stage; the first that was asked for where none is named."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    turns = [turn for turn in told.session.turns if turn.prompt is not None] or list(told.session.turns)
    at = _asked(request.query_params.get("turn", ""), turns)
    scene = told.scene(desk.options, framed(told, desk.options, desk.prices, ""))
    slide = Slide(
        scene.name,
        turns[at].number,
        at + 1,
        len(turns),
        turns[at - 1].number if at else -1,
        turns[at + 1].number if at + 1 < len(turns) else -1,
        scene.addresses.turn(turns[at].number),
        Narrator(scene).turn(turns[at]),
    )
    body = render("present.html", slide=slide)
    return page(request, f"{slide.title} · presented", body, (), ("present.css",), ("present.js",))


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
