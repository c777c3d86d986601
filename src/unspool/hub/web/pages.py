"""Pages for people, admins and owners, from home to the audit log, and the addresses of all of them."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unspool.hub.errors import BadRequest, HubError
from unspool.hub.people import operations, projects, tokens, users
from unspool.hub.people.api import run_operation
from unspool.hub.people.audit import AuditFilters, list_audit
from unspool.hub.people.operations import ACTS, Done, Operation, arguments_of
from unspool.hub.people.projects import Right
from unspool.hub.people.tokens import READING
from unspool.hub.routes import HubRoute, Needs, hub, person
from unspool.hub.sessions import listing
from unspool.hub.sessions.listing import ListPage, SessionFacts, parse_page
from unspool.hub.sessions.search import search
from unspool.hub.sessions.usage import By, usage
from unspool.hub.shares import routes
from unspool.hub.shares.share import COLUMNS, HubShare, ShareOptions, live_share, new_password, options_of_upload
from unspool.hub.shares.share_store import change_options, end_share
from unspool.hub.web import render
from unspool.hub.web.render import HOME, form_fields, moment_of, page, redirect, time_markup
from unspool.hub.workers import run_in_thread
from unspool.site.page_template import Crumb
from unspool.site.session_rows import ListedSession, RowLink, SessionRow
from unspool.store.index.results import Snippet


class SnippetPiece(NamedTuple):
    text: str
    lit: bool


def snippet_pieces(snippet: Snippet) -> list[SnippetPiece]:
    made, at = [SnippetPiece("…", False)] if snippet.before else [], 0
    for start, end in snippet.marks:
        made += [SnippetPiece(snippet.text[at:start], False), SnippetPiece(snippet.text[start:end], True)]
        at = end
    made.append(SnippetPiece(snippet.text[at:], False))
    return [*(piece for piece in made if piece.text), *([SnippetPiece("…", False)] if snippet.after else [])]


def listed_session(facts: SessionFacts) -> ListedSession:
    """A pushed session as every list shows it, with its project, its person and its story."""
    title = facts.title or "untitled"
    row = SessionRow(
        facts.id, title, facts.kind, branch=facts.branch, models=facts.models,
        started=moment_of(facts.started), ended=moment_of(facts.finished),
        prompts=facts.turns, tool_calls=facts.calls, tool_errors=facts.errors,
        tool_refusals=facts.refused, tool_interruptions=facts.interrupted, tool_unanswered=facts.unanswered,
        amount=Decimal(str(facts.cost)), known=not facts.unpriced and not facts.open,
    )  # fmt: skip
    links = (
        RowLink(facts.project.name, f"/sessions?project={facts.project.id}"),
        RowLink(facts.person.name or "somebody", f"/sessions?person={facts.person.id}"),
    )
    address = f"/sessions/{facts.id}/"
    has_story = facts.source or facts.kind in ("planning", "implementation")
    story = (RowLink("story", f"{address}story", f"Story of {title}"),) if has_story else ()
    return ListedSession(row, address, time_markup(facts.finished, "day"), title, links=links, related=story)


_PAGE = 50
_FOUND = 20
_NAMES = ("q", *listing.NAMES)
_USED = ("project", "person", "model", "since", "until")
_Found = TypeVar("_Found")


def _attempt(read: Callable[[], _Found]) -> tuple[_Found | None, str]:
    """What was found, or what is wrong with the question, for the page to say."""
    try:
        return read(), ""
    except HubError as error:
        return None, str(error)


def _given(request: Request, names: Sequence[str]) -> dict[str, str]:
    return {name: request.query_params.get(name, "").strip() for name in names}


def home(request: Request) -> Response:
    who, db = person(request), hub(request).store.db
    if not who.known or who.scope not in READING:
        return page(request, "unspool hub", "welcome.html", crumbs=())
    newest = list(map(listed_session, listing.list_sessions(db, who, [], ListPage(None, 10)).sessions))
    used = usage(db, who, "person", listing.parse_filters({"since": "7d"}))
    return page(request, "Home", "home.html", projects=projects.list_projects(db, who), sessions=newest, used=used)


def sessions_page(request: Request) -> Response:
    who, db = person(request), hub(request).store.db
    asked, after = _given(request, _NAMES), request.query_params.get("after", "")
    filters = listing.parse_filters(asked)
    found, wrong = _attempt(lambda: listing.list_sessions(db, who, filters, parse_page(after, "", _PAGE)))
    more = f"/sessions?{_query(asked, after=found.next)}" if found and found.next else ""
    return page(
        request,
        "Sessions",
        "sessions.html",
        asked=asked,
        sessions=list(map(listed_session, found.sessions if found else ())),
        more=more,
        wrong=wrong,
        filtered=any(asked.values()),
        projects=projects.project_names(db, who),
        people=listing.people_who_pushed(db, who),
    )


def search_page(request: Request) -> Response:
    text, after = request.query_params.get("q", "").strip()[:1000], request.query_params.get("after", "")
    found, wrong = None, ""
    if text:
        db, who = hub(request).store.db, person(request)
        found, wrong = _attempt(lambda: search(db, who, text, parse_page(after, "", _FOUND)))
    more = f"/search?{_query({'q': text}, after=found.next)}" if found and found.next else ""
    return page(request, "Search", "search.html", text=text, found=found, wrong=wrong, more=more, pieces=snippet_pieces)


def usage_page(request: Request) -> Response:
    db, who = hub(request).store.db, person(request)
    asked, by = _given(request, _USED), request.query_params.get("by", "week")
    report, wrong = _attempt(lambda: usage(db, who, by, listing.parse_filters(asked)))
    ways = [(one, f"/usage?{_query(asked, by=one)}") for one in get_args(By)]
    return page(request, "Usage", "usage.html", report=report, by=by, ways=ways, asked=asked, wrong=wrong)


def story_page(request: Request) -> Response:
    """Planning, implementation and what came after, by whoever did each."""
    session = request.path_params["session"]
    steps = listing.story(hub(request).store.db, person(request), session)
    here = next(step.session for step in steps if step.session.id == session)
    project = Crumb(here.project.name, f"sessions?project={here.project.id}")
    crumbs = (HOME, project, Crumb(here.title, f"sessions/{session}/"))
    shown = [(step.role, listed_session(step.session)) for step in steps]
    return page(request, "Story", "story.html", crumbs=crumbs, steps=shown, here=session)


def _query(asked: dict[str, str], **more: str) -> str:
    return urlencode({name: value for name, value in {**asked, **more}.items() if value})


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
    await run_in_thread(change_options, hub(request), share, _form_options(form_fields(request)))
    return redirect(f"/shares#{share.address}")


def end_share_form(request: Request) -> Response:
    end_share(hub(request).store.db, request.path_params["address"])
    return redirect("/shares")


def _form_options(form: dict[str, str]) -> ShareOptions:
    """What a form asks for; a field that is left as it is asks for nothing."""
    given: dict[str, Any] = {"raw": form.get("raw") == "1", "listed": form.get("listed") == "1"}
    if form.get("password"):
        given["password"] = new_password(form["password"])
    if form.get("open") == "1":
        given["password"] = ""
    if form.get("expires"):
        given["expires"] = options_of_upload({"expires": form["expires"]}, {}).expires
    return ShareOptions(**given)


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
    asked, before = _given(request, _ASKED), request.query_params.get("before", "")
    last = int(before[:18]) if before.isdecimal() else None
    filters = AuditFilters(asked["person"], asked["what"], asked["target"], asked["outcome"], before=last)
    lines = list_audit(hub(request).store.db, filters, _LINES + 1)
    more = f"/audit?{_query(asked, before=str(lines[_LINES - 1].seq))}" if len(lines) > _LINES else ""
    return page(request, "Audit", "audit.html", asked=asked, lines=lines[:_LINES], more=more)


_OPEN, _IN, _ADMIN, _OWN = Needs.NOTHING, Needs.PERSON, Needs.ADMIN, Needs.OWN
_CHANGES = ("all",)


def _form(path: str, handler: Callable[..., object], needs: Needs, act: str) -> HubRoute:
    return HubRoute(path, handler, needs, act, "POST", _CHANGES)


ROUTES = (
    HubRoute("/", home, _OPEN),
    HubRoute("/sessions", sessions_page, _IN, "session.list"),
    HubRoute("/sessions/{session}/story", story_page, Needs.READ, "session.read"),
    HubRoute("/search", search_page, _IN, "session.search"),
    HubRoute("/usage", usage_page, _IN, "session.usage"),
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
