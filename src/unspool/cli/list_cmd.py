"""`unspool list`: sessions or projects, newest first."""

import sys

import click
import msgspec

from unspool.cli import options, terminal
from unspool.cli.filters import Wanted, filter_options
from unspool.cli.rows import projects_table, sessions_table, summary_line
from unspool.library import Library, Listing
from unspool.library.sources import usual_roots
from unspool.model import Overview


@click.command("list")
@filter_options
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), default=30, show_default=True, help="At most so many; 0: all."
)
@click.option("--projects", is_flag=True, help="List projects instead of sessions.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(wanted: Wanted, limit: int, projects: bool, as_json: bool, library: Library) -> None:
    """List sessions or projects, newest first.

    \b
    unspool list                        the newest 30 sessions
    unspool list -p shop --since 2w     of one project, of the last two weeks
    unspool list --projects             projects with their totals
    unspool list --json | jq '.sessions[] | [.id, .title, .cost]'

    Cost is what the requests would cost at public list prices, subagents included; "≥" marks a lower bound,
    where the log never held the final figure or a model has no known price.
    """
    library = _or_demo(library)
    with terminal.progress(sum(log.size for log in library.logs()), "Reading sessions") as done:
        listing = library.listing(done)
    found = [overview for overview in listing.overviews if wanted.fits(overview)]
    if as_json:
        click.echo(_json(listing, found[:limit] if limit else found))
    else:
        _print(listing, found, limit, projects=projects)
    for failure in listing.failures:
        click.echo(f"unspool: {failure}", err=True)
    if listing.failures and not listing.overviews:
        sys.exit(5)


def _or_demo(library: Library) -> Library:
    """The library; the demo where nobody named a source and the agent has logged nothing yet."""
    if library.sources or library.logs():
        return library
    places = " or ".join(str(root) for root in usual_roots())
    click.echo(f"No sessions yet under {places}; here is the demo (unspool list --demo).\n", err=True)
    return Library([options.demo_folder()])


def _print(listing: Listing, found: list[Overview], limit: int, *, projects: bool) -> None:
    console = terminal.console()
    if not found:
        console.print("No session fits." if listing.overviews else "No sessions were found.")
        return
    shown = found[:limit] if limit else found
    console.print(projects_table(found, limit) if projects else sessions_table(shown, console.width))
    console.print(summary_line(listing, found, shown), style="dim")


def _json(listing: Listing, shown: list[Overview]) -> str:
    rows = []
    for overview in shown:
        row = msgspec.to_builtins(overview)
        row.update(title=overview.title, models=overview.models, usage=msgspec.to_builtins(overview.usage))
        row.update(cost=str(overview.cost), turns=overview.turns, tool_calls=overview.tool_calls)
        row.pop("offered", None)
        row.pop("accepted", None)
        rows.append(row)
    usage, cost = msgspec.to_builtins(listing.usage), str(listing.cost.amount)
    totals = {"sessions": len(listing.overviews), "usage": usage, "cost": cost, "unpriced": dict(listing.cost.unpriced)}
    return msgspec.json.format(msgspec.json.encode({"sessions": rows, "all": totals})).decode()
