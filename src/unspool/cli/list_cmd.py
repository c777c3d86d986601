"""`unspool list`: sessions or projects, newest first, with the marks made in the app."""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import click
import msgspec
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from unspool import human
from unspool.agents import agent_name
from unspool.agents.records import session_name
from unspool.cli import options, settings
from unspool.cli.output import Column, complain, console, print_json, print_table, progress, show_renderable
from unspool.errors import Unreadable, UnspoolError
from unspool.model import Overview, SessionKind, Usage
from unspool.model.session import is_unlisted
from unspool.render.sanitize import one_line
from unspool.store.library import Library


class SessionMark(NamedTuple):
    starred: bool = False
    title: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        return " ".join([*(["★"] if self.starred else []), *(f"#{tag}" for tag in self.tags)])


_T = TypeVar("_T")
Marks = Callable[[str], SessionMark]
"""What was said about a session, by its id."""


def session_marks() -> Marks:
    """Tells what was said about a session; nothing of any where no marks are kept, or they cannot be read."""
    from unspool.store.archive.database import ARCHIVE, archive_folder
    from unspool.store.archive.keys import find_key, is_encrypted

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


_COLUMNS: tuple[tuple[str, int, JustifyMethod, int, int | None], ...] = (
    # name, narrowest terminal that has room for it, alignment, least and greatest width
    ("id", 0, "left", 8, 8),
    ("when", 0, "left", 10, 16),
    ("agent", 96, "left", 5, 12),
    ("project", 110, "left", 10, 16),
    ("turns", 44, "right", 5, None),
    ("tools", 90, "right", 5, None),
    ("tokens", 150, "right", 6, None),
    ("cost", 64, "right", 6, None),
    ("size", 90, "right", 6, None),
    ("kind", 90, "left", 4, None),
)


