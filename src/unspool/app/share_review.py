"""`/s/{key}/share`: the review page, the preview of the exact result, and their routes."""

import shutil
from typing import Any

from anyio.to_thread import run_sync
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from unspool import human
from unspool.app.context import AppContext
from unspool.app.open_session import get_session, locate_log, requested_session
from unspool.app.render import HOME, page_frame, render_page, render_template, session_href
from unspool.app.session_frame import CHAIN_RELATIONS, NO_CACHE, add_slash, html_response
from unspool.app.share_files import SHARE_FORMATS, ReviewStore, current_rules, download_result, make_share, result_page
from unspool.app.share_findings import (
    RedactedSession,
    RuleFindings,
    ShareRehearsal,
    finding_ids,
    findings_by_rule,
    findings_summary,
)
from unspool.app.share_selection import (
    FINDING_FIELDS,
    MAX_TERM,
    MAX_TITLE,
    SEAL_LABELS,
    change_selection,
    kind_choices,
    load_habit,
    turn_choices,
    turns_summary,
)
from unspool.errors import NotFound, UnspoolError
from unspool.model import Session
from unspool.share.publish import PICTURE, REPORT
from unspool.site.address import INDEX
from unspool.site.page_template import Crumb, Frame, Preview
from unspool.site.story_card import describe_session, story_card, view_for_card
from unspool.site.summaries import shorten_line
from unspool.site.turn_pages import session_page
from unspool.store.archive.keys import SHORTEST
from unspool.web.pages import answer_form, read_form


def _offer(session: Session) -> dict[str, Any]:
    """What there is to choose from, and what was chosen last."""
    links = [link for link in session.links if link.relation in CHAIN_RELATIONS]
    return {
        "chain": [shorten_line(link.title or link.prompt, 80) or link.session for link in links],
        "seals": SEAL_LABELS,
        "seal": load_habit(session.cwd).seal,
        "ways": SHARE_FORMATS,
        "gist": shutil.which("gh") is not None,
        "shortest": SHORTEST,
        "title": MAX_TITLE,
        "term": MAX_TERM,
    }


def review_page(request: Request) -> HTMLResponse:
    context, key = request.app.state.context, request.path_params["key"]
    store, found = context.part(ReviewStore), locate_log(context, key)
    begun = store.begin(context, found)
    if begun is not None:
        here, size = f"{session_href(key)}share", human.size(found.size)
        body = render_template("share_wait.html", here=here, size=size, begun=begun)
        return render_page(request, "Share", body, (HOME,), ("app.css", "share.css"), ("share.js",))
    context, opened = requested_session(request)
    session = opened.session
    selection, href = store.selection(opened.key, session.cwd), session_href(opened.key)
    rules: list[RuleFindings] = []
    others: tuple[RedactedSession, ...] = ()
    problem = ""
    try:
        rehearsal = store.rehearsal(context, opened.key, selection)
        rules, others = findings_by_rule(rehearsal, selection.choices, context.options), rehearsal.redacted[1:]
    except UnspoolError as error:
        problem = str(error)
    turns = turn_choices(opened, selection.choices, context.options)
    body = render_template(
        "share.html",
        here=f"{href}share",
        title=shorten_line(session.title, 160),
        problem=problem,
        rules=rules,
        summary=findings_summary(rules),
        chain=[(one.place, shorten_line(one.opened.session.title, 80) or "Untitled session") for one in others],
        version=current_rules().version,
        kinds=kind_choices(session, selection.choices),
        turns=turns,
        turns_summary=turns_summary(turns),
        selection=selection,
        offer=_offer(session),
        read_only=request.app.state.read_only,
    )
    crumbs = (HOME, Crumb(shorten_line(session.title, 120), href.removeprefix("/")))
    return render_page(request, "Share", body, crumbs, ("app.css", "share.css"), ("share.js",))


def progress(request: Request) -> JSONResponse:
    """How far the rehearsal of a long session is."""
    begun = request.app.state.context.part(ReviewStore).progress(request.path_params["key"])
    return JSONResponse({"share": begun.share, "ended": begun.ended}, headers=NO_CACHE)


def preview_page(request: Request) -> Response:
    """A page of what would be shared, or a file that comes with it."""
    context, opened = requested_session(request)
    key, store = opened.key, context.part(ReviewStore)
    rehearsal = store.rehearsal(context, key, store.selection(key, opened.session.cwd), exact=True)
    path = request.path_params.get("path", "")
    if path == PICTURE:
        drawn = story_card(view_for_card(rehearsal.main.session, context.prices))
        return Response(drawn, media_type="image/svg+xml", headers=NO_CACHE)
    if path == REPORT:
        return Response(rehearsal.share.report.json(), media_type="application/json", headers=NO_CACHE)
    place, slash, leaf = path.rpartition("/")
    for one in rehearsal.redacted:
        if one.place == place + slash:
            view = one.opened.view(context.options, _preview_frame(key, rehearsal, one))
            made = session_page(view, leaf or INDEX)
            if made is not None:
                return html_response(made.html)
    raise NotFound("What is shared has no such page.")


def _preview_frame(key: str, rehearsal: ShareRehearsal, shown: RedactedSession) -> Frame:
    """As little around it as can be: the way back, and what the result says of itself."""
    review, note = f"{session_href(key)}share".removeprefix("/"), rehearsal.share.report.note()
    facts = describe_session(shown.opened.counted)
    bar = render_template("share_bar.html", review=f"/{review}", note=note, facts=facts)
    made = page_frame((HOME,), ("share.css",), ("share.js",))
    return replace(
        made,
        inset=str(bar),
        ways=(Crumb("← Review", review), *made.ways),
        sessions={one.opened.session.id: f"{review}/preview/{one.place}" for one in rehearsal.redacted},
        preview=Preview("", note=f"shared: {note}"),
    )


async def save_choice(request: Request) -> Response:
    """Choose as the form says, and look at the review again."""
    key, form = request.path_params["key"], await read_form(request)
    await run_sync(_save_choice, request.app.state.context, key, form)
    return answer_form(request, {}, f"{session_href(key)}share")


def _save_choice(context: AppContext, key: str, form: dict[str, str]) -> None:
    session, store = get_session(context, key).session, context.part(ReviewStore)
    selection = store.selection(key, session.cwd)
    findings = finding_ids(store.rehearsal(context, key, selection)) if FINDING_FIELDS & set(form) else {}
    store.select(key, session.cwd, change_selection(selection, form, findings))


ROUTES = [
    Route("/s/{key}/share", review_page, methods=["GET"]),
    Route("/s/{key}/share", save_choice, methods=["POST"]),
    Route("/s/{key}/share/progress", progress, methods=["GET"]),
    Route("/s/{key}/share/make", make_share, methods=["POST"]),
    Route("/s/{key}/share/made/{name}", result_page, methods=["GET"]),
    Route("/s/{key}/share/made/{name}/file", download_result, methods=["GET"]),
    Route("/s/{key}/share/preview", add_slash),
    Route("/s/{key}/share/preview/", preview_page),
    Route("/s/{key}/share/preview/{path:path}", preview_page),
]
