"""Pages for people, admins and owners: shares, tokens, rights, the audit log."""

from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.hub.errors import BadRequest, HubError
from unspool.hub.people import operations, projects, tokens, users
from unspool.hub.people.api import run_operation
from unspool.hub.people.audit import AuditFilters, list_audit
from unspool.hub.people.operations import ACTS, Done, Operation, arguments_of
from unspool.hub.people.projects import Right
from unspool.hub.routes import HubRoute, Needs, hub, person
from unspool.hub.shares import routes
from unspool.hub.shares.share import COLUMNS, HubShare, ShareOptions, live_share, options_of_form, told_options
from unspool.hub.shares.share_store import change_options, end_share
from unspool.hub.web import render
from unspool.hub.web.audit_sentences import audit_sentences
from unspool.hub.web.render import HOME, form_fields, given_fields, page, query_of, redirect
from unspool.hub.workers import run_in_thread
from unspool.site.page_template import Crumb


def me_page(request: Request, secret: str = "") -> Response:
    here, who = hub(request), person(request)
    db = here.store.db
    return page(
        request,
        who.name,
        "me.html",
        projects=projects.list_projects(db, who),
        teams=projects.list_teams(db, who.id),
        tokens=tokens.list_tokens(db, who.id),
        secret=secret,
        url=here.terms.url,
        scopes=tokens.SCOPES if who.admin else tokens.OWN,
        kept=users.bytes_kept(db, who.id),
        most=users.bytes_allowed(db, who.id, here.terms.quota),
    )


def run_form(request: Request, operation: Operation) -> Done:
    """Run an operation as a form and its address say; a field that is needed and was not sent is empty."""
    sent, kind = form_fields(request), arguments_of(operation)
    fields = {
        field.encode_name: sent.get(field.encode_name, "")
        for field in msgspec.structs.fields(kind)
        if field.required or sent.get(field.encode_name)
    }
    try:
        args = msgspec.convert({**fields, **request.path_params}, kind, strict=False)
    except msgspec.ValidationError:
        raise BadRequest("This form was not sent by a page of the hub.") from None
    return run_operation(request, operation, msgspec.structs.asdict(args), by_name=True)


def create_token_form(request: Request) -> Response:
    """A new token, shown this once."""
    return me_page(request, run_form(request, operations.add_own_token).secret)


def end_token_form(request: Request) -> Response:
    """Revoke a token or a browser of one's own, also for admins, who revoke others' elsewhere."""
    tokens.revoke_token(hub(request).store.db, request.path_params["token"], person(request).id)
    return redirect("/me")


_MOST = 200


def shares_page(request: Request, wrong: str = "", status: int = 200) -> Response:
    here, who = hub(request), person(request)
    sql = f"SELECT {COLUMNS} FROM share WHERE owner = ? ORDER BY ended IS NOT NULL, created DESC LIMIT ?"  # noqa: S608
    rows = here.store.db.rows(sql, who.id, _MOST)
    url = here.terms.url.rstrip("/") or str(request.base_url).rstrip("/")
    shares = [HubShare(*row) for row in rows]
    return page(request, "Shares", "shares.html", status=status, shares=shares, url=url, wrong=wrong)


async def upload_form(request: Request) -> Response:
    try:
        share = await routes.take_upload(request, ShareOptions())
    except HubError as error:
        return shares_page(request, wrong=str(error), status=error.status)
    return RedirectResponse(f"/shares#{share.address}", 303)


async def change_share_form(request: Request) -> Response:
    share = await run_in_thread(live_share, hub(request).store.db, request.path_params["address"])
    options = options_of_form(form_fields(request))
    request.state.detail = told_options(options)
    await run_in_thread(change_options, hub(request), share, options)
    return redirect(f"/shares#{share.address}")


def end_share_form(request: Request) -> Response:
    end_share(hub(request).store.db, request.path_params["address"])
    return redirect("/shares")


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


_LINES = 100
_ASKED = ("person", "what", "target", "outcome")


def audit_page(request: Request) -> Response:
    asked, before = given_fields(request, _ASKED), request.query_params.get("before", "")
    last = int(before[:18]) if before.isdecimal() else None
    filters = AuditFilters(asked["person"], asked["what"], asked["target"], asked["outcome"], before=last)
    db = hub(request).store.db
    lines = list_audit(db, filters, _LINES + 1)
    more = f"/audit?{query_of(asked, before=str(lines[_LINES - 1].seq))}" if len(lines) > _LINES else ""
    return page(request, "Audit", "audit.html", asked=asked, lines=audit_sentences(db, lines[:_LINES]), more=more)


_OPEN, _IN, _ADMIN, _OWN = Needs.NOTHING, Needs.PERSON, Needs.ADMIN, Needs.OWN
_CHANGES = ("all",)


def _form(path: str, handler: Callable[..., object], needs: Needs, act: str) -> HubRoute:
    return HubRoute(path, handler, needs, act, "POST", _CHANGES)


ROUTES = (
    HubRoute("/shares", shares_page, _IN),
    HubRoute("/shares", upload_form, _IN, "share.create", "POST", _CHANGES, body=0),
    _form("/shares/{address}", change_share_form, Needs.MINE, "share.change"),
    _form("/shares/{address}/end", end_share_form, Needs.MINE, "share.delete"),
    HubRoute("/sign-in", render.sign_in_page, _OPEN),
    _form("/sign-in", render.sign_in, _OPEN, "browser.in"),
    _form("/sign-out", render.sign_out, _OPEN, "browser.out"),
    HubRoute("/join/{secret}", render.invitation_page, _OPEN),
    _form("/join/{secret}", render.join, _OPEN, "invitation.take"),
    HubRoute("/me", me_page, _IN),
    _form("/me/tokens", create_token_form, _IN, "token.make"),
    _form("/me/tokens/{token}/end", end_token_form, _IN, "token.revoke"),
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
