"""The page on which a person looks through what was found, and chooses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool.app.reading.held import reading
from unspool.app.render import HOME, page, render
from unspool.app.sharing.findings import Ruled, ruled, told
from unspool.app.sharing.offers import offer
from unspool.app.sharing.parts import parts
from unspool.app.sharing.table import rule_set, table_of
from unspool.app.sharing.turns import rows, summed
from unspool.app.sharing.wish import Wish
from unspool.errors import UnspoolError
from unspool.site.brief import flat
from unspool.site.frame import Crumb

if TYPE_CHECKING:
    from unspool.app.desk import Desk


class _Judged(NamedTuple):
    """What was found by rule, and the other sessions of the share, or why nothing can be shared as it is chosen."""

    rules: Sequence[Ruled] = ()
    chain: Sequence[tuple[str, str]] = ()
    """Place in the preview, and title."""
    problem: str = ""


def review(request: Request) -> HTMLResponse:
    """Everything found in a session, and what is chosen for it."""
    desk: Desk = request.app.state.desk
    original = reading(desk, request.path_params["key"])
    session = original.session
    wish = table_of(desk).wish(session.id, session.cwd)
    judged = _judged(desk, session.id, wish)
    turns = rows(original, wish.choices, desk.options)
    body = render(
        "share.html",
        here=f"/s/{quote(session.id, safe='')}/share",
        title=flat(session.title, 160),
        problem=judged.problem,
        rules=judged.rules,
        told=told(judged.rules),
        chain=judged.chain,
        version=rule_set().version,
        kinds=parts(session, wish.choices),
        turns=turns,
        turns_told=summed(turns),
        wish=wish,
        offer=offer(session),
        read_only=request.app.state.read_only,
    )
    crumbs = (HOME, Crumb(flat(session.title, 120), f"s/{quote(session.id, safe='')}/"))
    return page(request, "Share", body, crumbs, ("app.css", "share.css"), ("share.js",))


def _judged(desk: "Desk", key: str, wish: Wish) -> _Judged:
    try:
        looked = table_of(desk).found(desk, key, wish)
    except UnspoolError as error:
        return _Judged(problem=str(error))
    chain = [(one.place, flat(one.reading.session.title, 80) or "Untitled session") for one in looked.told[1:]]
    return _Judged(ruled(looked, wish.choices, desk.options), chain)
