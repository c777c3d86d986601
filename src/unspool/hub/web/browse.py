"""The team's sessions for people: the first page, lists, search, usage, the story of a change."""

from typing import get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import projects
from unspool.hub.people.tokens import READING
from unspool.hub.sessions import listing
from unspool.hub.sessions.asking import Span, span
from unspool.hub.sessions.search import search
from unspool.hub.sessions.story import story as told
from unspool.hub.sessions.usage import By, usage
from unspool.hub.trouble import HubError
from unspool.hub.web.render import HOME, page
from unspool.hub.web.snippets import pieces
from unspool.site.frame import Crumb

_PAGE = 50
_FOUND = 20
_NAMES = ("q", *listing.NAMES)
_USED = ("project", "person", "model", "since", "until")


def home(request: Request) -> Response:
    """What is new, and where to go; for strangers, what this is."""
    who, db = person(request), hub(request).store.db
    if not who.known or who.scope not in READING:
        return page(request, "unspool hub", "welcome.html", crumbs=())
    newest = listing.listed(db, who, [], Span(None, 10)).sessions
    used = usage(db, who, "person", listing.asked({"since": "7d"}))
    return page(request, "Home", "home.html", projects=projects.listed(db, who), sessions=newest, used=used)


def sessions(request: Request) -> Response:
    """Sessions that fit, the last active first."""
    who, db = person(request), hub(request).store.db
    asked = {name: request.query_params.get(name, "").strip() for name in _NAMES}
    wrong, found = "", listing.Listed([], "")
    try:
        found = listing.listed(db, who, listing.asked(asked), span(request.query_params.get("after", ""), "", _PAGE))
    except HubError as error:
        wrong = str(error)
    more = f"/sessions?{_query(asked, after=found.next)}" if found.next else ""
    return page(
        request, "Sessions", "sessions.html",
        asked=asked, sessions=found.sessions, more=more, wrong=wrong, filtered=any(asked.values()),
        projects=projects.names(db, who), people=listing.people(db, who),
    )  # fmt: skip


def searched(request: Request) -> Response:
    """What a question finds."""
    text, after = request.query_params.get("q", "").strip()[:1000], request.query_params.get("after", "")
    wrong, found = "", None
    if text:
        try:
            found = search(hub(request).store.db, person(request), text, span(after, "", _FOUND))
        except HubError as error:
            wrong = str(error)
    more = f"/search?{_query({'q': text}, after=found.next)}" if found and found.next else ""
    return page(request, "Search", "search.html", text=text, found=found, wrong=wrong, more=more, pieces=pieces)


def used(request: Request) -> Response:
    """What was used and what it cost, by person, project, model or time."""
    db, who = hub(request).store.db, person(request)
    asked = {
        name: request.query_params.get(name, "").strip() for name in ("project", "person", "model", "since", "until")
    }
    by = request.query_params.get("by", "week")
    wrong, report = "", None
    try:
        report = usage(db, who, by, listing.asked(asked))
    except HubError as error:
        wrong = str(error)
    ways = [(one, f"/usage?{_query(asked, by=one)}") for one in get_args(By)]
    return page(request, "Usage", "usage.html", report=report, by=by, ways=ways, asked=asked, wrong=wrong)


def story(request: Request) -> Response:
    """Planning, implementation and what came after, by whoever did each."""
    session = request.path_params["session"]
    steps = told(hub(request).store.db, person(request), session)
    here = next(step.session for step in steps if step.session.id == session)
    crumbs = (
        HOME,
        Crumb(here.project.name, f"sessions?project={here.project.id}"),
        Crumb(here.title, f"sessions/{session}/"),
    )
    return page(request, "Story", "story.html", crumbs=crumbs, steps=steps, here=session)


def _query(asked: dict[str, str], **more: str) -> str:
    return urlencode({name: value for name, value in {**asked, **more}.items() if value})
