"""Tables of sessions and projects."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from rich.table import Table
from rich.text import Text

from unspool import human
from unspool.cli.options import local_zone
from unspool.export.inert import one_line
from unspool.library import Listing
from unspool.model import Overview

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_KIND_STYLES = {"plan": "yellow", "impl": "green", "agent": "magenta"}
_KIND_WORDS = {"interactive": "", "planning": "plan", "implementation": "impl", "background": "bg", "subagent": "agent"}


def hidden(overview: Overview) -> bool:
    """Sessions that hold nothing a person would look for."""
    return overview.kind in ("empty", "stub", "subagent") or overview.title.strip().casefold() == "warmup"


def money(amount: Decimal, *, floor: bool) -> str:
    """$4.12; $0.003 where cents would say nothing; with ≥ where it is a lower bound."""
    small = Decimal(0) < amount < Decimal("0.1")
    text = f"${amount:,.3f}" if small else f"${amount:,.2f}"
    return f"≥{text}" if floor else text


def cost(overview: Overview) -> str:
    if not overview.calls:
        return ""
    if overview.unpriced and not overview.cost:
        return "?"
    return money(overview.cost, floor=bool(overview.unpriced) or overview.usage.floor)


def sessions_table(overviews: Sequence[Overview], width: int) -> Table:
    """One row a session; the less important columns give way on a narrow terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    wide, middle = width >= 110, width >= 80
    table.add_column("id", no_wrap=True, style="cyan", min_width=8)
    table.add_column("when", no_wrap=True, min_width=16)
    if wide:
        table.add_column("project", no_wrap=True, overflow="ellipsis", min_width=10, max_width=16)
    for name in ("turns", "tools", "cost", "size") if middle else ("turns", "cost"):
        table.add_column(name, justify="right", no_wrap=True, min_width=6)
    if middle:
        table.add_column("kind", no_wrap=True, min_width=4)
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    for overview in overviews:
        table.add_row(*_cells(overview, wide=wide, middle=middle))
    return table


def _cells(overview: Overview, *, wide: bool, middle: bool) -> list[Text | str]:
    when = overview.ended or overview.log.modified
    cells: list[Text | str] = [
        overview.id[:8],
        when.astimezone(local_zone()).strftime("%Y-%m-%d %H:%M") if when else "",
    ]
    if wide:
        cells.append(one_line(project_name(overview.project)))
    cells.append(str(overview.turns))
    if middle:
        cells.append(str(overview.tool_calls))
    cells.append(cost(overview))
    if middle:
        kind = _KIND_WORDS.get(overview.kind, overview.kind)
        cells += [human.size(overview.size), Text(kind, _KIND_STYLES.get(kind, ""))]
    cells.append(one_line(overview.title))
    return cells


def project_name(path: str) -> str:
    """The last part of a project's path."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or path


def projects_table(overviews: Sequence[Overview], limit: int) -> Table:
    """One row a project, the most recently active first."""
    groups: dict[str, list[Overview]] = {}
    for overview in overviews:
        groups.setdefault(overview.project, []).append(overview)
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
    for project, group in list(groups.items())[: limit or None]:
        when = max((o.ended or _LONG_AGO for o in group), default=_LONG_AGO)
        floor = any(o.unpriced or o.usage.floor for o in group)
        table.add_row(
            when.astimezone(local_zone()).strftime("%Y-%m-%d %H:%M") if when is not _LONG_AGO else "",
            str(len(group)),
            str(sum(o.turns for o in group)),
            money(sum((o.cost for o in group), Decimal(0)), floor=floor),
            human.size(sum(o.size for o in group)),
            one_line(project),
        )
    return table


def summary_line(listing: Listing, found: Sequence[Overview], shown: Sequence[Overview]) -> Text:
    """What is shown, and what all sessions cost together with copied history counted once."""
    parts = [
        f"{len(shown)} of {human.count(len(found), 'session')}"
        if len(shown) < len(found)
        else human.count(len(found), "session")
    ]
    if len(found) < len(listing.overviews):
        parts.append(f"{len(listing.overviews) - len(found)} more not listed (-a for empty ones)")
    floor = listing.cost.floor or bool(listing.cost.unpriced)
    parts.append(f"all together {money(listing.cost.amount, floor=floor)}, {human.tokens(listing.usage.total)} tokens")
    return Text("\n" + " · ".join(parts))
