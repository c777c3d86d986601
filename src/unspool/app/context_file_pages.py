"""`/context-files`: what sessions ran under, one file from version to version, and what one session ran under."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from unspool import human
from unspool.agents import agent_name
from unspool.agents.context_files import CONTEXT_KINDS
from unspool.app.marks import custom_titles
from unspool.app.open_session import requested_session
from unspool.app.render import HOME, LinkChoice, nav_link, render_page, render_template, session_href
from unspool.app.session_frame import ran_under, render_session_subpage
from unspool.render.html.elements import HtmlOptions, visible
from unspool.render.html.nodes import nodes_html
from unspool.site.page_template import Crumb
from unspool.site.summaries import shorten_line
from unspool.store.archive import ArchiveDatabase
from unspool.store.index.context_files import (
    ContextFileIndex,
    ContextVersion,
    KnownContextFile,
    RanUnder,
    by_version,
)
from unspool.store.index.times import utc_time

_LISTED, _VERSIONS, _DIFFS, _SESSIONS = 200, 100, 10, 8
"""Files of a list; versions of a file, those of them with what changed, and sessions of each."""
_STYLES = ("find.css", "files.css")


class ContextFileRow(NamedTuple):
    """A context file in a list."""

    path: str
    href: str
    kind: str
    time: datetime | None
    facts: tuple[str, ...]
    warned: str = ""
    """What is not as it should be: gone, or not known."""


class VersionRun(NamedTuple):
    """A session that ran under a version."""

    title: str
    href: str
    time: datetime | None
    how: str


class VersionView(NamedTuple):
    """A version of a context file, as a page tells it."""

    number: int
    since: datetime | None
    until: datetime | None
    kept: datetime | None
    size: str
    runs: tuple[VersionRun, ...]
    more: int
    """Sessions that are not shown."""
    diff: Markup | None


def context_file_href(path: str) -> str:
    return f"/context-files?{urlencode({'path': path}, errors='replace')}"


def context_files_page(request: Request) -> HTMLResponse:
    """One file where a path is asked for; else a list of all, or of a kind."""
    given, context = request.query_params, request.app.state.context
    kind, path = given.get("kind", ""), given.get("path", "")[:4000]
    kinds = [kind] if kind in CONTEXT_KINDS else []
    with context.index() as index, context.archive() as archive:
        known = ContextFileIndex(index.db, archive.origins())
        if path:
            return _file_page(request, known, archive, known.find(path, "/"))
        found = known.files(kinds, (), _LISTED + 1)
    choices = [LinkChoice("all", "/context-files", not kinds)]
    choices += [LinkChoice(one, f"/context-files?kind={one}", one in kinds) for one in CONTEXT_KINDS]
    body = render_template(
        "context_files.html", rows=[_row(one) for one in found[:_LISTED]], more=len(found) > _LISTED, choices=choices
    )
    return render_page(request, "Context files", body, (HOME, nav_link("files")), ("app.css", *_STYLES))


def _row(file: KnownContextFile) -> ContextFileRow:
    counts = human.count(file.versions, "version")
    facts = (counts, *(agent_name(one) for one in file.agents[:3]), "…" if len(file.agents) > 3 else "")
    gone = "" if file.until is None else "gone"
    href = context_file_href(file.place)
    return ContextFileRow(visible(file.place), href, file.kind, utc_time(file.time), tuple(filter(None, facts)), gone)


def _file_page(
    request: Request, known: ContextFileIndex, archive: ArchiveDatabase, file: KnownContextFile
) -> HTMLResponse:
    versions, runs = known.versions(file.id), dict(by_version(known.of_file(file)))
    titles = custom_titles(request.app.state.context)
    pairs = list(zip([None, *versions], versions, strict=False))[::-1]
    body = render_template(
        "context_file.html",
        file=file,
        path=visible(file.place),
        agents=[agent_name(one) for one in file.agents],
        versions=list(_versions(archive, file, pairs[:_VERSIONS], runs, titles)),
        left=max(0, len(pairs) - _VERSIONS),
        unknown=len(runs.get(None, ())),
    )
    crumbs = (HOME, Crumb("Context files", "context-files"))
    return render_page(request, human.last_part(file.place), body, crumbs, _STYLES)


def _versions(
    archive: ArchiveDatabase,
    file: KnownContextFile,
    pairs: Sequence[tuple[ContextVersion | None, ContextVersion]],
    runs: dict[ContextVersion | None, list[RanUnder]],
    titles: dict[str, str],
) -> Iterator[VersionView]:
    for number, (before, one) in enumerate(pairs):
        under = runs.get(one, [])
        diff = one.diff(archive, file.place, before) if number < _DIFFS else None
        made = None if diff is None else Markup(nodes_html([diff], HtmlOptions()))  # noqa: S704  a writer's markup
        shown = tuple(_run(run, titles) for run in under[:_SESSIONS])
        times = utc_time(one.time), utc_time(one.until), utc_time(one.kept)
        yield VersionView(one.number, *times, human.size(one.size), shown, max(0, len(under) - _SESSIONS), made)


def _run(one: RanUnder, titles: dict[str, str]) -> VersionRun:
    key = one.session.key
    title = shorten_line(visible(titles.get(key, one.session.title)), 90) or key
    how = human.joined(one.how, "changed meanwhile" if one.changed else "")
    return VersionRun(title, session_href(key), utc_time(one.session.started), how)


def session_context_files_page(request: Request) -> HTMLResponse:
    """What a session ran under, each as it stood then."""
    context, opened = requested_session(request)
    rows = [_under(one) for one in ran_under(context, opened.key)]
    body = render_template("context_files_of.html", rows=rows)
    return render_session_subpage(context, opened, "What it ran under", body)


def _under(one: RanUnder) -> ContextFileRow:
    version, file = one.version, one.file
    number = "" if version is None else f"version {version.number} of {file.versions}"
    still = "" if version is None or version.until is None else "changed since" if file.until is None else "gone since"
    facts = (number, one.how if version is not None else "", "changed meanwhile" if one.changed else "", still)
    warned = "not known: it was kept only later" if version is None else ""
    since = None if version is None else utc_time(version.time)
    href = context_file_href(file.place)
    return ContextFileRow(visible(file.place), href, file.kind, since, tuple(filter(None, facts)), warned)


ROUTES = [
    Route("/context-files", context_files_page),
    Route("/s/{key}/context-files", session_context_files_page),
]
