"""Pages for people: home, sessions, search, usage, stories, one's own tokens and shares."""

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
from unspool.hub.people.operations import Done, Operation, arguments_of
from unspool.hub.people.tokens import READING
from unspool.hub.routes import hub, person
from unspool.hub.sessions import listing
from unspool.hub.sessions.listing import ListPage, SessionFacts, parse_page
from unspool.hub.sessions.search import search
from unspool.hub.sessions.usage import By, usage
from unspool.hub.shares import routes
from unspool.hub.shares.share import COLUMNS, HubShare, ShareOptions, live_share, options_of_upload
from unspool.hub.shares.share_store import change_options, end_share
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
        amount=Decimal(str(facts.cost)), known=not facts.unpriced,
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
    found, wrong = _attempt(
        lambda: listing.list_sessions(db, who, listing.parse_filters(asked), parse_page(after, "", _PAGE))
    )
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
        given["password"] = form["password"]
    if form.get("open") == "1":
        given["password"] = ""
    if form.get("expires"):
        given["expires"] = options_of_upload({"expires": form["expires"]}, {}).expires
    return ShareOptions(**given)
