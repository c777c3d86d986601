"""Projects and the rights on them."""

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import permits
from unspool.hub.people import projects as archive
from unspool.hub.people.api.given import Sent, answer, detail, done, given, target, told
from unspool.hub.ways import Needs, Way

_PERMIT = "/api/permits/{project}/{kind}/{subject}"
_EVERY = ("all", "read", "push")


class NewProject(Sent, frozen=True):
    """A project that is wanted."""

    name: str


class NewPermit(Sent, frozen=True):
    """A right: none, read, write or own."""

    level: str


def those(request: Request) -> Response:
    """The projects that one may read, with what one may do."""
    return answer({"projects": [told(one) for one in archive.listed(hub(request).store.db, person(request))]})


def make(request: Request) -> Response:
    """Make a project, which is one's own."""
    db, name = hub(request).store.db, given(request, NewProject).name
    made = archive.made(db, person(request), name)
    target(request, made)
    return answer({"id": made, "name": name, "right": "own"}, 201)


def rights(request: Request) -> Response:
    """Who may what."""
    db = hub(request).store.db
    return answer({"permits": [told(one) for one in permits.listed(db, _project(request))]})


def give(request: Request) -> Response:
    """Give a person or a team a right."""
    right = permits.level(given(request, NewPermit).level)
    kind, subject = request.path_params["kind"], request.path_params["subject"]
    who = permits.given(hub(request).store.db, _project(request), kind, subject, right)
    detail(request, kind=kind, subject=who, level=right.name.lower())
    return done()


def take(request: Request) -> Response:
    """Take the right of a person or a team away."""
    kind, subject = request.path_params["kind"], request.path_params["subject"]
    detail(request, kind=kind, subject=permits.taken(hub(request).store.db, _project(request), kind, subject))
    return done()


def _project(request: Request) -> str:
    return archive.found(hub(request).store.db, request.path_params["project"])


WAYS = (
    Way("/api/projects", those, Needs.PERSON, scopes=_EVERY),
    Way("/api/projects", make, Needs.PERSON, "project.make", "POST", ("all", "push")),
    Way("/api/permits/{project}", rights, Needs.OWN),
    Way(_PERMIT, give, Needs.OWN, "permit.give", "PUT", ("all",)),
    Way(_PERMIT, take, Needs.OWN, "permit.take", "DELETE", ("all",)),
)
