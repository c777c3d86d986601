"""`unspool stats`: what all sessions add up to, from the index."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import options, span
from unspool.index.billing import Wanted

if TYPE_CHECKING:
    from unspool.index.stats import Stats


@click.command("stats")
@click.option("--since", metavar="WHEN", help="From 2026-01-31 on, or from 3d, 2w ago.")
@click.option("--until", metavar="WHEN", help="To the end of 2026-01-31, or to 3d, 2w ago.")
@click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT.")
@options.zone
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.archive
def command(since: str | None, until: str | None, project: str, tz: str | None, as_json: bool, archive: Path) -> None:
    """Tell what your sessions add up to: models, tools, hours, files, cache.

    \b
    unspool stats                      everything that is kept
    unspool stats --since 4w -p shop   four weeks of one project
    unspool stats --json | jq '.totals'
    unspool stats --json | jq '.wasted'  what was written to the cache twice, and why

    Tokens and cost are of the time asked for, each request once. Sessions that were active in that time count whole
    in all else, and history that several of them share counts in each. What was written to the cache again had been
    there before: it expired after a pause, the model was switched, a compaction began anew, or the log does not tell.
    """
    from unspool.index.stats import stats
    from unspool.index.store import Index

    zone = span.zone(tz)
    wanted = Wanted(since=span.since(since, zone), until=span.until(until, zone), project=project, zone=zone)
    with Index.open(archive, key=options.key_of(archive), readonly=True) as index:
        found = stats(index, wanted)
    if as_json:
        click.echo(_json(found))
    else:
        _print(found, wanted)


def _print(found: "Stats", wanted: Wanted) -> None:
    from unspool.cli.grid import coloured, width
    from unspool.cli.stats_rows import sections

    for number, (heading, told) in enumerate(sections(found, wanted.zone, width())):
        if number:
            click.echo()
        if heading:
            click.echo(click.style(heading, bold=True), color=coloured())
        for line in told:
            click.echo(line)


def _json(found: "Stats") -> str:
    import msgspec

    from unspool.cli.usage_data import by_model, encoded, figures, moment, row_data, tool_data
    from unspool.index.sums import dollars

    def told(one: Any) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.structs.asdict(one)
        times = {"started": moment(one.started), "ended": moment(one.ended), "seconds": one.seconds}
        return {**data, **times, "cost": dollars(one.cost)}

    return encoded(
        {
            "totals": msgspec.structs.asdict(found.totals),
            "usage": {**figures(found.sum), "cached": found.sum.cached},
            "models": by_model(found.models),
            "tools": [tool_data(tool) for tool in found.tools],
            "projects": [row_data("project", row) for row in found.projects],
            "busiest_days": [row_data("day", row) for row in found.days],
            "hours": found.hours,
            "longest": [told(one) for one in found.longest],
            "dearest": [told(one) for one in found.dearest],
            "files": [msgspec.structs.asdict(file) for file in found.files],
            "wasted": [{**msgspec.structs.asdict(one), "cost": dollars(one.cost)} for one in found.wasted],
            "filled": [msgspec.structs.asdict(one) for one in found.filled],
            "filling_tools": [msgspec.structs.asdict(one) for one in found.filling],
            "streak": msgspec.structs.asdict(found.streak),
            "untimed": found.untimed,
        }
    )
