"""The pages above sessions: one for each project, and one above all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from unspool import human
from unspool.figures import tell_ends
from unspool.model import CallEnd
from unspool.prices import Cost
from unspool.render.html.elements import time_tag
from unspool.site.address import INDEX
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame, HtmlPage, PageTemplate, as_markup, fill_template
from unspool.site.session_head import Tile
from unspool.site.session_rows import ListedSession, RowLink, SessionDay, SessionRow
from unspool.site.session_view import format_cost

RECENT = 40
"""Sessions of all projects that the master page lists."""
_DAYS = 30
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ProjectRows(NamedTuple):
    """A project and its sessions."""

    name: str
    path: str
    """Where the project lay, as its logs tell it."""
    folder: str
    """Its folder below the site's root."""
    rows: tuple[tuple[str, SessionRow], ...]
    """Each session's folder below the project's, and the session, in any order."""

    @property
    def latest(self) -> datetime:
        return max((row.time or _LONG_AGO for _, row in self.rows), default=_LONG_AGO)


def project_page(project: ProjectRows, options: SiteOptions, frame: Frame) -> HtmlPage:
    """A project's sessions, newest first; the path is relative to the project's folder."""
    body = fill_template(
        "project.html",
        title=project.name,
        place=project.path if project.path != project.name else "",
        tiles=(Tile("Sessions", f"{len(project.rows):,}"), *_tiles([row for _, row in project.rows])),
        days=tuple(_days(_listed(row, f"{folder}/{INDEX}") for folder, row in project.rows)),
    )
    return HtmlPage(INDEX, PageTemplate(options, frame).page(project.name, body))


def master_page(projects: Sequence[ProjectRows], options: SiteOptions, frame: Frame) -> HtmlPage:
    """All projects and the newest sessions; the path is relative to the site's root."""
    listed = [
        _listed(row, f"{project.folder}/{folder}/{INDEX}", RowLink(project.name))
        for project in projects
        for folder, row in project.rows
    ]
    rows = [one.row for one in listed]
    body = fill_template(
        "master.html",
        title="Sessions",
        tiles=(Tile("Sessions", f"{len(rows):,}", human.count(len(projects), "project")), *_tiles(rows)),
        bars=tuple(_bars(rows)),
        days=tuple(_days(sorted(listed, key=_newest_first)[:RECENT])),
        projects=tuple(_projects(projects)),
    )
    return HtmlPage(INDEX, PageTemplate(options, frame).page("Sessions", body))


def _tiles(rows: Sequence[SessionRow]) -> Iterator[Tile]:
    """What the sessions add up to."""
    yield Tile("Prompts", f"{sum(row.prompts - row.copied for row in rows):,}")
    ends = sum((Counter(row.total_ends) for row in rows), Counter[CallEnd]())
    yield Tile("Tool calls", f"{sum(row.total_calls for row in rows):,}", tell_ends(ends))
    if commits := sum(row.commits for row in rows):
        yield Tile("Commits", f"{commits:,}")
    if tokens := sum(row.tokens for row in rows):
        yield Tile("Tokens", human.tokens(tokens), "", f"{tokens:,}")
    cost = sum((row.cost for row in rows), Cost())
    if cost.amount:
        yield Tile("Cost", format_cost(cost), "at list prices", f"${cost.amount:f}")


def _listed(row: SessionRow, href: str, *links: RowLink) -> ListedSession:
    return ListedSession(row, href, as_markup(time_tag(row.time, "clock")), row.title or row.id, links=links)


def _newest_first(listed: ListedSession) -> tuple[float, str]:
    time = listed.row.time
    return -time.timestamp() if time else 0.0, listed.row.id


def _days(listed: Iterable[ListedSession]) -> Iterator[SessionDay]:
    for _, group in groupby(sorted(listed, key=_newest_first), key=lambda one: one.row.time and one.row.time.date()):
        rows = tuple(group)
        yield SessionDay(as_markup(time_tag(rows[0].row.time, "day") or "Without a date"), rows)


def _bars(rows: Sequence[SessionRow]) -> Iterator[int]:
    """Sessions a day over the last days that have any, as parts of a hundred of the most."""
    days = Counter(row.time.date() for row in rows if row.time)
    if not days:
        return
    last, most = max(days), max(days.values())
    for back in range(_DAYS - 1, -1, -1):
        number = days.get(last - timedelta(days=back), 0) if back <= (last - date.min).days else 0
        yield max(4, round(100 * number / most)) if number else 0


def _projects(projects: Sequence[ProjectRows]) -> Iterator[dict[str, str]]:
    """Projects, the one used last first."""
    for project in sorted(projects, key=lambda one: (-one.latest.timestamp() if one.rows else 0.0, one.name)):
        yield {
            "name": project.name,
            "place": project.path,
            "href": f"{project.folder}/{INDEX}",
            "sessions": human.count(len(project.rows), "session"),
            "latest": as_markup(time_tag(project.latest if project.latest > _LONG_AGO else None, "day")),
            "cost": format_cost(sum((row.cost for _, row in project.rows), Cost())),
        }