def sessions_table(overviews: Sequence[Overview], marks: Marks, width: int, sort: str = "") -> Table:
    """One row a session; the less important columns give way on a narrow terminal, never the title, nor what the rows
    are sorted by."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    several = len({overview.agent for overview in overviews}) > 1
    by = "tools" if sort == "calls" else sort
    there = (column for column in _COLUMNS if width >= column[1] or column[0] == by)
    shown = [column for column in there if several or column[0] != "agent"]
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
    return {
        "id": one_line(overview.id[:8]),
        "when": written(overview.ended or overview.log.modified, settings.chosen_zone()),
        "agent": agent_name(overview.agent),
        "project": one_line(human.last_part(overview.project)),
        "turns": str(overview.turns),
        "tools": str(overview.tool_calls),
        "tokens": human.tokens(overview.usage.total) if overview.calls else "",
        "cost": _money([overview]) if overview.calls else "",
        "size": human.size(overview.size),
        "kind": Text(kind, _KIND_STYLES.get(kind, "")),
        "title": Text.assemble(
            (kept_mark(overview), "dim"), (marked, "yellow"), one_line(mark.title or overview.title)
        ),
    }


def kept_mark(overview: Overview) -> str:
    """What stands before the title of a session whose log only the archive still has."""
    return "(kept) " if overview.kept else ""


def _is_floor(overviews: Iterable[Overview]) -> bool:
    """Whether sessions cost more than is known."""
    return any(one.unpriced or one.usage.floor for one in overviews)


def _money(overviews: Sequence[Overview]) -> str:
    """What sessions cost together; ? where no price is known of what they used."""
    unpriced = any(one.unpriced for one in overviews)
    return human.money(sum((one.cost for one in overviews), Decimal(0)), floor=_is_floor(overviews), unpriced=unpriced)


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
            "turns": sum(one.turns - (one.history.turns if one.history is not None else 0) for one in every),
            "tool_calls": sum(one.tool_calls for one in every),
            "size": sum(one.size for one in every),
            "cost": str(sum((one.cost for one in every), Decimal(0))),
            "floor": _is_floor(every),
            "ended": max((one.ended for one in every if one.ended is not None), default=None),
        }


def by_project(overviews: Sequence[Overview]) -> list[ProjectTotals]:
    groups: dict[str, list[Overview]] = {}
    for overview in overviews:
        groups.setdefault(overview.project, []).append(overview)
    return [ProjectTotals(*group) for group in groups.items()]


def projects_table(projects: Sequence[ProjectTotals]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("last active", no_wrap=True)
    for name in ("sessions", "turns", "cost", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("project", overflow="fold")
    for project in projects:
        figures, ended = project.figures, human.minute(project.figures["ended"], settings.chosen_zone())
        counts = str(figures["sessions"]), str(figures["turns"]), _money(project.overviews)
        table.add_row(ended, *counts, human.size(figures["size"]), one_line(project.path))
    return table


_FIGURES: dict[str, Callable[[Overview], Any]] = {
    "cost": lambda one: one.cost,
    "tokens": lambda one: one.usage.total,
    "size": lambda one: one.size,
    "turns": lambda one: one.turns,
    "calls": lambda one: one.tool_calls,
}
_SORTS = ("when", *_FIGURES, "title")


class ListOrder(NamedTuple):
    """The newest, the largest or the first of the alphabet stand on top, unless that is reversed."""

    by: str
    reverse: bool

    def of_sessions(self, found: list[Overview], marks: Marks) -> list[Overview]:
        return self._sorted(found, lambda one: marks(one.id).title or one.title, _FIGURES.get(self.by))

    def of_projects(self, found: list[ProjectTotals]) -> list[ProjectTotals]:
        def total(project: ProjectTotals) -> Any:
            return project.figures["turns"] if self.by == "turns" else sum(map(_FIGURES[self.by], project.overviews))

        return self._sorted(found, lambda one: one.path, total if self.by in _FIGURES else None)

    def _sorted(self, rows: list[_T], name: Callable[[_T], str], figure: Callable[[_T], Any] | None) -> list[_T]:
        """The rows, which came newest first."""
        if self.by == "title":
            rows = sorted(rows, key=lambda row: name(row).casefold())
        elif figure is not None:
            rows = sorted(rows, key=figure, reverse=True)
        return rows[::-1] if self.reverse else rows


def summary_line(things: str, found: Sequence[Overview], hidden: Sequence[Overview]) -> Text:
    """What is listed, what was hidden of it, and what all that fits the filters cost together."""
    every = (*found, *hidden)
    usage, gone = sum((one.usage for one in every), Usage()), sum(one.kind == "ghost" for one in hidden)
    empty = len(hidden) - gone
    left = f"{human.count(empty, 'empty one')} hidden (-a)" if empty else ""
    lost = f"{gone:,} without a log (-k ghost)" if gone else ""
    spent = f"all together {_money(every)}, {human.tokens(usage.total)} tokens"
    return Text("\n" + human.joined(things, left, lost, spent))


def _listed(shown: int, all_: int, thing: str) -> str:
    return f"{shown} of {human.count(all_, thing)}" if shown < all_ else human.count(all_, thing)


def show_clones(limit: int, *, as_json: bool) -> None:
    from unspool.copies.records import copy_records

    found = list(copy_records())
    shown = found[: limit or None]
    there = [bool(record.files) and Path(record.files[0].path).exists() for record in shown]
    if as_json:
        rows = [{**msgspec.to_builtins(record), "there": one} for record, one in zip(shown, there, strict=True)]
        print_json({"clones": rows, "all": len(found)})
    elif shown:
        columns = [
            Column("made", [record.made[:16].replace("T", " ") for record in shown], right=False),
            Column("id", [record.session[:8] for record in shown], right=False),
            Column("by", [record.command for record in shown], right=False, rank=2),
            Column("from", [record.source[:8] for record in shown], right=False),
            Column("tokens", [f"{record.before.tokens:,} → {record.after.tokens:,}" for record in shown], rank=3),
            Column("", ["" if one else "gone" for one in there], right=False),
            Column("title", [record.title for record in shown], right=False, least=20),
        ]
        print_table(columns)
    else:
        click.echo("No copy was made yet. `unspool clone SESSION` makes one.")


_KINDS = get_args(SessionKind)


class ListFilter(msgspec.Struct, frozen=True):
    """What the filters ask for; texts are found anywhere, in any case."""

    project: str = ""
    title: str = ""
    model: str = ""
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    everything: bool = False
    flagged: frozenset[str] | None = None
    """Sessions that a scanner flags, by agent and id, where those are asked for."""

    def fits(self, overview: Overview, name: str = "") -> bool:
        """Whether a session is asked for; `name` is one that a person gave it."""
        when = overview.ended or overview.log.modified
        return (
            self.project.casefold() in overview.project.casefold()
            and any(self.title.casefold() in title.casefold() for title in (overview.title, name))
            and (not self.model or any(self.model.casefold() in name.casefold() for name in overview.models))
            and (self.since is None or (when is not None and when >= self.since))
            and (self.until is None or (when is not None and when < self.until))
            and (not self.kind or overview.kind == self.kind)
            and (self.flagged is None or session_name(overview.agent, overview.id) in self.flagged)
        )

    def hides(self, overview: Overview) -> bool:
        """Whether a session that fits is listed only where it is asked for."""
        return not self.kind and not self.everything and is_unlisted(overview.kind, overview.title)


def _flagged(library: Library, name: str) -> frozenset[str] | None:
    """The sessions that a scanner flags, or `any`; None where they are not asked for."""
    if not name:
        return None
    from unspool.scanners import SCANNERS
    from unspool.store.library.scans import flagged_sessions

    known = [one.name for one in SCANNERS]
    if name not in ("any", *known):
        raise click.BadParameter(f"there are {', '.join(known)} and any.", param_hint="--flag")
    logs = library.logs()
    with progress(sum(log.total_size for log in logs), "Scanning") as done:
        found = flagged_sessions(logs, done)
    return frozenset(session for session, names in found.items() if (names if name == "any" else name in names))


@click.command("list")
@click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT.")
@click.option("-t", "--title", default="", metavar="TEXT", help="Only sessions whose title holds TEXT.")
@click.option("-m", "--model", default="", metavar="TEXT", help="Only sessions that used such a model.")
@click.option("-k", "--kind", type=click.Choice(_KINDS), metavar="KIND", help=f"Only this kind: {', '.join(_KINDS)}.")
@click.option("--flag", "flag", default="", metavar="NAME", help="Only sessions that `unspool scan` flags so, or any.")
@click.option("--since", callback=options.day, metavar="WHEN", help="Active since 2026-01-31, or 3d, 2w ago.")
@click.option("--until", callback=options.day, metavar="WHEN", help="Active before a date or an age.")
@click.option("-a", "--all", "everything", is_flag=True, help="Also stubs, warm-ups, stray subagents, ghosts.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), default=30, show_default=True, help="At most so many; 0: all."
)
@click.option(
    "--sort", type=click.Choice(_SORTS), default="when", show_default=True, help="What is largest, or newest, first."
)
@click.option("-r", "--reverse", is_flag=True, help="The other way round.")
@click.option("--projects", is_flag=True, help="List projects instead of sessions.")
@click.option("--clones", is_flag=True, help="List the copies that were made, with what they were made from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(limit: int, projects: bool, clones: bool, as_json: bool, library: Library, **filters: Any) -> None:
    """List sessions or projects, newest first.

    \b
    unspool list                        the newest 30 sessions
    unspool list --sort cost -n 10      the dearest ten
    unspool list -p shop --since 2w     of one project, of the last two weeks
    unspool list --flag tests-claimed   where the agent said that tests pass, and they did not
    unspool list --projects             projects with their totals
    unspool list --clones               the copies made by clone, fork, repair, move and import
    unspool list --json | jq '.sessions[] | [.id, .title, .cost]'

    Cost is what the requests would cost at public list prices, subagents included; "≥" marks a lower bound,
    where the log never held the final figure or a model has no known price. Names, stars and tags that sessions were
    given in the app are shown; with --json they are `mark`, and `title` stays the session's own.
    "(kept)" stands before a session whose log only your archive still has. A ghost is a session that was deleted
    before anything was kept: its prompts are known from the agent's own list of them (`-k ghost`; `show` tells them).
    """
    if clones:
        show_clones(limit, as_json=as_json)
        return
    if not library.sources and not library.logs():  # nobody named a source, and the agent has logged nothing yet
        where = "`unspool agents --all` lists where they are looked for"
        click.echo(f"No sessions yet ({where}); here is the demo.\n", err=True)
        library = Library([options.demo_folder()])
    with progress(sum(log.total_size for log in library.logs()), "Reading sessions") as done:
        listing = library.listing(done)
    order, marks = ListOrder(filters.pop("sort"), filters.pop("reverse")), session_marks()
    flagged = _flagged(library, filters.pop("flag"))
    wanted = ListFilter(**filters, flagged=flagged)
    fitting = [overview for overview in listing.overviews if wanted.fits(overview, marks(overview.id).title)]
    found = [overview for overview in fitting if not wanted.hides(overview)]
    totals = order.of_projects(by_project(found)) if projects else None
    found = order.of_sessions(found, marks)
    if as_json:
        rows = (
            {"projects": [one.figures for one in totals[: limit or None]]}
            if totals is not None
            else {"sessions": [_session(overview, marks(overview.id)) for overview in found[: limit or None]]}
        )
        logs = sum(overview.kind != "ghost" for overview in listing.overviews)
        total = {"sessions": logs, "usage": listing.usage, "cost": str(listing.cost.amount)}
        print_json({**rows, "all": {**total, "unpriced": dict(listing.cost.unpriced)}})
    elif not found:
        console().print("No session fits." if listing.overviews else "No sessions were found.")
    else:
        hidden = [overview for overview in fitting if wanted.hides(overview)]
        table = sessions_table(found[: limit or None], marks, console().width, order.by)
        _print(found, hidden, limit, table, totals)
    complain(listing.failures)
    if listing.failures and not listing.overviews:
        raise Unreadable("None of the logs could be read.")


def _print(
    found: list[Overview], hidden: list[Overview], limit: int, table: Table, every: list[ProjectTotals] | None
) -> None:
    to, most = console(), limit or None
    if every is not None:
        show_renderable(projects_table(every[:most]), to)
        listed = human.joined(_listed(len(every[:most]), len(every), "project"), human.count(len(found), "session"))
    else:
        show_renderable(table, to)
        listed = _listed(len(found[:most]), len(found), "session")
    to.print(summary_line(listed, found, hidden), style="dim")


def _session(overview: Overview, mark: SessionMark) -> dict[str, object]:
    row: dict[str, object] = msgspec.to_builtins(overview)
    row.update(title=overview.title, models=overview.models, usage=overview.usage, cost=str(overview.cost))
    row.update(turns=overview.turns, tool_calls=overview.tool_calls, mark=mark._asdict() if any(mark) else None)
    return {name: value for name, value in row.items() if name not in ("offered", "open_plans", "accepted")}
