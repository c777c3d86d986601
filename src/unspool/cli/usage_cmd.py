"""`unspool usage`: tokens and money, from the index."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from unspool.cli import fresh, options, settings
from unspool.cli.output import complain, has_colours, print_json
from unspool.errors import NotFound, UsageProblem
from unspool.store.index.billing import HasDatabase, UsageFilter

_OF_LOGS = "there is no index yet, so these figures are of the logs that are still there (`unspool sync` keeps them)."


@contextmanager
def usage_from_logs(by: str, wanted: UsageFilter, sources: Sequence[Path]) -> Iterator[HasDatabase]:
    """The requests of the logs of these folders, or of the agents' own; logs that cannot be read are named."""
    from unspool.store.library.discover import discover_logs
    from unspool.store.library.usage_from_logs import light_index

    if not _is_told_by_logs(by, wanted):
        raise UsageProblem(
            "Sessions, projects, tools and subagents are told from what is kept: run `unspool sync` first."
        )
    logs = discover_logs(settings.chosen_sources(sources))
    if not logs:
        raise NotFound(
            "Nothing is kept yet, and no sessions were found; `unspool sync -s DIR` keeps those of a folder."
        )
    found = light_index(logs, settings.price_table())
    if found.failures:
        complain(found.failures)
    yield found


def _is_told_by_logs(by: str, wanted: UsageFilter) -> bool:
    """Whether it takes no index to tell this."""
    from unspool.store.library.usage_from_logs import ANSWERS

    return by in ANSWERS and not wanted.project and not wanted.agents


_WORDS = {
    "daily": "day", "weekly": "week", "monthly": "month", "blocks": "block", "sessions": "session",
    "projects": "project", "models": "model", "tools": "tool", "subagents": "subagent",
}  # fmt: skip
_BY = ("day", "week", "month", "session", "project", "model", "tool", "subagent", "block")
_IN_TIME = ("day", "week", "month", "block")
_T = TypeVar("_T")


class _UsageRequest(NamedTuple):
    by: str
    wanted: UsageFilter
    zone: str
    limit: int
    order: str
    as_json: bool
    as_csv: bool
    breakdown: bool


