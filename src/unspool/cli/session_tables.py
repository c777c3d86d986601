"""Tables of sessions and projects, with the marks made in the app."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from unspool import human
from unspool.cli import settings
from unspool.model import Overview
from unspool.render.sanitize import one_line
from unspool.store.library import SessionListing

if TYPE_CHECKING:
    from pathlib import Path


class SessionMark(NamedTuple):
    """What a person said about a session."""

    starred: bool = False
    title: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The star and the tags, in a line."""
        return " ".join([*(["★"] if self.starred else []), *(f"#{tag}" for tag in self.tags)])


Of = Callable[[str], SessionMark]
"""What was said about a session, by its id."""


def session_marks() -> Of:
    """Tells what was said about a session; nothing of any where no marks are kept, or they cannot be read."""
    from unspool.store.archive.database import archive_folder

    place = archive_folder()
    if not (place / "marks.db").exists():
        return lambda _: SessionMark()
    from unspool.app.marks import MarkStore
    from unspool.errors import UnspoolError

    try:
        said = MarkStore(place, _key(place)).said()
    except UnspoolError as problem:
        from unspool.cli.settings import warn_once

        warn_once(f"stars, tags and names cannot be read: {problem}")
        return lambda _: SessionMark()
    return lambda session: SessionMark(*said.of(session))


def _key(place: "Path") -> str | None:
    """The key of the archive beside, where it is known without asking."""
    from unspool.store.archive.database import ARCHIVE, find_key, is_encrypted

    return find_key(os.environ, None, None) if is_encrypted(place / ARCHIVE) else None


_FULL_DATES = 72
"""Columns from which the time of day is told as well."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_KIND_STYLES = {"plan": "yellow", "impl": "green", "agent": "magenta"}
_KIND_WORDS = {"interactive": "", "planning": "plan", "implementation": "impl", "background": "bg", "subagent": "agent"}


def is_hidden(overview: Overview) -> bool:
    """Sessions that hold nothing a person would look for."""
    return overview.kind in ("empty", "stub", "subagent") or overview.title.strip().casefold() == "warmup"


def cost_text(overview: Overview) -> str:
    if not overview.calls:
        return ""
    if overview.unpriced and not overview.cost:
        return "?"
    return human.money(overview.cost, floor=bool(overview.unpriced) or overview.usage.floor)


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


def sessions_table(overviews: Sequence[Overview], of: Of, width: int) -> Table:
    """One row a session; the less important columns give way on a narrow terminal, never the title."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    shown = [column for column in _COLUMNS if width >= column[1]]
    for name, _, justify, least, most in shown:
        style = "cyan" if name == "id" else ""
        table.add_column(
            name,
            justify=justify,
            no_wrap=True,
            overflow="ellipsis",
            min_width=least,
            max_width=most,
            style=style,
        )
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    zone = settings.chosen_zone()
    for overview in overviews:
        cells = _cells(overview, zone, brief=width < _FULL_DATES)
        cells["title"] = _title(overview, of(overview.id))
        table.add_row(*(cells[column[0]] for column in shown), cells["title"])
    return table


def _cells(overview: Overview, zone: tzinfo | None, *, brief: bool) -> dict[str, Text | str]:
    when = overview.ended or overview.log.modified
    shown = human.day if brief else human.minute
    kind = _KIND_WORDS.get(overview.kind, overview.kind)
    return {
        "id": one_line(overview.id[:8]),
        "when": shown(when, zone),
        "project": one_line(project_name(overview.project)),
        "turns": str(overview.turns),
        "tools": str(overview.tool_calls),
        "cost": cost_text(overview),
        "size": human.size(overview.size),
        "kind": Text(kind, _KIND_STYLES.get(kind, "")),
    }


def _title(overview: Overview, mark: SessionMark) -> Text:
    """The name that it was given, or its own, with its star and tags before it."""
    said = f"{one_line(mark.short)} " if mark.short else ""
    return Text.assemble((kept_mark(overview), "dim"), (said, "yellow"), one_line(mark.title or overview.title))


def kept_mark(overview: Overview) -> str:
    """What stands before the title of a session whose log only the archive still has."""
    return "(kept) " if overview.kept else ""


def project_name(path: str) -> str:
    """The last part of a project's path."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or path


def by_project(overviews: Sequence[Overview]) -> list[tuple[str, list[Overview]]]:
    """Sessions by project, in the order given."""
    groups: dict[str, list[Overview]] = {}
    for overview in overviews:
        groups.setdefault(overview.project, []).append(overview)
    return list(groups.items())


def projects_table(overviews: Sequence[Overview], limit: int) -> Table:
    """One row a project, the most recently active first."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name, justify in (
        ("last active", "left"),
        ("sessions", "right"),
        ("turns", "right"),
        ("cost", "right"),
        ("size", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("project", overflow="fold")
    zone = settings.chosen_zone()
    for project, group in by_project(overviews)[: limit or None]:
        when = max((o.ended or _LONG_AGO for o in group), default=_LONG_AGO)
        floor = any(o.unpriced or o.usage.floor for o in group)
        table.add_row(
            human.minute(when, zone) if when is not _LONG_AGO else "",
            str(len(group)),
            str(sum(o.turns for o in group)),
            human.money(sum((o.cost for o in group), Decimal(0)), floor=floor),
            human.size(sum(o.size for o in group)),
            one_line(project),
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
