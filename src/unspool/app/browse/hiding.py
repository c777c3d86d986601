"""Projects that a person wants to see no more, for now."""

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from unspool.app.browse.projects import found
from unspool.app.browse.shelf import Shelf
from unspool.app.desk import Desk
from unspool.app.forms import done, fields
from unspool.app.marks.desk import marks_of


async def hide(request: Request) -> Response:
    """Take a project out of the lists, or put it back."""
    sent, slug = await fields(request), request.path_params["slug"]
    hidden = sent.get("hidden") == "1"
    await run_sync(_hide, request.app.state.desk, slug, hidden)
    return done(request, sent, "/projects", {"hidden": hidden})


def _hide(desk: Desk, slug: str, hidden: bool) -> None:
    with desk.index() as index:
        path = found(Shelf.of(index.db), slug).path
    marks_of(desk).hide(path, hidden)
