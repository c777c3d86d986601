"""The page on which a person looks through what was found, and chooses."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool.app.reading.held import reading
from unspool.app.render import HOME, page, render
from unspool.app.sharing.decide import LONGEST
from unspool.app.sharing.findings import judged, told
from unspool.app.sharing.offers import offer
from unspool.app.sharing.parts import parts
from unspool.app.sharing.table import rule_set, table_of
from unspool.app.sharing.turns import rows, summed
from unspool.site.brief import flat
from unspool.site.frame import Crumb

if TYPE_CHECKING:
    from unspool.app.desk import Desk


def review(request: Request) -> HTMLResponse:
    """Everything found in a session, and what is chosen for it."""
    desk: Desk = request.app.state.desk
    original = reading(desk, request.path_params["key"])
    session = original.session
    wish = table_of(desk).wish(session.id, session.cwd)
    rules, problem = judged(desk, session.id, wish)
    turns = rows(original, wish.choices, desk.options)
    body = render(
        "share.html",
        here=f"/s/{quote(session.id, safe='')}/share",
        title=flat(session.title, 160),
        problem=problem,
        rules=rules,
        told=told(rules),
        version=rule_set().version,
        kinds=parts(session, wish.choices),
        turns=turns,
        turns_told=summed(turns),
        wish=wish,
        longest=LONGEST,
        offer=offer(session),
        read_only=request.app.state.read_only,
    )
    crumbs = (HOME, Crumb(flat(session.title, 120), f"s/{quote(session.id, safe='')}/"))
    return page(request, "Share", body, crumbs, ("app.css", "share.css"), ("share.js",))
