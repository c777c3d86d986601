"""`/sessions`: the list of sessions with its facets, and times, days and sums as lists write them."""

import json
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property
from itertools import groupby
from typing import Any
from urllib.parse import quote

import apsw
import msgspec
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.agents import agent_name
from unspool.app import render
from unspool.app.context import AppContext, cached_answer
from unspool.app.marks import AllMarks, StoredMark, get_mark_store
from unspool.app.project_list import ProjectList, matches_project, project_slug
from unspool.app.render import LinkChoice
from unspool.app.session_query import (
    ANY_KIND,
    PAGE_SIZE,
    SESSION_KINDS,
    SESSION_SORTS,
    FoundSessions,
    SessionFinder,
    SessionQuery,
    parse_session_query,
)
from unspool.app.stats_tables import WEEKDAYS
from unspool.config.settings import current_settings
from unspool.errors import UnspoolError
from unspool.model import Overview
from unspool.model.session import UNLISTED_KINDS
from unspool.prices import Cost
from unspool.render.html.elements import day_text
from unspool.site.page_template import as_markup
from unspool.site.session_head import Badge
from unspool.site.session_rows import ListedSession, RowLink, SessionDay, SessionRow
from unspool.site.session_view import format_cost
from unspool.site.summaries import shorten_line
from unspool.store.index.conditions import IS_LISTED
from unspool.store.index.schema import PICO
from unspool.store.index.times import local_time, written_time
from unspool.store.library.chains import ChainMember, link_sessions
from unspool.store.library.history import name_of

_ACTIVE_SECONDS = 300.0
"""Seconds since its last line within which a session counts as active."""
_ACTIVE = Badge("● active", "good", about="Its log was written to within the last minutes")


def time_markup(seconds: float | None, zone: tzinfo | None, style: str = "clock") -> Markup:
    """A moment as a `clock` or a `day`; a page's script writes it on the browser's clock, unless a zone is chosen."""
    if seconds is None:
        return Markup()
    there = local_time(seconds, zone)
    day = day_text(there)
    text = f"{there:%H:%M}" if style == "clock" else day
    if zone:
        return as_markup(f'<span class="num" title="{escape(f"{day}, {there:%H:%M:%S %Z}")}">{text}</span>')
    full = f"{day}, {there:%H:%M:%S}"
    return as_markup(f'<time class="{style}" datetime="{written_time(seconds)}" title="{full}">{text}</time>')


def day_name(day: date | None, today: date) -> str:
    """Today, Yesterday, Friday 13 Nov, 13 Nov 2025."""
    if day is None:
        return "Without a date"
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if timedelta(0) < today - day < timedelta(days=180):
        return f"{WEEKDAYS[day.weekday()]}, {day_text(day).rpartition(' ')[0]}"
    return day_text(day)


def time_ago(seconds: float, now: float) -> str:
    """12 s ago, 5 m ago, 3 h ago, 2 d ago."""
    past = max(0, round(now - seconds))
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if past >= unit:
            return f"{past // unit} {name} ago"
    return f"{past} s ago"


def format_dollars(cost: int, *, floor: bool = False) -> str:
    """Picodollars as lists show them; empty for nothing."""
    return format_cost(Cost(Decimal(cost) / PICO, floor=floor))


_MOST_PLANS = 300
"""Plans and implementations of the listed projects that are looked at, the nearest in time first."""
_QUERY = """SELECT key, overview, ids FROM session WHERE project IN (SELECT value FROM json_each(?))
AND kind IN ('planning', 'implementation') AND version_of IS NULL
ORDER BY abs(coalesce(ended, started, 0) - ?) LIMIT ?"""
_RELATIONS = {
    "source": "continues",
    "follow-up": "continued by",
    "copied-from": "copied from",
    "copied-to": "copied to",
    "moved-to": "moved to",
}


