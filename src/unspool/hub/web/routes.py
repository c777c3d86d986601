"""Pages for admins and owners, and the addresses of all pages that are the hub's own."""

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from unspool.hub.errors import BadRequest
from unspool.hub.people import operations, projects, tokens, users
from unspool.hub.people.api import run_operation
from unspool.hub.people.audit import AuditFilters, list_audit
from unspool.hub.people.operations import ACTS, Operation
from unspool.hub.people.projects import Right
from unspool.hub.routes import HubRoute, Needs, hub, person
from unspool.hub.web import pages, render
from unspool.hub.web.pages import run_form
from unspool.hub.web.render import HOME, form_fields, page, redirect
from unspool.site.page_template import Crumb


def form(path: str, operation: Operation, needs: Needs, back: str) -> HubRoute:
    """A form of a page that runs an operation and leads back to a page."""

    def handler(request: Request) -> Response:
        run_form(request, operation)
        return redirect(back)

    return HubRoute(path, handler, needs, ACTS[operation], "POST", _CHANGES)


def people_page(request: Request, link: str = "", secret: str = "") -> Response:
    db = hub(request).store.db
    everybody = users.list_users(db, everybody=True)
    return page(
        request,
        "People",
        "people.html",
        here=[one for one in everybody if one.ended is None],
        gone=[one for one in everybody if one.ended is not None],
        invitations=tokens.list_invitations(db),
        teams=projects.list_teams(db),
        link=link,
        secret=secret,
        scopes=tokens.SCOPES,
    )


def invite_form(request: Request) -> Response:
    """A new invitation; its link is shown this once."""
    return people_page(request, link=run_form(request, operations.add_invitation).secret)


def create_service_form(request: Request) -> Response:
    """A program with a token of its own, shown this once."""
    sent = form_fields(request)
    scope = sent.get("scope", "") if sent.get("scope") in tokens.SCOPES else "read"
    wanted = {"name": sent.get("name", ""), "kind": "service", "token_scope": scope}
    return people_page(request, secret=run_operation(request, operations.add_person, wanted).secret)


def create_project_form(request: Request) -> Response:
    return redirect(f"/projects/{run_form(request, operations.add_project).target}/rights")


def rights_page(request: Request) -> Response:
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
        permits=projects.list_grants(db, project),
        levels=tuple(right.name.lower() for right in Right),
        people=users.list_users(db),
        teams=projects.list_teams(db),
    )


def grant_form(request: Request) -> Response:
    """A right given to a person or a team; the empty one takes away what they had of their own."""
    sent, project = form_fields(request), request.path_params["project"]
    kind, _, named = sent.get("subject", "").partition(" ")
    if kind not in ("person", "team") or not named:
        raise BadRequest("Choose a person or a team.")
    args = {"project": project, "kind": kind, "subject": named}
    if sent.get("level"):
        done = run_operation(request, operations.give_right, {**args, "level": sent["level"]})
    else:
        done = run_operation(request, operations.take_right, args)
    return redirect(f"/projects/{done.target}/rights")


_PAGE = 100
_ASKED = ("person", "what", "target", "outcome")


def audit_page(request: Request) -> Response:
    asked = {name: request.query_params.get(name, "").strip() for name in _ASKED}
    before = request.query_params.get("before", "")
    seq = int(before[:18]) if before.isdecimal() else None
    filters = AuditFilters(asked["person"], asked["what"], asked["target"], asked["outcome"], before=seq)
    lines = list_audit(hub(request).store.db, filters, _PAGE + 1)
    more = ""
    if len(lines) > _PAGE:
        given = {name: value for name, value in asked.items() if value}
        more = f"/audit?{urlencode({**given, 'before': str(lines[_PAGE - 1].seq)})}"
    return page(request, "Audit", "audit.html", asked=asked, lines=lines[:_PAGE], more=more)


_OPEN, _IN, _ADMIN, _OWN = Needs.NOTHING, Needs.PERSON, Needs.ADMIN, Needs.OWN
_CHANGES = ("all",)


def _form(path: str, handler: Callable[..., object], needs: Needs, act: str) -> HubRoute:
    return HubRoute(path, handler, needs, act, "POST", _CHANGES)


ROUTES = (
    HubRoute("/", pages.home, _OPEN),
    HubRoute("/sessions", pages.sessions_page, _IN, "session.list"),
    HubRoute("/sessions/{session}/story", pages.story_page, Needs.READ, "session.read"),
    HubRoute("/search", pages.search_page, _IN, "session.search"),
    HubRoute("/usage", pages.usage_page, _IN, "session.usage"),
    HubRoute("/shares", pages.shares_page, _IN),
    HubRoute("/shares", pages.upload_form, _IN, "share.create", "POST", _CHANGES, body=0),
    _form("/shares/{address}", pages.change_share_form, Needs.MINE, "share.change"),
    _form("/shares/{address}/end", pages.end_share_form, Needs.MINE, "share.delete"),
    HubRoute("/sign-in", render.sign_in_page, _OPEN),
    _form("/sign-in", render.sign_in, _OPEN, "browser.in"),
    _form("/sign-out", render.sign_out, _OPEN, "browser.out"),
    HubRoute("/join/{secret}", render.invitation_page, _OPEN),
    _form("/join/{secret}", render.join, _OPEN, "invitation.take"),
    HubRoute("/me", pages.me_page, _IN),
    _form("/me/tokens", pages.create_token_form, _IN, "token.make"),
    _form("/me/tokens/{token}/end", pages.end_token_form, _IN, "token.revoke"),
    HubRoute("/people", people_page, _ADMIN),
    _form("/people/invite", invite_form, _ADMIN, "invitation.make"),
    form("/people/invitations/{id}/end", operations.end_invitation, _ADMIN, "/people"),
    _form("/people/services", create_service_form, _ADMIN, "person.add"),
    form("/people/teams", operations.add_team, _ADMIN, "/people#teams"),
    form("/people/teams/{team}/join", operations.join_team, _ADMIN, "/people#teams"),
    form("/people/teams/{team}/leave", operations.leave_team, _ADMIN, "/people#teams"),
    form("/people/teams/{team}/end", operations.end_team, _ADMIN, "/people#teams"),
    form("/people/{person}/end", operations.end_person, _ADMIN, "/people"),
    form("/people/{person}/back", operations.bring_back_person, _ADMIN, "/people"),
    form("/people/{person}/change", operations.change_person, _ADMIN, "/people"),
    _form("/projects", create_project_form, _IN, "project.make"),
    HubRoute("/projects/{project}/rights", rights_page, _OWN),
    _form("/projects/{project}/rights", grant_form, _OWN, "permit.give"),
    HubRoute("/audit", audit_page, _ADMIN, "audit.read"),
)
