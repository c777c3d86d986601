"""`/sessions`: the list of sessions with its facets."""

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import apsw
from starlette.requests import Request
from starlette.responses import HTMLResponse

from unspool import human
from unspool.app import render
from unspool.app.context import AppContext, cached_answer
from unspool.app.list_rows import SessionDay, SessionRowBuilder, day_of, related_sessions
from unspool.app.marks import AllMarks, get_mark_store
from unspool.app.project_list import ProjectList
from unspool.app.session_query import (
    ANY_KIND,
    PAGE_SIZE,
    SESSION_KINDS,
    SESSION_SORTS,
    ListedSession,
    SessionFinder,
    SessionListPage,
    SessionQuery,
    parse_session_query,
)
from unspool.config.settings import current_settings
from unspool.errors import UnspoolError

if TYPE_CHECKING:
    from datetime import tzinfo


class ListRequest:
    """One request for a list; it lives while the index is open."""

    def __init__(self, request: Request, db: apsw.Connection) -> None:
        self.request, self.db, self.now = request, db, time.time()
        self.zone: tzinfo | None = current_settings().zone
        self.notes: list[str] = []
        """What the page should say went wrong, though it can be shown."""

    @property
    def desk(self) -> AppContext:
        desk: AppContext = self.request.app.state.desk
        return desk

    @property
    def read_only(self) -> bool:
        return bool(self.request.app.state.read_only)

    @property
    def here(self) -> str:
        """The address asked for, to come back to."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @cached_property
    def said(self) -> AllMarks:
        """What was said about sessions; a damaged file of marks does not keep anyone from reading."""
        try:
            return get_mark_store(self.desk).said()
        except UnspoolError as problem:
            self.notes.append(f"Stars, tags and names cannot be read: {problem}")
            return AllMarks()

    @cached_property
    def shelf(self) -> ProjectList:
        return ProjectList.of(self.db)

    @cached_property
    def listing(self) -> SessionFinder:
        return SessionFinder(self.db, self.said, self.shelf, self.zone)

    def page(self, wanted: SessionQuery) -> SessionListPage:
        return self.listing.page(wanted)

    def days(self, listed: Sequence[ListedSession], by_day: bool = True, style: str = "day") -> tuple[SessionDay, ...]:
        """Sessions as rows; `style` is how moments are shown where they are not put by day."""
        maker = SessionRowBuilder(
            self.said, self.shelf, self.zone, self.now, related_sessions(self.db, listed, self.said)
        )
        return maker.by_day(listed) if by_day else maker.together(listed, style)


_PROJECTS = 12


class FacetLink(NamedTuple):
    """A link to a narrower, or another, list."""

    text: str
    href: str
    number: int | None = None
    here: bool = False
    about: str = ""


class FacetGroup(NamedTuple):
    name: str
    ways: tuple[FacetLink, ...]


def facet_groups(scene: ListRequest, wanted: SessionQuery, page: SessionListPage) -> tuple[FacetGroup, ...]:
    """Projects, kinds, tags and saved filters, those that have any."""
    every = (
        FacetGroup("By project", tuple(_projects(scene, wanted))),
        FacetGroup("By kind", tuple(_kinds(wanted, page))),
        FacetGroup("Marked", tuple(_marked(scene, wanted))),
    )
    return tuple(group for group in every if group.ways)


def _projects(scene: ListRequest, wanted: SessionQuery) -> Iterator[FacetLink]:
    shown = [one for one in scene.shelf.listed() if one.path not in scene.said.hidden]
    chosen = set(scene.shelf.paths(wanted.project)) if wanted.project else set[str]()
    listed = [one for at, one in enumerate(shown) if at < _PROJECTS or one.path in chosen]
    yield FacetLink("All", _to(wanted, project=""), sum(one.sessions for one in shown), not wanted.project)
    for one in listed:
        yield FacetLink(
            scene.shelf.label(one.path), _to(wanted, project=one.slug), one.sessions, one.path in chosen, one.path
        )
    if len(listed) < len(scene.shelf.projects):
        yield FacetLink("All projects …", "/projects", len(scene.shelf.projects))


def _kinds(wanted: SessionQuery, page: SessionListPage) -> Iterator[FacetLink]:
    if len(page.kinds) < 2 and not wanted.kind:
        return
    for kind in SESSION_KINDS:
        if kind in page.kinds:
            here = wanted.kind == kind
            yield FacetLink(kind, _to(wanted, kind="" if here else kind), page.kinds[kind], here)
    if {"empty", "stub"} & set(page.kinds):
        here = wanted.kind == ANY_KIND
        yield FacetLink("all kinds", _to(wanted, kind="" if here else ANY_KIND), sum(page.kinds.values()), here)


def _marked(scene: ListRequest, wanted: SessionQuery) -> Iterator[FacetLink]:
    starred = sum(mark.starred for mark in scene.said.marks.values())
    if starred or wanted.starred:
        yield FacetLink("★ starred", _to(wanted, starred="" if wanted.starred else "1"), starred, bool(wanted.starred))
    for tag, number in scene.said.tags.items():
        here = wanted.tag.casefold() == tag.casefold()
        yield FacetLink(f"#{tag}", _to(wanted, tag="" if here else tag), number, here)


def _to(wanted: SessionQuery, **changes: str) -> str:
    query = wanted.address(**changes)
    return f"/sessions?{query}" if query else "/sessions"


_TIMELY = ("", "oldest")
"""Orders in which days follow one another."""
_MODELS = "SELECT DISTINCT model FROM terms WHERE model <> '' ORDER BY model"


def sessions_page(request: Request) -> HTMLResponse:
    """A page of the list."""
    asked, desk = parse_session_query(request.query_params), _desk(request)
    with desk.index() as index:
        scene, db = ListRequest(request, index.db), index.db
        page = scene.page(asked)
        rows = list_values(scene, asked, page, "/sessions")
        if request.query_params.get("part") == "rows":
            return HTMLResponse(render.render_template("rows.html", **rows))
        models = cached_answer(db, _MODELS, lambda: [model for (model,) in db.execute(_MODELS)])
        body = render.render_template(
            "sessions.html",
            title=human.count(page.total, "session"),
            asked=asked,
            groups=facet_groups(scene, asked, page),
            saved=scene.said.saved,
            sorts=SESSION_SORTS,
            models=models,
            notes=(*scene.notes, *page.notes),
            **rows,
        )
    return render.render_page(request, "Sessions", body, (render.HOME,), ("app.css",), ("browse.js", "list.js"))


def list_values(scene: ListRequest, asked: SessionQuery, page: SessionListPage, path: str) -> dict[str, object]:
    """What the rows of a list need, and where its other pages are."""
    query, timely = asked.query, asked.sort in _TIMELY
    first = f"{path}?{query}&" if query else f"{path}?"
    alone = scene.request.query_params.get("part") == "rows"
    joins = bool(page.rows) and _together(scene, timely, page.before, page.rows[0])
    begun = alone and joins
    days = scene.days(page.rows, timely)
    return {
        "days": (days[0]._replace(name=""), *days[1:]) if begun else days,
        "begun": begun,
        "joins": joins,
        "unended": bool(page.rows) and _together(scene, timely, page.rows[-1], page.after),
        "page": asked.page,
        "pages": page.pages,
        "total": page.total,
        "size": PAGE_SIZE,
        "first": first,
        "here": scene.here.replace("part=rows&", "").replace("&part=rows", ""),
        "read_only": scene.read_only,
    }


def _together(scene: ListRequest, timely: bool, one: ListedSession | None, next_: ListedSession | None) -> bool:
    """Whether two sessions that follow one another are listed under one heading."""
    if one is None or next_ is None:
        return False
    return not timely or day_of(one.time, scene.zone) == day_of(next_.time, scene.zone)


def _desk(request: Request) -> AppContext:
    desk: AppContext = request.app.state.desk
    return desk
