"""Who may what in a project, for its owners."""

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.asked import hub, person
from unspool.hub.people import permits, projects, roster, teams
from unspool.hub.people.rights import Right
from unspool.hub.trouble import Unfit
from unspool.hub.web.forms import fields, onward
from unspool.hub.web.render import HOME, page
from unspool.site.frame import Crumb

_LEVELS = tuple(right.name.lower() for right in Right)


def made(request: Request) -> Response:
    """A new project, owned by whoever makes it."""
    request.state.target = projects.made(hub(request).store.db, person(request), fields(request).get("name", ""))
    return onward(f"/projects/{request.state.target}/rights")


def rights(request: Request) -> Response:
    """The rights that were given."""
    db = hub(request).store.db
    project = projects.found(db, request.path_params["project"])
    name = next(one.name for one in projects.listed(db, person(request)) if one.id == project)
    return page(
        request, "Rights", "rights.html", crumbs=(HOME, Crumb(name, f"sessions?project={project}")),
        project=project, name=name, permits=permits.listed(db, project), levels=_LEVELS,
        people=roster.listed(db), teams=teams.listed(db),
    )  # fmt: skip


def given(request: Request) -> Response:
    """A right given to a person or a team; the empty one takes away what they had of their own."""
    db, sent = hub(request).store.db, fields(request)
    project = projects.found(db, request.path_params["project"])
    kind, _, named = sent.get("subject", "").partition(" ")
    if kind not in ("person", "team") or not named:
        raise Unfit("Choose a person or a team.")
    level = permits.level(sent["level"]) if sent.get("level") else None
    who = permits.taken(db, project, kind, named) if level is None else permits.given(db, project, kind, named, level)
    request.state.detail = {"kind": kind, "subject": who, "level": "" if level is None else level.name.lower()}
    return onward(f"/projects/{project}/rights")