def related_sessions(
    db: apsw.Connection, rows: Sequence[SessionRow], marks: AllMarks
) -> dict[str, tuple[RowLink, ...]]:
    """The neighbours of those sessions that plan or carry out a plan, by the session's id."""
    planned = [row for row in rows if row.kind in ("planning", "implementation")]
    if not planned:
        return {}
    middle = planned[len(planned) // 2].time
    projects = json.dumps(sorted({row.project for row in planned}))
    found: Iterable[Any] = db.execute(_QUERY, (projects, middle.timestamp() if middle else 0, _MOST_PLANS))
    decode = msgspec.msgpack.Decoder(Overview).decode
    members = {key: ChainMember(decode(packed), array("Q", ids)) for key, packed, ids in found if packed}
    keys = {name_of(one.overview): key for key, one in members.items()}
    wanted = {row.id for row in planned}
    related = {}
    for key, overview in zip(members, link_sessions(list(members.values())), strict=True):
        if key in wanted:
            linked = [(keys.get((overview.agent, link.session), link.session), link) for link in overview.links]
            named = [(other, marks.of(other).title or shorten_line(link.title, 80), link) for other, link in linked]
            related[key] = tuple(
                RowLink(_RELATIONS[link.relation], render.session_href(other), title or link.session)
                for other, title, link in named
            )
    return related


class MarkedSession(ListedSession, frozen=True, kw_only=True):
    """A session in the app's lists, which stars, tags, renames and notes it."""

    mark: StoredMark
    edit: str
    """Where it is marked."""


class ListRequest:
    """One request for a list; it lives while the index is open."""

    def __init__(self, request: Request, db: apsw.Connection) -> None:
        self.request, self.db, self.now = request, db, time.time()
        self.context: AppContext = request.app.state.context
        self.read_only = bool(request.app.state.read_only)
        self.zone: tzinfo | None = current_settings().zone
        self.notes: list[str] = []
        """What the page should say went wrong, though it can be shown."""

    @property
    def here(self) -> str:
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @cached_property
    def marks(self) -> AllMarks:
        """What was said about sessions; a damaged file of marks does not keep anyone from reading."""
        try:
            return get_mark_store(self.context).all_marks()
        except UnspoolError as problem:
            self.notes.append(f"Stars, tags and names cannot be read: {problem}")
            return AllMarks()

    @cached_property
    def projects(self) -> ProjectList:
        return ProjectList.of(self.db)

    @cached_property
    def finder(self) -> SessionFinder:
        return SessionFinder(self.db, self.marks, self.zone)

    def days(self, rows: Sequence[SessionRow], by_day: bool = True) -> tuple[SessionDay, ...]:
        """Sessions in the order given, under their days where that order is one of time."""
        if not by_day:
            return (SessionDay("", self.listed(rows, "day")),) if rows else ()
        today = local_time(self.now, self.zone).date()
        by = groupby(self.listed(rows), key=lambda one: self.day(one.row))
        return tuple(SessionDay(day_name(day, today), tuple(group)) for day, group in by)

    def day(self, row: SessionRow) -> date | None:
        return local_time(row.time.timestamp(), self.zone).date() if row.time else None

    def is_active(self, row: SessionRow) -> bool:
        near = row.time is not None and abs(self.now - row.time.timestamp()) <= _ACTIVE_SECONDS
        return near and row.kind != "ghost"

    def listed(self, rows: Sequence[SessionRow], style: str = "clock") -> tuple[MarkedSession, ...]:
        """Sessions for a template; `style` is how moments are shown."""
        related = related_sessions(self.db, rows, self.marks)
        return tuple(self._listed(row, style, related.get(row.id, ())) for row in rows)

    def _listed(self, row: SessionRow, style: str, related: tuple[RowLink, ...]) -> MarkedSession:
        mark, title = self.marks.of(row.id), shorten_line(row.title, 160) or row.id
        project = RowLink(self.projects.label(row.project), f"/projects/{project_slug(row.project)}", row.project)
        return MarkedSession(
            row,
            render.session_href(row.id),
            time_markup(row.time.timestamp() if row.time else None, self.zone, style),
            mark.title or title,
            title if mark.title and mark.title != title else "",
            (project,),
            (_ACTIVE,) if self.is_active(row) else (),
            related,
            mark=mark,
            edit=f"/marks/{quote(row.id, safe='')}",
        )


_MOST_PROJECTS = 12
_AGENTS = f"SELECT agent, count(*) FROM session WHERE version_of IS NULL AND {IS_LISTED} GROUP BY 1 ORDER BY 2 DESC"  # noqa: S608


def facet_groups(
    listing: ListRequest, query: SessionQuery, found: FoundSessions
) -> tuple[tuple[str, tuple[LinkChoice, ...]], ...]:
    """Projects, kinds and marks to narrow a list by, those that there are any of."""
    every = (
        ("By project", tuple(_project_facets(listing, query))),
        ("By agent", tuple(_agent_facets(listing, query))),
        ("By kind", tuple(_kind_facets(query, found))),
        ("Marked", tuple(_mark_facets(listing, query))),
    )
    return tuple((name, links) for name, links in every if links)


def _project_facets(listing: ListRequest, query: SessionQuery) -> Iterator[LinkChoice]:
    projects = listing.projects
    shown = [one for one in projects.sorted() if one.path not in listing.marks.hidden]
    chosen = {one.path for one in shown if query.project and matches_project(one.path, query.project)}
    listed = [one for at, one in enumerate(shown) if at < _MOST_PROJECTS or one.path in chosen]
    total = sum(one.sessions for one in shown)
    yield LinkChoice("All", _list_address(query, project=""), not query.project, number=total)
    for one in listed:
        href = _list_address(query, project=one.slug)
        yield LinkChoice(projects.label(one.path), href, one.path in chosen, one.path, one.sessions)
    if len(listed) < len(projects.projects):
        yield LinkChoice("All projects …", "/projects", number=len(projects.projects))


def _agent_facets(listing: ListRequest, query: SessionQuery) -> Iterator[LinkChoice]:
    counted: list[Any] = listing.db.execute(_AGENTS).fetchall()
    for agent, number in counted if len(counted) > 1 or query.agent else ():
        chosen = query.agent == agent
        href = _list_address(query, agent="" if chosen else agent)
        yield LinkChoice(agent_name(agent), href, chosen, number=number)


def _kind_facets(query: SessionQuery, found: FoundSessions) -> Iterator[LinkChoice]:
    if len(found.kinds) < 2 and not query.kind:
        return
    offered = [(kind, kind, found.kinds[kind]) for kind in SESSION_KINDS if kind in found.kinds]
    if set(UNLISTED_KINDS) & found.kinds.keys():
        offered.append((ANY_KIND, "all kinds", sum(found.kinds.values())))
    for kind, text, number in offered:
        chosen = query.kind == kind
        yield LinkChoice(text, _list_address(query, kind="" if chosen else kind), chosen, number=number)


def _mark_facets(listing: ListRequest, query: SessionQuery) -> Iterator[LinkChoice]:
    starred = sum(mark.starred for mark in listing.marks.marks.values())
    if starred or query.starred:
        href = _list_address(query, starred="" if query.starred else "1")
        yield LinkChoice("★ starred", href, bool(query.starred), number=starred)
    for tag, number in listing.marks.tags.items():
        chosen = query.tag.casefold() == tag.casefold()
        yield LinkChoice(f"#{tag}", _list_address(query, tag="" if chosen else tag), chosen, number=number)


def _list_address(query: SessionQuery, **changes: str) -> str:
    given = query.address(**changes)
    return f"/sessions?{given}" if given else "/sessions"


_MODELS = "SELECT DISTINCT model FROM terms WHERE model <> '' ORDER BY model"


def sessions_page(request: Request) -> HTMLResponse:
    """A page of the list; `part=rows` gives its rows alone."""
    query, context = parse_session_query(request.query_params), request.app.state.context
    with context.index() as index:
        listing, db = ListRequest(request, index.db), index.db
        found = listing.finder.page(query)
        values = list_values(listing, query, found)
        if request.query_params.get("part") == "rows":
            return HTMLResponse(render.render_template("rows.html", **values))
        body = render.render_template(
            "sessions.html",
            title=human.count(found.total, "session"),
            asked=query,
            groups=facet_groups(listing, query, found),
            saved=listing.marks.saved,
            sorts=SESSION_SORTS,
            models=cached_answer(db, _MODELS, lambda: [model for (model,) in db.execute(_MODELS)]),
            **values,
        )
    return render.render_page(request, "Sessions", body, (render.HOME,), ("app.css",), ("browse.js", "list.js"))


def list_values(listing: ListRequest, query: SessionQuery, found: FoundSessions) -> dict[str, object]:
    """What the rows of a list need, and where its other pages are."""
    by_day = query.sort in ("", "oldest")

    def together(one: SessionRow | None, following: SessionRow | None) -> bool:
        """Whether two sessions that follow one another stand under one heading."""
        if one is None or following is None:
            return False
        return not by_day or listing.day(one) == listing.day(following)

    rows, first = found.rows, _list_address(query)
    joins = bool(rows) and together(found.before, rows[0])
    begun = joins and listing.request.query_params.get("part") == "rows"
    days = listing.days(rows, by_day)
    return {
        "days": (days[0]._replace(name=""), *days[1:]) if begun else days,
        "begun": begun,
        "joins": joins,
        "unended": bool(rows) and together(rows[-1], found.after),
        "page": query.page,
        "pages": found.pages,
        "total": found.total,
        "size": PAGE_SIZE,
        "first": f"{first}&" if "?" in first else f"{first}?",
        "here": listing.here.replace("part=rows&", "").replace("&part=rows", ""),
        "read_only": listing.read_only,
        "notes": (*listing.notes, *found.notes),
    }
