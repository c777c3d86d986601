"""The page of the lines behind a block."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from unspool.app.reading import raw
from unspool.app.reading.frames import FRESH
from unspool.app.reading.held import reading
from unspool.app.render import HOME, page, render
from unspool.site.frame import Crumb

if TYPE_CHECKING:
    from unspool.app.desk import Desk


def raw_line(request: Request) -> Response:
    """The lines behind a block, laid out; with `exact`, their very bytes."""
    desk: Desk = request.app.state.desk
    told = reading(desk, request.path_params["key"])
    found, back = raw.lines(desk, told, request.query_params.get("block", ""))
    if "exact" in request.query_params:
        whole = b"\n".join(line.raw.removesuffix(b"\n") for line in found) + b"\n"
        headers = {**FRESH, "Content-Disposition": 'attachment; filename="lines.jsonl"'}
        return PlainTextResponse(whole, headers=headers)
    body = render("raw.html", lines=found, log=found[0].log, back=back, anchor=request.query_params["block"])
    crumbs = (HOME, Crumb(told.session.title[:120], f"s/{quote(told.session.id, safe='')}/"))
    return page(request, "Raw lines", body, crumbs, ("read.css",))
