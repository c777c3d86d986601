"""`/s/{key}/share`: the review page, the preview of the exact result, and their routes."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from anyio.to_thread import run_sync
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unspool.app import share_selection
from unspool.app.context import AppContext
from unspool.app.open_session import get_session
from unspool.app.render import HOME, page_frame, render_page, render_template
from unspool.app.session_frame import NO_CACHE
from unspool.app.share_files import (
    SHARE_FORMATS,
    ReviewStore,
    ShareFormat,
    can_publish_gist,
    current_rules,
    download_result,
    make_share,
    result_page,
)
from unspool.app.share_findings import (
    RedactedSession,
    RuleFindings,
    ShareRehearsal,
    finding_ids,
    findings_by_rule,
    findings_summary,
)
from unspool.app.share_selection import (
    SEAL_LABELS,
    Seal,
    ShareSelection,
    change_selection,
    kind_choices,
    load_habit,
    turn_choices,
    turns_summary,
)
from unspool.errors import NotFound, UnspoolError
from unspool.model import Session
from unspool.share.encryption import SHORTEST
from unspool.share.preview_image import describe_session, preview_image
from unspool.share.publish import PICTURE, REPORT
from unspool.site.address import INDEX
from unspool.site.page_template import Crumb, Frame, Preview
from unspool.site.summaries import shorten_line
from unspool.site.turn_pages import session_page
from unspool.web.pages import answer_form, read_form

_CHAIN = frozenset({"source", "follow-up"})


class ShareOffer(NamedTuple):
    """What there is to choose from, and what was chosen last."""

    chain: Sequence[str]
    """The sessions next to it, by their titles; none where it stands alone."""
    seals: dict[Seal, str]
    seal: Seal
    ways: Sequence[ShareFormat]
    gist: bool
    """Whether a gist can be made here."""
    shortest: int
    """Characters of a passphrase at least."""
    title: int
    """Characters of a title at most."""
    term: int
    """Characters of a term at most."""


def share_offer(session: Session) -> ShareOffer:
    """What is offered for a session."""
    near = [shorten_line(one.title or one.prompt, 80) or one.session for one in session.links if one.relation in _CHAIN]
    return ShareOffer(
        near,
        SEAL_LABELS,
        load_habit(session.cwd).seal,
        SHARE_FORMATS,
        can_publish_gist(),
        SHORTEST,
        share_selection.MAX_TITLE,
        share_selection.MAX_TERM,
    )


class _Judged(NamedTuple):
    """What was found by rule, and the other sessions of the share, or why nothing can be shared as it is chosen."""

    rules: Sequence[RuleFindings] = ()
    chain: Sequence[tuple[str, str]] = ()
    """Place in the preview, and title."""
    problem: str = ""


def review_page(request: Request) -> HTMLResponse:
    """Everything found in a session, and what is chosen for it."""
    context: AppContext = request.app.state.context
    original = get_session(context, request.path_params["key"])
    session = original.session
    wish = context.part(ReviewStore).wish(session.id, session.cwd)
    judged = _judged(context, session.id, wish)
    turns = turn_choices(original, wish.choices, context.options)
    body = render_template(
        "share.html",
        here=f"/s/{quote(session.id, safe='')}/share",
        title=shorten_line(session.title, 160),
        problem=judged.problem,
        rules=judged.rules,
        told=findings_summary(judged.rules),
        chain=judged.chain,
        version=current_rules().version,
        kinds=kind_choices(session, wish.choices),
        turns=turns,
        turns_told=turns_summary(turns),
        wish=wish,
        offer=share_offer(session),
        read_only=request.app.state.read_only,
    )
    crumbs = (HOME, Crumb(shorten_line(session.title, 120), f"s/{quote(session.id, safe='')}/"))
    return render_page(request, "Share", body, crumbs, ("app.css", "share.css"), ("share.js",))


def _judged(context: "AppContext", key: str, wish: ShareSelection) -> _Judged:
    try:
        looked = context.part(ReviewStore).found(context, key, wish)
    except UnspoolError as error:
        return _Judged(problem=str(error))
    chain = [(one.place, shorten_line(one.reading.session.title, 80) or "Untitled session") for one in looked.told[1:]]
    return _Judged(findings_by_rule(looked, wish.choices, context.options), chain)


def preview_page(request: Request) -> Response:
    """A page of what would be shared, or a file that comes with it."""
    context: AppContext = request.app.state.context
    session = get_session(context, request.path_params["key"]).session
    table = context.part(ReviewStore)
    looked = table.exact(context, session.id, table.wish(session.id, session.cwd))
    path = request.path_params.get("path", "")
    if path == PICTURE:
        drawn = preview_image(looked.main.session, looked.main.counted)
        return Response(drawn, media_type="image/svg+xml", headers=NO_CACHE)
    if path == REPORT:
        return Response(looked.share.report.json(), media_type="application/json", headers=NO_CACHE)
    return HTMLResponse(_page(context, session.id, looked, path).encode("utf-8", "replace"), headers=NO_CACHE)


def add_preview_slash(request: Request) -> Response:
    """Links of a page are relative to its folder."""
    return RedirectResponse(f"{request.url.path}/", 308)


def _page(context: "AppContext", key: str, looked: ShareRehearsal, path: str) -> str:
    place, slash, leaf = path.rpartition("/")
    told = next((one for one in looked.told if one.place == place + slash), None)
    view = told.reading.view(context.options, _framed(key, looked, told)) if told else None
    made = session_page(view, leaf or INDEX) if view else None
    if made is None:
        raise NotFound("What is shared has no such page.")
    return made.html


def _framed(key: str, looked: ShareRehearsal, told: RedactedSession) -> Frame:
    """As little around it as can be: the way back, and what the result says of itself."""
    review = f"s/{quote(key, safe='')}/share"
    note = looked.share.report.note()
    bar = render_template(
        "share_bar.html", review=f"/{review}", told=note, facts=describe_session(told.reading.counted)
    )
    made = page_frame((HOME,), ("share.css",), ("share.js",))
    return replace(
        made,
        inset=str(bar),
        ways=(Crumb("← Review", review), *made.ways),
        sessions={one.reading.session.id: f"{review}/preview/{one.place}" for one in looked.told},
        preview=Preview("", note=f"shared: {note}"),
    )


_FINDING = {"keep", "replace", "keep-rule", "replace-rule"}


async def save_choice(request: Request) -> Response:
    """Choose as the form says, and look at the review again."""
    key, sent = request.path_params["key"], await read_form(request)
    await run_sync(_decided, request.app.state.context, key, sent)
    return answer_form(request, {}, f"/s/{quote(key, safe='')}/share")


def _decided(context: AppContext, key: str, sent: dict[str, str]) -> None:
    session, table = get_session(context, key).session, context.part(ReviewStore)
    now = table.wish(key, session.cwd)
    findings = finding_ids(table.found(context, key, now)) if _FINDING & set(sent) else {}
    table.choose(key, session.cwd, change_selection(now, sent, findings))


ROUTES = [
    Route("/s/{key}/share", review_page, methods=["GET"]),
    Route("/s/{key}/share", save_choice, methods=["POST"]),
    Route("/s/{key}/share/make", make_share, methods=["POST"]),
    Route("/s/{key}/share/made/{name}", result_page, methods=["GET"]),
    Route("/s/{key}/share/made/{name}/file", download_result, methods=["GET"]),
    Route("/s/{key}/share/preview", add_preview_slash),
    Route("/s/{key}/share/preview/", preview_page),
    Route("/s/{key}/share/preview/{path:path}", preview_page),
]
