"""Pages for admins and owners: people, teams, rights, audit log."""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.errors import BadRequest
from unspool.hub.people import audit as audit_list
from unspool.hub.people import projects, tokens, users
from unspool.hub.people import projects as permits
from unspool.hub.people import projects as teams
from unspool.hub.people import tokens as invitations
from unspool.hub.people.audit import AuditFilters
from unspool.hub.people.projects import Right
from unspool.hub.routes import hub, person
from unspool.hub.web.render import HOME, form_fields, page, redirect
from unspool.site.page_template import Crumb


def people_page(request: Request) -> Response:
    """Everybody, and what can be done about them."""
    return _shown(request)


def invite_form(request: Request) -> Response:
    """A new invitation; its link is shown this once."""
    sent, here = form_fields(request), hub(request)
    wish = invitations.NewInvitationOptions(sent.get("name", ""), sent.get("team", ""), bool(sent.get("admin")))
    secret = invitations.create_invitation(here.store.db, person(request), wish)
    request.state.target = invitations.open_invitation(here.store.db, secret).id
    url = here.terms.url or f"{request.url.scheme}://{request.headers.get('host', '')}"
    return _shown(request, link=invitations.invitation_link(url, secret))


def end_invitation_form(request: Request) -> Response:
    """An invitation that nobody can take any more."""
    invitations.revoke_invitation(hub(request).store.db, request.path_params["id"])
    return redirect("/people")


def deactivate_form(request: Request) -> Response:
    """Somebody who is let in no more, from this moment."""
    users.deactivate_user(hub(request).store.db, request.path_params["person"])
    return redirect("/people")


def reactivate_form(request: Request) -> Response:
    """Somebody who left and may come in again."""
    users.reactivate_user(hub(request).store.db, request.path_params["person"])
    return redirect("/people")


def change_person_form(request: Request) -> Response:
    """Somebody who is an admin now, or no more."""
    users.change_user(
        hub(request).store.db, request.path_params["person"], admin=form_fields(request).get("admin") == "1"
    )
    return redirect("/people")


def create_service_form(request: Request) -> Response:
    """A program with a token of its own, shown this once."""
    sent, db = form_fields(request), hub(request).store.db
    scope = sent.get("scope", "read") if sent.get("scope") in tokens.SCOPES else "read"
    with db.transaction():
        made = users.add_user(db, users.NewUser(sent.get("name", ""), "service"))
        secret = tokens.create_token(db, tokens.NewTokenOptions(made, "service", "token", scope))
    request.state.target = made
    return _shown(request, secret=secret)


def create_team_form(request: Request) -> Response:
    request.state.target = teams.create_team(hub(request).store.db, form_fields(request).get("name", ""))
    return redirect("/people#teams")


def join_team_form(request: Request) -> Response:
    """Somebody more in a team."""
    db = hub(request).store.db
    request.state.detail = {"person": users.find_user(db, form_fields(request).get("person", "")).id}
    teams.add_member(db, request.path_params["team"], request.state.detail["person"])
    return redirect("/people#teams")


def leave_team_form(request: Request) -> Response:
    """Somebody less in a team."""
    db = hub(request).store.db
    request.state.detail = {"person": users.find_user(db, form_fields(request).get("person", "")).id}
    teams.remove_member(db, request.path_params["team"], request.state.detail["person"])
    return redirect("/people#teams")


def delete_team_form(request: Request) -> Response:
    teams.delete_team(hub(request).store.db, request.path_params["team"])
    return redirect("/people#teams")


def _shown(request: Request, link: str = "", secret: str = "") -> Response:
    db = hub(request).store.db
    everybody = users.list_users(db, everybody=True)
    return page(
        request,
        "People",
        "people.html",
        here=[one for one in everybody if one.ended is None],
        gone=[one for one in everybody if one.ended is not None],
        invitations=invitations.list_invitations(db),
        teams=teams.list_teams(db),
        link=link,
        secret=secret,
        scopes=tokens.SCOPES,
    )


_LEVELS = tuple(right.name.lower() for right in Right)


def create_project_form(request: Request) -> Response:
    """A new project, owned by whoever makes it."""
    request.state.target = projects.create_project(
        hub(request).store.db, person(request), form_fields(request).get("name", "")
    )
    return redirect(f"/projects/{request.state.target}/rights")


def rights_page(request: Request) -> Response:
    """The rights that were given."""
    db = hub(request).store.db
    project = projects.find_project(db, request.path_params["project"])
    name = next(one.name for one in projects.list_projects(db, person(request)) if one.id == project)
    return page(
        request,
        "Rights",
        "rights.html",
        crumbs=(HOME, Crumb(name, f"sessions?project={project}")),
        project=project,
        name=name,
        permits=permits.list_grants(db, project),
        levels=_LEVELS,
        people=users.list_users(db),
        teams=teams.list_teams(db),
    )


def grant_form(request: Request) -> Response:
    """A right given to a person or a team; the empty one takes away what they had of their own."""
    db, sent = hub(request).store.db, form_fields(request)
    project = projects.find_project(db, request.path_params["project"])
    kind, _, named = sent.get("subject", "").partition(" ")
    if kind not in ("person", "team") or not named:
        raise BadRequest("Choose a person or a team.")
    level = permits.parse_right(sent["level"]) if sent.get("level") else None
    who = (
        permits.revoke_right(db, project, kind, named)
        if level is None
        else permits.grant_right(db, project, kind, named, level)
    )
    request.state.detail = {"kind": kind, "subject": who, "level": "" if level is None else level.name.lower()}
    return redirect(f"/projects/{project}/rights")


_PAGE = 100
_ASKED = ("person", "what", "target", "outcome")


def audit_page(request: Request) -> Response:
    """The newest lines that fit."""
    asked = {name: request.query_params.get(name, "").strip() for name in _ASKED}
    before = request.query_params.get("before", "")
    wanted = AuditFilters(asked["person"], asked["what"], asked["target"], asked["outcome"])
    filters = wanted._replace(before=int(before[:18]) if before.isdecimal() else None)
    lines = audit_list.list_audit(hub(request).store.db, filters, _PAGE + 1)
    more = ""
    if len(lines) > _PAGE:
        given = {name: value for name, value in asked.items() if value}
        more = f"/audit?{urlencode({**given, 'before': str(lines[_PAGE - 1].seq)})}"
    return page(request, "Audit", "audit.html", asked=asked, lines=lines[:_PAGE], more=more)
