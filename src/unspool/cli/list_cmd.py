"""`unspool list`: sessions or projects, newest first."""

import sys
from decimal import Decimal

import click
import msgspec

from unspool.cli import options, terminal
from unspool.cli.filters import Wanted, filter_options
from unspool.cli.marked import Mark, Of, marks
from unspool.cli.rows import by_project, projects_table, sessions_table, summary_line
from unspool.library import Library, Listing
from unspool.library.sources import usual_roots
from unspool.model import Overview


@click.command("list")
@filter_options
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), default=30, show_default=True, help="At most so many; 0: all."
)
@click.option("--projects", is_flag=True, help="List projects instead of sessions.")
@click.option("--clones", is_flag=True, help="List the copies that were made, with what they were made from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(wanted: Wanted, limit: int, projects: bool, clones: bool, as_json: bool, library: Library) -> None:
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
        from unspool.cli.clones_rows import show_clones

        show_clones(limit, as_json=as_json)
        return
    library = _or_demo(library)
    with terminal.progress(sum(log.size for log in library.logs()), "Reading sessions") as done:
        listing = library.listing(done)
    of = marks()
    found = [overview for overview in listing.overviews if wanted.fits(overview, of(overview.id).title)]
    if as_json:
        click.echo(_json(listing, found, of, limit, projects=projects))
    else:
        _print(listing, found, of, limit, projects=projects)
    terminal.complain(listing.failures)
    if listing.failures and not listing.overviews:
        sys.exit(5)


def _or_demo(library: Library) -> Library:
    """The library; the demo where nobody named a source and the agent has logged nothing yet."""
    if library.sources or library.logs():
        return library
    places = " or ".join(str(root) for root in usual_roots())
    click.echo(f"No sessions yet under {places}; here is the demo (unspool list --demo).\n", err=True)
    return Library([options.demo_folder()])


def _print(listing: Listing, found: list[Overview], of: Of, limit: int, *, projects: bool) -> None:
    console = terminal.console()
    if not found:
        console.print("No session fits." if listing.overviews else "No sessions were found.")
        return
    shown = found[:limit] if limit else found
    terminal.show(projects_table(found, limit) if projects else sessions_table(shown, of, console.width), console)
    console.print(summary_line(listing, found, shown), style="dim")


def _json(listing: Listing, found: list[Overview], of: Of, limit: int, *, projects: bool) -> str:
    usage, cost = msgspec.to_builtins(listing.usage), str(listing.cost.amount)
    totals = {"sessions": len(listing.overviews), "usage": usage, "cost": cost, "unpriced": dict(listing.cost.unpriced)}
    rows = (
        {"projects": [_project(path, group) for path, group in by_project(found)][: limit or None]}
        if projects
        else {"sessions": [_session(overview, of(overview.id)) for overview in found][: limit or None]}
    )
    return msgspec.json.format(msgspec.json.encode({**rows, "all": totals})).decode()


def _session(overview: Overview, mark: Mark) -> dict[str, object]:
    row: dict[str, object] = msgspec.to_builtins(overview)
    row.update(title=overview.title, models=overview.models, usage=msgspec.to_builtins(overview.usage))
    row.update(cost=str(overview.cost), turns=overview.turns, tool_calls=overview.tool_calls)
    row["mark"] = mark._asdict() if any(mark) else None
    row.pop("offered", None)
    row.pop("accepted", None)
    return row


def _project(path: str, group: list[Overview]) -> dict[str, object]:
    ended = max((overview.ended for overview in group if overview.ended is not None), default=None)
    return {
        "project": path,
        "sessions": len(group),
        "ids": [overview.id for overview in group],
        "turns": sum(overview.turns for overview in group),
        "tool_calls": sum(overview.tool_calls for overview in group),
        "size": sum(overview.size for overview in group),
        "cost": str(sum((overview.cost for overview in group), Decimal(0))),
        "ended": ended,
    }
