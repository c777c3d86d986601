"""`/s/{key}/compare`: a session beside another, or beside a branch of its own, from where they part."""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from unspool import human
from unspool.app.api_endpoint import parse_number
from unspool.app.open_session import get_session, requested_session
from unspool.app.render import render_page, render_template, session_crumbs, session_href
from unspool.errors import NotFound
from unspool.figures.compare import ComparedFile, ComparedSide, Comparison, Conversation, compare_conversations
from unspool.model import Session
from unspool.render.html.elements import HtmlOptions
from unspool.render.html.nodes import nodes_html
from unspool.render.view import follow_branch
from unspool.site.session_view import format_cost
from unspool.site.summaries import shorten_line

_PROMPTS = 200
_DIFFS = 20
"""Files whose lines are shown; of the others it is told how far they are apart."""


class ComparedRow(NamedTuple):
    path: str
    one: str
    other: str
    left: str
    diff: Markup | None


def compare_page(request: Request) -> HTMLResponse:
    """With `with`, another session by its id; with `branch`, a branch of that one, or of the session itself."""
    context, opened = requested_session(request)
    key = request.query_params.get("with", "")[:200]
    beside = get_session(context, key) if key else opened
    other = beside.session
    branch = parse_number(request.query_params.get("branch", "")) or 0
    if other is opened.session and not branch:
        raise NotFound("A session is compared with another one, or with a branch of its own.")
    found = compare_conversations(_conversation(opened.session, 0), _conversation(other, branch), context.prices)
    body = render_template(
        "compare.html",
        shared=found.shared,
        parted=shorten_line(found.parted, 200),
        names=[_name(side) for side in found.sides],
        hrefs=[session_href(one.key) for one in (opened, beside)],
        facts=[row for row in zip(*map(_facts, found.sides), strict=True) if row[0][1] or row[1][1]],
        files=list(_files(found)),
        asked=[_asked(side) for side in found.sides],
    )
    return render_page(
        request, "Compare", body, session_crumbs(opened.key, opened.session), ("files.css", "compare.css")
    )


def _conversation(session: Session, branch: int) -> Conversation:
    if branch and branch not in {one.number for one in session.branches}:
        raise NotFound("The session has no such branch.")
    return Conversation(session, follow_branch(session, branch)[0], branch)


def _name(side: ComparedSide) -> str:
    branch = f"branch {side.branch}" if side.branch else ""
    return human.joined(shorten_line(side.title, 80) or "Untitled session", side.session[:8], branch)


def _facts(side: ComparedSide) -> Iterator[tuple[str, str]]:
    added, removed = sum(file.added for file in side.files), sum(file.removed for file in side.files)
    yield "Took", human.elapsed(side.started, side.ended)
    yield "Prompts", f"{len(side.prompts):,}"
    calls = sum(side.tools.values())
    yield "Tool calls", human.joined(f"{calls:,}", f"{side.failed} failed" if side.failed else "") if calls else ""
    yield "Tools", ", ".join(f"{name} {number}" for name, number in list(side.tools.items())[:6])
    yield "Tokens", human.tokens(side.usage.total) if side.usage.total else ""
    yield "Cost", format_cost(side.cost)
    yield "Files changed", f"{len(side.files)}, +{added:,} −{removed:,}" if side.files else ""
    yield "Commits", ", ".join(commit.hash[:10] for commit in side.commits)
    yield "Last tests", side.tests
    yield "Last words", shorten_line(side.answer, 300)


def _asked(side: ComparedSide) -> dict[str, object]:
    shown = [(prompt.number, shorten_line(prompt.words, 200) or "(empty)") for prompt in side.prompts[:_PROMPTS]]
    return {"prompts": shown, "more": len(side.prompts) - len(shown)}


def _files(found: Comparison) -> Iterator[ComparedRow]:
    shown = 0
    for file in found.files:
        diff = None
        if file.diff is not None and shown < _DIFFS:
            diff, shown = Markup(nodes_html([file.diff], HtmlOptions())), shown + 1  # noqa: S704  a writer's markup
        yield ComparedRow(file.path, _changed(file, 0), _changed(file, 1), _left(file), diff)


def _changed(file: ComparedFile, side: int) -> str:
    change = file.sides[side]
    return f"+{change.added:,} −{change.removed:,}" if change is not None else ""


def _left(file: ComparedFile) -> str:
    if None in file.sides:
        return "only here" if file.sides[1] is None else "only there"
    if file.same is None:
        return "not known"
    return "the same" if file.same else "differs"


ROUTES = [Route("/s/{key}/compare", compare_page)]
