"""Who did what, for admins."""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub
from unspool.hub.people import audit_list
from unspool.hub.people.audit_list import Filters
from unspool.hub.web.render import page

_PAGE = 100
_ASKED = ("person", "what", "target", "outcome")


def audit(request: Request) -> Response:
    """The newest lines that fit."""
    asked = {name: request.query_params.get(name, "").strip() for name in _ASKED}
    before = request.query_params.get("before", "")
    wanted = Filters(asked["person"], asked["what"], asked["target"], asked["outcome"])
    filters = wanted._replace(before=int(before[:18]) if before.isdecimal() else None)
    lines = audit_list.listed(hub(request).store.db, filters, _PAGE + 1)
    more = ""
    if len(lines) > _PAGE:
        given = {name: value for name, value in asked.items() if value}
        more = f"/audit?{urlencode({**given, 'before': str(lines[_PAGE - 1].seq)})}"
    return page(request, "Audit", "audit.html", asked=asked, lines=lines[:_PAGE], more=more)
