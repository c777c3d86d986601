"""Pages of what a team pushed: what it did, its sessions, search, usage, stories, and sharing one of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from unspool import human
from unspool.files import scratch_folder
from unspool.hub.errors import BadRequest, Forbidden, HubError, NotVisible
from unspool.hub.people import projects
from unspool.hub.people.projects import Right, right_on_project
from unspool.hub.people.tokens import READING
from unspool.hub.people.users import Person
from unspool.hub.routes import Hub, HubRoute, Needs, hub, person
from unspool.hub.sessions import listing
from unspool.hub.sessions.activity import DaySpan, TeamActivity, last_active_day, recent_days, team_activity
from unspool.hub.sessions.listing import SessionFacts, parse_page, with_stories
from unspool.hub.sessions.process_push import bundle_push
from unspool.hub.sessions.search import search
from unspool.hub.sessions.session_store import assemble_session
from unspool.hub.sessions.usage import PERIODS, By, HubSum, HubUsage, sessions_begun, usage
from unspool.hub.shares.share import (
    COLUMNS,
    LIVE,
    HubShare,
    ShareOptions,
    live_share,
    new_address,
    options_of_form,
    told_options,
)  # fmt: skip
from unspool.hub.shares.share_store import Upload, keep_share, replace_content
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database
from unspool.hub.web.render import HOME, form_fields, given_fields, moment_of, page, query_of, redirect, time_markup
from unspool.hub.workers import run_in_thread, worker_pool
from unspool.render.html.elements import day_text
from unspool.site.page_template import Crumb
from unspool.site.session_rows import ListedSession, RowLink, SessionRow
from unspool.site.summaries import shorten_line
from unspool.store.index.results import Snippet
from unspool.store.index.times import period_name
from unspool.web.charts import MOST_BARS, BarChart, bar_chart, bar_lengths, periods_between


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


def listed_sessions(
    db: Database, who: Person, found: Sequence[SessionFacts], *, of_project: bool = False
) -> list[ListedSession]:
    """Pushed sessions as every list shows them; the way to a story is offered where there is more in it than itself.

    `of_project`: the list is of one project, and does not name it.
    """
    stories = with_stories(db, who, list(found))
    rows = [listed_session(facts, story=facts.id in stories) for facts in found]
    return [msgspec.structs.replace(row, links=row.links[1:]) for row in rows] if of_project else rows


def listed_session(facts: SessionFacts, *, story: bool = False) -> ListedSession:
    title = facts.title or "untitled"
    row = SessionRow(
        facts.id, title, facts.kind, branch=facts.branch, models=facts.models,
        started=moment_of(facts.started), ended=moment_of(facts.finished),
        prompts=facts.turns, tool_calls=facts.calls, files=facts.files, commits=facts.commits, tool_errors=facts.errors,
        tool_refusals=facts.refused, tool_interruptions=facts.interrupted, tool_unanswered=facts.unanswered,
        amount=Decimal(str(facts.cost)), known=not facts.unpriced and not facts.open,
    )  # fmt: skip
    links = (
        RowLink(facts.project.name, f"/sessions?project={facts.project.id}"),
        RowLink(facts.person.name or "somebody", f"/sessions?person={facts.person.id}"),
    )
    address = f"/sessions/{facts.id}/"
    related = (RowLink("story", f"{address}story", f"Story of {title}"),) if story else ()
    return ListedSession(row, address, time_markup(facts.finished, "day"), title, links=links, related=related)


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


def home(request: Request) -> Response:
    """What the team did since the working day before, or in a week; where that is nothing, on the last day before."""
    who, db = person(request), hub(request).store.db
    if not who.known or who.scope not in READING:
        return page(request, "unspool hub", "welcome.html", crumbs=())
    week = request.query_params.get("days", "") == str(_WEEK)
    span, quiet = recent_days(_WEEK if week else 0), ""
    done: TeamActivity | None = team_activity(db, who, span)
    if done is not None and not done.work.sessions:
        last = last_active_day(db, who, span.last)
        if last is not None:
            quiet = f"Nothing since {_day(span.first)}. The last day on which there was something is {_day(last)}."
            quiet = quiet if last.year > _UNDATED else "No session tells when it was."
        done = team_activity(db, who, DaySpan(last, last)) if last is not None else None
    found = [facts for one in done.projects for facts in one.sessions] if done is not None else []
    spans = ((f"Since {_day(recent_days().first)}", "/", not week), (f"{_WEEK} days", f"/?days={_WEEK}", week))
    return page(
        request,
        "Home",
        "home.html",
        done=done,
        quiet=quiet,
        spans=spans,
        rows={one.row.id: one for one in listed_sessions(db, who, found, of_project=True)},
        words={facts.id: _asked_words(facts) for facts in found},
        within=urlencode({"since": done.span.first, "until": done.span.last + timedelta(days=1)}) if done else "",
    )


def _asked_words(facts: SessionFacts) -> str:
    """What a session was asked first; nothing where its title says so already."""
    words, title = shorten_line(facts.asked, _ASKED), shorten_line(facts.title, _ASKED)
    return "" if words.rstrip("…").startswith(title.rstrip("…")) and len(words) < len(title) + _LITTLE else words


_LITTLE = 40
"""Characters that a prompt says more than a title, and that are not worth a line."""
_WEEK, _ASKED, _UNDATED = 7, 140, 1970


def _day(day: date) -> str:
    today = datetime.now(UTC).date()
    return "yesterday" if day == today - timedelta(days=1) else f"{day:%A}, {day_text(day)}"


def sessions_page(request: Request) -> Response:
    who, db = person(request), hub(request).store.db
    asked, after = given_fields(request, _NAMES), request.query_params.get("after", "")
    filters = listing.parse_filters(asked)
    found, wrong = _attempt(lambda: listing.list_sessions(db, who, filters, parse_page(after, "", _PAGE)))
    more = f"/sessions?{query_of(asked, after=found.next)}" if found and found.next else ""
    return page(
        request,
        "Sessions",
        "sessions.html",
        asked=asked,
        sessions=listed_sessions(db, who, found.sessions if found else ()),
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
        store, who = hub(request).store, person(request)
        found, wrong = _attempt(lambda: search(store, who, text, parse_page(after, "", _FOUND)))
    more = f"/search?{query_of({'q': text}, after=found.next)}" if found and found.next else ""
    return page(request, "Search", "search.html", text=text, found=found, wrong=wrong, more=more, pieces=snippet_pieces)


def usage_page(request: Request) -> Response:
    db, who = hub(request).store.db, person(request)
    asked, by = given_fields(request, _USED), request.query_params.get("by", "week")
    filters = listing.parse_filters(asked)
    report, wrong = _attempt(lambda: usage(db, who, by, filters))
    ways = [(one, f"/usage?{query_of(asked, by=one)}") for one in get_args(By)]
    charts = usage_charts(report, sessions_begun(db, who, by, filters)) if report and by in PERIODS else ()
    lines = [] if report is None or charts else report.lines
    priced = any(line.sum.picodollars for line in lines)
    bars = bar_lengths([line.sum.picodollars if priced else line.sum.tokens for line in lines])
    return page(
        request, "Usage", "usage.html",
        report=report, by=by, ways=ways, asked=asked, wrong=wrong, charts=charts, bars=bars,
    )  # fmt: skip


def usage_charts(report: HubUsage, begun: dict[str, int]) -> tuple[BarChart, ...]:
    """What was spent, used and begun, by the periods of a report: the latest, where they are too many to see."""
    end, sums = datetime.now(UTC).date() + timedelta(days=1), {line.key: line.sum for line in report.lines}
    known = [
        day
        for key in {*sums, *begun}
        if key and (day := date.fromisoformat(key[:7] + "-01" if len(key) == 7 else key)) <= end
    ]
    if not known:
        return ()
    by, span = report.by, timedelta(days={"day": 1, "week": 7}.get(report.by, 31))
    periods = periods_between(by, max(min(known), max(known) - span * MOST_BARS), max(known))[-MOST_BARS:]
    names = [period_name(by, day) for day in periods]
    found = [sums.get(name, HubSum()) for name in names]
    return (
        bar_chart("Cost", by, periods, [(one.picodollars, one.spent) for one in found]),
        bar_chart("Tokens", by, periods, [(one.tokens, human.tokens(one.tokens)) for one in found]),
        bar_chart(
            "Sessions begun",
            by,
            periods,
            [(begun.get(name, 0), human.count(begun.get(name, 0), "session")) for name in names],
        ),
    )


def story_page(request: Request) -> Response:
    """Planning, implementation and what came after, by whoever did each."""
    session = request.path_params["session"]
    steps = listing.story(hub(request).store.db, person(request), session)
    here = next(step.session for step in steps if step.session.id == session)
    crumbs = (HOME, _project_crumb(here), Crumb(here.title or "untitled", f"sessions/{session}/"))
    shown = [(step.role, listed_session(step.session)) for step in steps]
    return page(request, "Story", "story.html", crumbs=crumbs, steps=shown, here=session)


def _project_crumb(facts: SessionFacts) -> Crumb:
    return Crumb(facts.project.name, f"sessions?project={facts.project.id}")


def share_page(request: Request, wrong: str = "", status: int = 200) -> Response:
    """The form that shares a session, for whoever may."""
    here, who, facts = hub(request), person(request), _shareable(request)
    sql = f"SELECT {COLUMNS} FROM share WHERE owner = ? AND {LIVE} ORDER BY created DESC LIMIT {_SHARES}"  # noqa: S608
    mine = [one for row in here.store.db.rows(sql, who.id, now()) if (one := HubShare(*row)).told.session == facts.key]
    crumbs = (HOME, _project_crumb(facts), Crumb(facts.title or "untitled", f"sessions/{facts.id}/"))
    values = {"facts": facts, "shares": mine, "wrong": wrong}
    return page(request, "Share it", "share_session.html", crumbs=crumbs, status=status, **values)


async def share_form(request: Request) -> Response:
    """Share a pushed session as a bundle of it would be; back to the form, where that is refused."""
    return await run_in_thread(_share, request)


async def renew_share_form(request: Request) -> Response:
    """What was pushed since, at the address of a share that shows an earlier part of the same session."""
    return await run_in_thread(_renew_share, request)


def _share(request: Request) -> Response:
    facts, who, db = _shareable(request), person(request), hub(request).store.db
    try:
        options = options_of_form(form_fields(request))
        request.state.detail = {**told_options(options), "session": facts.id}
        with _bundled(hub(request), facts) as bundle:
            share = keep_share(hub(request), Upload(bundle, new_address(db, who.id, ""), who.id, options))
    except HubError as error:
        return share_page(request, wrong=str(error), status=error.status)
    request.state.target = share.address
    return redirect(f"/shares#{share.address}")


def _renew_share(request: Request) -> Response:
    facts, before = _shareable(request), live_share(hub(request).store.db, request.path_params["address"])
    if before.told.session != facts.key:
        raise BadRequest("This share shows another session.")
    request.state.target, request.state.detail = before.address, {"session": facts.id}
    with _bundled(hub(request), facts) as bundle:
        replace_content(hub(request), Upload(bundle, before.address, before.owner, ShareOptions()), before)
    return redirect(f"/shares#{before.address}")


def _shareable(request: Request) -> SessionFacts:
    """The session that a request is about; Forbidden unless the person pushed it, or owns its project."""
    db, who = hub(request).store.db, person(request)
    facts = listing.get_session_facts(db, who, request.path_params["session"])
    right = right_on_project(db, who, facts.project.id)
    if right is Right.NONE:
        raise NotVisible("There is nothing at this address.")
    if facts.person.id != who.id and right is not Right.OWN:
        raise Forbidden("A session is shared by whoever pushed it, or owns its project.")
    return facts


@contextmanager
def _bundled(here: Hub, facts: SessionFacts) -> Iterator[Path]:
    with scratch_folder() as folder:
        assemble_session(here.store, facts.id, folder)
        yield worker_pool().run(bundle_push, folder, facts.key)


_SHARES = 200

ROUTES = (
    HubRoute("/", home, Needs.NOTHING),
    HubRoute("/sessions", sessions_page, Needs.PERSON, "session.list"),
    HubRoute("/sessions/{session}/story", story_page, Needs.READ, "session.read"),
    HubRoute("/sessions/{session}/share", share_page, Needs.READ),
    HubRoute("/sessions/{session}/share", share_form, Needs.READ, "share.create", "POST", ("all",)),
    HubRoute("/sessions/{session}/share/{address}", renew_share_form, Needs.MINE, "share.update", "POST", ("all",)),
    HubRoute("/search", search_page, Needs.PERSON, "session.search"),
    HubRoute("/usage", usage_page, Needs.PERSON, "session.usage"),
)
