"""Tables of sessions and projects, with the marks made in the app."""

import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from unspool import human
from unspool.cli import settings
from unspool.errors import UnspoolError
from unspool.model import Overview
from unspool.render.sanitize import one_line
from unspool.store.library import SessionListing


class SessionMark(NamedTuple):
    starred: bool = False
    title: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        return " ".join([*(["★"] if self.starred else []), *(f"#{tag}" for tag in self.tags)])


Marks = Callable[[str], SessionMark]
"""What was said about a session, by its id."""


def session_marks() -> Marks:
    """Tells what was said about a session; nothing of any where no marks are kept, or they cannot be read."""
    from unspool.store.archive.database import ARCHIVE, archive_folder, find_key, is_encrypted

    place = archive_folder()
    if not (place / "marks.db").exists():
        return lambda _: SessionMark()
    from unspool.app.marks import MarkStore

    key = find_key(os.environ, None, None) if is_encrypted(place / ARCHIVE) else None
    try:
        marks = MarkStore(place, key).all_marks()
    except UnspoolError as problem:
        settings.warn_once(f"stars, tags and names cannot be read: {problem}")
        return lambda _: SessionMark()
    return lambda session: SessionMark(*marks.of(session))


_FULL_DATES = 72
"""Columns from which the time of day is told as well."""
_KIND_STYLES = {"plan": "yellow", "impl": "green", "agent": "magenta"}
_KIND_WORDS = {"interactive": "", "planning": "plan", "implementation": "impl", "background": "bg", "subagent": "agent"}


def is_hidden(overview: Overview) -> bool:
    """Sessions that hold nothing a person would look for."""
    return overview.kind in ("empty", "stub", "subagent") or overview.title.strip().casefold() == "warmup"


_COLUMNS: tuple[tuple[str, int, JustifyMethod, int, int | None], ...] = (
    # name, narrowest terminal that has room for it, alignment, least and greatest width
    ("id", 0, "left", 8, 8),
    ("when", 0, "left", 10, 16),
    ("project", 110, "left", 10, 16),
    ("turns", 44, "right", 5, None),
    ("tools", 90, "right", 5, None),
    ("cost", 64, "right", 6, None),
    ("size", 90, "right", 6, None),
    ("kind", 90, "left", 4, None),
)


def sessions_table(overviews: Sequence[Overview], marks: Marks, width: int) -> Table:
    """One row a session; the less important columns give way on a narrow terminal, never the title."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    shown = [column for column in _COLUMNS if width >= column[1]]
    for name, _, justify, least, most in shown:
        style = "cyan" if name == "id" else ""
        table.add_column(
            name, style=style, justify=justify, no_wrap=True, overflow="ellipsis", min_width=least, max_width=most
        )
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    for overview in overviews:
        cells = _cells(overview, marks(overview.id), human.day if width < _FULL_DATES else human.minute)
        table.add_row(*(cells[column[0]] for column in shown), cells["title"])
    return table


def _cells(overview: Overview, mark: SessionMark, written: Callable[..., str]) -> dict[str, Text | str]:
    kind = _KIND_WORDS.get(overview.kind, overview.kind)
    marked = f"{one_line(mark.short)} " if mark.short else ""
    floor = bool(overview.unpriced) or overview.usage.floor
    cost = "?" if overview.unpriced and not overview.cost else human.money(overview.cost, floor=floor)
    return {
        "id": one_line(overview.id[:8]),
        "when": written(overview.ended or overview.log.modified, settings.chosen_zone()),
        "project": one_line(human.last_part(overview.project)),
        "turns": str(overview.turns),
        "tools": str(overview.tool_calls),
        "cost": cost if overview.calls else "",
        "size": human.size(overview.size),
        "kind": Text(kind, _KIND_STYLES.get(kind, "")),
        "title": Text.assemble(
            (kept_mark(overview), "dim"), (marked, "yellow"), one_line(mark.title or overview.title)
        ),
    }


def kept_mark(overview: Overview) -> str:
    """What stands before the title of a session whose log only the archive still has."""
    return "(kept) " if overview.kept else ""


class ProjectTotals(NamedTuple):
    path: str
    overviews: list[Overview]

    @property
    def figures(self) -> dict[str, Any]:
        every = self.overviews
        return {
            "project": self.path,
            "sessions": len(every),
            "ids": [one.id for one in every],
            "turns": sum(one.turns for one in every),
            "tool_calls": sum(one.tool_calls for one in every),
            "size": sum(one.size for one in every),
            "cost": str(sum((one.cost for one in every), Decimal(0))),
            "ended": max((one.ended for one in every if one.ended is not None), default=None),
        }


def by_project(overviews: Sequence[Overview]) -> list[ProjectTotals]:
    groups: dict[str, list[Overview]] = {}
    for overview in overviews:
        groups.setdefault(overview.project, []).append(overview)
    return [ProjectTotals(*group) for group in groups.items()]


def projects_table(overviews: Sequence[Overview], limit: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("last active", no_wrap=True)
    for name in ("sessions", "turns", "cost", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("project", overflow="fold")
    for project in by_project(overviews)[: limit or None]:
        figures = project.figures
        floor = any(one.unpriced or one.usage.floor for one in project.overviews)
        ended, cost = human.minute(figures["ended"], settings.chosen_zone()), Decimal(figures["cost"])
        counts = str(figures["sessions"]), str(figures["turns"])
        table.add_row(
            ended, *counts, human.money(cost, floor=floor), human.size(figures["size"]), one_line(project.path)
        )
    return table


def summary_line(listing: SessionListing, found: Sequence[Overview], shown: Sequence[Overview]) -> Text:
    """What is shown, and what all sessions cost together with copied history counted once."""
    total = human.count(len(found), "session")
    parts = [f"{len(shown)} of {total}" if len(shown) < len(found) else total]
    left = sum(is_hidden(overview) for overview in listing.overviews) - sum(map(is_hidden, found))
    if left:
        parts.append(f"{human.count(left, 'empty one')} hidden (-a)")
    floor = listing.cost.floor or bool(listing.cost.unpriced)
    parts.append(
        f"all together {human.money(listing.cost.amount, floor=floor)}, {human.tokens(listing.usage.total)} tokens"
    )
    return Text("\n" + " · ".join(parts))
