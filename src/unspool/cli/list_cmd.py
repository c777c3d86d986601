"""`unspool list`: sessions or projects, newest first."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from unspool.cli import options, session_tables
from unspool.cli.output import complain, console, print_json, progress, show_renderable
from unspool.cli.tables import Column, print_table
from unspool.copies.records import copy_records
from unspool.model import Overview, SessionKind
from unspool.store.library import Library, SessionListing
from unspool.store.library.library import usual_roots


def show_clones(limit: int, *, as_json: bool) -> None:
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

    def fits(self, overview: Overview, name: str = "") -> bool:
        """Whether a session is asked for; `name` is one that a person gave it."""
        when = overview.ended or overview.log.modified
        return (
            self.project.casefold() in overview.project.casefold()
            and any(self.title.casefold() in title.casefold() for title in (overview.title, name))
            and (not self.model or any(self.model.casefold() in name.casefold() for name in overview.models))
            and (self.since is None or (when is not None and when >= self.since))
            and (self.until is None or (when is not None and when < self.until))
            and (overview.kind == self.kind if self.kind else self.everything or not session_tables.is_hidden(overview))
        )


@click.command("list")
@click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT.")
@click.option("-t", "--title", default="", metavar="TEXT", help="Only sessions whose title holds TEXT.")
@click.option("-m", "--model", default="", metavar="TEXT", help="Only sessions that used such a model.")
@click.option("-k", "--kind", type=click.Choice(_KINDS), metavar="KIND", help=f"Only this kind: {', '.join(_KINDS)}.")
@click.option("--since", callback=options.day, metavar="WHEN", help="Active since 2026-01-31, or 3d, 2w ago.")
@click.option("--until", callback=options.day, metavar="WHEN", help="Active before a date or an age.")
@click.option("-a", "--all", "everything", is_flag=True, help="Also empty sessions, stubs and warm-ups.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), default=30, show_default=True, help="At most so many; 0: all."
)
@click.option("--projects", is_flag=True, help="List projects instead of sessions.")
@click.option("--clones", is_flag=True, help="List the copies that were made, with what they were made from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(limit: int, projects: bool, clones: bool, as_json: bool, library: Library, **filters: Any) -> None:
    """List sessions or projects, newest first.

    \b
    unspool list                        the newest 30 sessions
    unspool list -p shop --since 2w     of one project, of the last two weeks
    unspool list --projects             projects with their totals
    unspool list --clones               the copies made by clone, fork, repair, move and import
    unspool list --json | jq '.sessions[] | [.id, .title, .cost]'

    Cost is what the requests would cost at public list prices, subagents included; "≥" marks a lower bound,
    where the log never held the final figure or a model has no known price. Names, stars and tags that sessions were
    given in the app are shown; with --json they are `mark`, and `title` stays the session's own.
    "(kept)" stands before a session whose log only your archive still has.
    """
    if clones:
        show_clones(limit, as_json=as_json)
        return
    if not library.sources and not library.logs():  # nobody named a source, and the agent has logged nothing yet
        places = " or ".join(str(root) for root in usual_roots())
        click.echo(f"No sessions yet under {places}; here is the demo (unspool list --demo).\n", err=True)
        library = Library([options.demo_folder()])
    with progress(sum(log.size for log in library.logs()), "Reading sessions") as done:
        listing = library.listing(done)
    wanted, marks = ListFilter(**filters), session_tables.session_marks()
    found = [overview for overview in listing.overviews if wanted.fits(overview, marks(overview.id).title)]
    if as_json:
        rows = (
            {"projects": [one.figures for one in session_tables.by_project(found)[: limit or None]]}
            if projects
            else {"sessions": [_session(overview, marks(overview.id)) for overview in found[: limit or None]]}
        )
        total = {"sessions": len(listing.overviews), "usage": listing.usage, "cost": str(listing.cost.amount)}
        print_json({**rows, "all": {**total, "unpriced": dict(listing.cost.unpriced)}})
    else:
        _print(listing, found, marks, limit, projects=projects)
    complain(listing.failures)
    if listing.failures and not listing.overviews:
        sys.exit(5)


def _print(
    listing: SessionListing, found: list[Overview], marks: session_tables.Marks, limit: int, *, projects: bool
) -> None:
    to = console()
    if not found:
        to.print("No session fits." if listing.overviews else "No sessions were found.")
        return
    shown = found[: limit or None]
    table = (
        session_tables.projects_table(found, limit)
        if projects
        else session_tables.sessions_table(shown, marks, to.width)
    )
    show_renderable(table, to)
    to.print(session_tables.summary_line(listing, found, shown), style="dim")


def _session(overview: Overview, mark: session_tables.SessionMark) -> dict[str, object]:
    row: dict[str, object] = msgspec.to_builtins(overview)
    row.update(title=overview.title, models=overview.models, usage=overview.usage, cost=str(overview.cost))
    row.update(turns=overview.turns, tool_calls=overview.tool_calls, mark=mark._asdict() if any(mark) else None)
    return {name: value for name, value in row.items() if name not in ("offered", "accepted")}