@click.command("usage")
@click.argument("what", required=False, type=click.Choice([*_WORDS, *_BY]), metavar="[WHAT]")
@click.option("--by", type=click.Choice(_BY), help="What a row is of; day where nothing is said.")
@click.option("--since", metavar="WHEN", help="From 2026-01-31 on, or from 3d, 2w ago.")
@click.option("--until", metavar="WHEN", help="To the end of 2026-01-31, or to 3d, 2w ago.")
@click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT.")
@options.agents
@click.option("-m", "--model", default="", metavar="TEXT", help="Only models whose name holds TEXT.")
@options.zone
@click.option("--week-starts", type=click.Choice(["monday", "sunday"]), default="monday", help="For --by week.")
@click.option("-b", "--breakdown", is_flag=True, help="Each row by model as well.")
@click.option("-n", "--limit", type=click.IntRange(min=0), default=0, help="At most so many rows; 0: all.")
@click.option("-o", "--order", type=click.Choice(["asc", "desc", "cost", "tokens"]), help="asc: oldest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@options.named_sources
@fresh.no_sync
@options.archive
def command(what: str | None, by: str | None, archive: Path, source: tuple[Path, ...], **given: Any) -> None:
    """Tell what was used and what it cost.

    \b
    unspool usage                          by day
    unspool usage monthly --breakdown      by month, and in it by model
    unspool usage --by session --since 1w  the dearest sessions of a week
    unspool usage blocks                   five-hour blocks, and where the running one leads
    unspool usage --by project --csv       for a spreadsheet
    unspool usage -s /backup/laptop        of logs elsewhere, by day, week, month, model or block

    WHAT is daily, weekly, monthly, blocks, or what --by takes. Each request counts once, however many sessions hold
    copies of it: in the one that began first. Cost is at public list prices; "≥" marks a lower bound, "?" a price
    that is not known. Subagents whose lines stand in the session's own log count with the main conversation.
    What is new is kept first, in your usual archive (--no-sync, or the setting `sync`, leaves that out).
    """
    named = _WORDS.get(what, what) if what else None
    if named and by and named != by:
        raise UsageProblem(f"A row can be of one thing only, not of a {named} and a {by}.")
    request = _parse_request(named or by or "day", given["tz"], given)
    tell: Callable[[HasDatabase, _UsageRequest], None] = {"tool": _tools, "block": _blocks}.get(request.by, _usage)
    if source:
        with usage_from_logs(request.by, request.wanted, source) as index:
            tell(index, request)
    else:
        _tell_kept(archive, request, tell, no_sync=given["no_sync"])


def _tell_kept(
    archive: Path, request: _UsageRequest, tell: Callable[[HasDatabase, _UsageRequest], None], *, no_sync: bool
) -> None:
    """Answer from the archive with what is new in it; the first time from the logs, which are sooner read than kept."""
    from unspool.store.archive.database import INDEX

    by_option = click.get_current_context().get_parameter_source("archive") is ParameterSource.COMMANDLINE
    named, synced = by_option or "UNSPOOL_ARCHIVE" in os.environ, fresh.is_synced(archive, no_sync=no_sync)
    if (archive / INDEX).exists() or not _is_told_by_logs(request.by, request.wanted):
        fresh.keep_fresh(archive, no_sync=no_sync)
    if (archive / INDEX).exists() or (named and not synced):
        with options.open_index(archive) as index:
            tell(index, request)
        return
    with usage_from_logs(request.by, request.wanted, ()) as light:
        if not synced:
            settings.warn_once(_OF_LOGS)
        tell(light, request)
    fresh.keep_fresh(archive, no_sync=no_sync)


def _parse_request(by: str, tz: str | None, given: dict[str, Any]) -> _UsageRequest:
    if given["as_json"] and given["as_csv"]:
        raise UsageProblem("--json and --csv exclude each other.")
    if by == "tool" and given["model"]:
        raise UsageProblem("Calls of tools are not counted by model: leave out --model.")
    zone = options.parse_tz(tz)
    wanted = UsageFilter(
        since=options.parse_since(given["since"], zone),
        until=options.parse_until(given["until"], zone),
        project=given["project"],
        agents=given["agent"],
        model=given["model"],
        zone=zone,
        week=6 if given["week_starts"] == "sunday" else 0,
    )
    order = given["order"] or ("asc" if by in _IN_TIME else "cost")
    name = tz or settings.chosen_zone_name()
    return _UsageRequest(by, wanted, name, given["limit"], order, given["as_json"], given["as_csv"], given["breakdown"])


def _ordered(rows: Sequence[_T], request: _UsageRequest) -> list[_T]:
    """The rows in the order asked for; a limit keeps the newest, the dearest or the largest."""

    def moment(row: Any) -> tuple[float, float]:
        first = row.start if request.by == "block" else row.first
        return (float("inf"), 0.0) if first is None else (first, row.last or 0.0)

    if request.order in ("cost", "tokens"):
        size = (lambda row: row.sum.cost) if request.order == "cost" else (lambda row: row.sum.total)
        return sorted(rows, key=size, reverse=True)[: request.limit or None]
    found = sorted(rows, key=moment)[-request.limit :]
    return found if request.order == "asc" else found[::-1]


def _usage(index: "HasDatabase", request: _UsageRequest) -> None:
    from unspool.cli.usage_rows import row_data, usage_document, usage_notes_lines, usage_table
    from unspool.store.index.usage import usage_report

    report = usage_report(index, request.by, request.wanted)  # type: ignore[arg-type]
    rows = _ordered(report.rows, request)

    def document() -> dict[str, Any]:
        data = [row_data(request.by, row) for row in rows]
        return usage_document(data, report, request.by, request.wanted, request.zone)

    if not _printed(rows, document, request):
        usage_table(report, rows, breakdown=request.breakdown)
        _say(len(rows), len(report.rows), usage_notes_lines(report.sum, report.models, report.untimed))


def _blocks(index: "HasDatabase", request: _UsageRequest) -> None:
    from unspool.cli.usage_rows import block_data, blocks_table, running_block, usage_document, usage_notes_lines
    from unspool.store.index.five_hour_blocks import five_hour_blocks

    report = five_hour_blocks(index, request.wanted)
    shown = [row for row in report.rows if not row.gap] if request.order in ("cost", "tokens") else report.rows
    rows = _ordered(shown, request)

    def document() -> dict[str, Any]:
        return usage_document([block_data(row) for row in rows], report, request.by, request.wanted, request.zone)

    if not _printed(rows, document, request):
        blocks_table(report, rows, request.wanted)
        notes = usage_notes_lines(report.sum, report.models, report.untimed)
        _say(len(rows), len(shown), [*running_block(report), *notes])


def _tools(index: "HasDatabase", request: _UsageRequest) -> None:
    from unspool.cli.usage_rows import tool_data, tools_table
    from unspool.store.index.stats import tool_stats

    found = tool_stats(index, request.wanted)
    rows = found[: request.limit or None]
    if not _printed(rows, lambda: {"by": "tool", "rows": [tool_data(tool) for tool in rows]}, request):
        tools_table(rows, found)
        whole = ["Sessions that were active in that time are counted whole."] if request.wanted.timed else []
        _say(len(rows), len(found), [*whole, "Tokens are billed by request, not by tool, so none are told here."])


def _printed(rows: Sequence[object], data: Callable[[], dict[str, Any]], request: _UsageRequest) -> bool:
    """Print the data where it is asked for, or that there is nothing to tell; False where a table is wanted."""
    from unspool.cli.usage_rows import usage_as_csv

    if request.as_json:
        print_json(data())
    elif request.as_csv:
        click.echo(usage_as_csv(data()["rows"], breakdown=request.breakdown), nl=False)
    elif not rows:
        click.echo("Nothing was used, as far as is known here; `unspool sync` takes in what is new.")
    else:
        return False
    return True


def _say(shown: int, every: int, notes: list[str]) -> None:
    lines = [f"{shown} of {every} rows; the total is of all.", *notes] if shown < every else notes
    for number, note in enumerate(lines):
        click.echo(click.style(("\n" if not number else "") + note, dim=True), color=has_colours())
