"""`unspool stats`: what all sessions add up to, from the index."""

from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import fresh, options, output
from unspool.cli.output import Column, print_json, table_lines
from unspool.cli.usage_rows import other_ends, spent_text, usage_notes_lines
from unspool.figures import tell_ends
from unspool.store.index.billing import UsageFilter, format_priced
from unspool.store.index.times import local_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from unspool.store.index.stats import IndexStats, StatNotes

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_BAR = 20
_TOOLS = 15
_PROJECTS = 10


def stats_sections(found: "IndexStats", zone: "tzinfo | None") -> "Iterator[tuple[str, list[str]]]":
    """Heading and lines of every section that has something to say."""
    most = output.terminal_width()
    yield "", _facts(found)
    for heading, columns in _tables(found).items():
        if columns[0].cells:
            yield heading, table_lines(columns, most)
    if any(map(any, found.hours)):
        yield "Hours of the week (requests)", _week(found.hours)
    for heading, sessions in (("Longest sessions", found.longest), ("Dearest sessions", found.dearest)):
        if sessions:
            yield heading, table_lines(_sessions(sessions, zone), most)
    if found.files:
        yield "Files touched most", table_lines(_files(found), most)
    notes = usage_notes_lines(found.sum, found.models, found.untimed)
    if notes:
        yield "", notes


def _facts(found: "IndexStats") -> list[str]:
    totals, streak, used = found.totals, found.streak, found.sum
    cached = f"{used.cached:.1%} of what was sent came from the cache" if used.cached is not None else ""
    span = f"{human.count(streak.days, 'day')} from {streak.first} to {streak.last}" if streak.days else ""
    rows = (
        ("sessions", f"{totals.sessions:,} in {human.count(totals.projects, 'project')}"),
        ("turns", f"{totals.turns:,}, {human.count(totals.messages, 'message')}"),
        ("tool calls", ", ".join(filter(None, (f"{totals.tool_calls:,}", tell_ends(totals.ends))))),
        ("subagents", f"{totals.agents:,}"),
        ("compactions", f"{totals.compactions:,}"),
        ("files", f"{totals.files:,} touched, {human.count(totals.commits, 'commit')}"),
        ("tokens", f"{used.total:,} in {human.count(used.requests, 'request')}"),
        ("cache", cached),
        ("cost", spent_text(used)),
        ("active", span),
        ("in a row", f"{human.count(streak.longest, 'day')} at most, {streak.current} now" if streak.days else ""),
    )
    return [f"{name:<12}{value}" for name, value in rows if value]


def _tables(found: "IndexStats") -> dict[str, list[Column]]:
    """Tables of tokens, money and calls by their headings, whatever they can be told by."""
    models, tools, projects = found.models, found.tools[:_TOOLS], found.projects[:_PROJECTS]
    days, wasted, filled = found.days, found.wasted, found.filled
    whole = sum(one.tokens for one in filled)
    return {
        "By model": [
            Column("model", [one.model or "unknown model" for one in models], right=False, least=16),
            Column("requests", [f"{one.sum.requests:,}" for one in models], rank=1),
            _tokens([one.sum.total for one in models]),
            Column("cache", ["" if one.sum.cached is None else f"{one.sum.cached:.0%}" for one in models], rank=2),
            Column("cost", [spent_text(one.sum) for one in models]),
            _bars([one.sum.cost for one in models]),
        ],
        "By tool": [
            Column("tool", [tool.name for tool in tools], right=False, least=16),
            Column("calls", [f"{tool.calls:,}" for tool in tools]),
            Column("failed", [f"{tool.errors:,}" for tool in tools]),
            Column("failing", [f"{tool.failing:.1%}" for tool in tools], rank=1),
            *other_ends(tools),
            _bars([tool.calls for tool in tools]),
        ],
        "By project": [
            Column("project", [row.key or "no project" for row in projects], right=False, least=16, tail=True),
            _tokens([row.sum.total for row in projects], rank=1),
            Column("cost", [spent_text(row.sum) for row in projects]),
            _bars([row.sum.cost for row in projects]),
        ],
        "Busiest days": [
            Column("day", [row.key for row in days], right=False),
            Column("requests", [f"{row.sum.requests:,}" for row in days], rank=1),
            Column("tokens", [f"{row.sum.total:,}" for row in days]),
            Column("cost", [spent_text(row.sum) for row in days]),
            _bars([row.sum.total for row in days]),
        ],
        "Written to the cache again": [
            Column("why", [one.cause for one in wasted], right=False),
            Column("requests", [f"{one.requests:,}" for one in wasted], rank=1),
            _tokens([one.tokens for one in wasted]),
            Column("lost", [format_priced(one.cost, unpriced=one.unpriced) for one in wasted]),
            _bars([one.tokens for one in wasted]),
        ],
        "What filled the window (estimated)": [
            Column("kind", [one.name for one in filled], right=False),
            _tokens([one.tokens for one in filled]),
            Column("share", [f"{one.tokens / whole:.1%}" for one in filled], rank=1),
            _bars([one.tokens for one in filled]),
        ],
    }


def _tokens(counts: list[int], rank: int = 0) -> Column:
    return Column("tokens", [f"{count:,}" for count in counts], [human.tokens(count) for count in counts], rank=rank)


def _bars(values: list[int]) -> Column:
    return Column("", output.bar_texts(values, _BAR), right=False, rank=3)


def _week(hours: tuple[tuple[int, ...], ...]) -> list[str]:
    most = max(map(max, hours))
    heads = "".join(f"{hour:<6}" for hour in range(0, 24, 3))
    rows = (f"{day}  {''.join(output.shade_text(count, most) * 2 for count in row)}  {sum(row):,}"
            for day, row in zip(_DAYS, hours, strict=True))  # fmt: skip
    return [f"     {heads}".rstrip(), *rows]


def _sessions(rows: "Sequence[StatNotes]", zone: "tzinfo | None") -> list[Column]:
    when = ["" if one.started is None else f"{local_time(one.started, zone):%Y-%m-%d %H:%M}" for one in rows]
    return [
        Column("session", [one.key[:8] for one in rows], right=False),
        Column("began", when, right=False, rank=2),
        Column("length", [human.duration(one.seconds) for one in rows], rank=1),
        Column("turns", [f"{one.turns:,}" for one in rows], rank=3),
        Column("cost", [format_priced(one.cost, unpriced=one.unpriced, open=one.open) for one in rows]),
        Column("title", [one.title for one in rows], right=False, least=16),
    ]


def _files(found: "IndexStats") -> list[Column]:
    files = found.files
    return [
        Column("file", [file.path for file in files], right=False, least=20, tail=True),
        Column("reads", [f"{file.reads:,}" for file in files]),
        Column("writes", [f"{file.writes:,}" for file in files]),
        Column("edits", [f"{file.edits:,}" for file in files]),
        Column("sessions", [f"{file.sessions:,}" for file in files], rank=1),
    ]


@click.command("stats")
@click.option("--since", metavar="WHEN", help="From 2026-01-31 on, or from 3d, 2w ago.")
@click.option("--until", metavar="WHEN", help="To the end of 2026-01-31, or to 3d, 2w ago.")
@click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT.")
@options.agents
@options.zone
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@fresh.no_sync
@options.archive
def command(project: str, as_json: bool, no_sync: bool, archive: "Path", **given: Any) -> None:
    """Tell what your sessions add up to: models, tools, hours, files, cache.

    \b
    unspool stats                      everything that is kept
    unspool stats --since 4w -p shop   four weeks of one project
    unspool stats --json | jq '.totals'
    unspool stats --json | jq '.wasted'  what was written to the cache twice, and why

    Tokens and cost are of the time asked for, each request once. Sessions that were active in that time count whole
    in all else, and history that several of them share counts in each. What was written to the cache again had been
    there before: it expired after a pause, the model was switched, a compaction began anew, or the log does not tell.
    What is new is kept first, in your usual archive (--no-sync, or the setting `sync`, leaves that out).
    """
    from unspool.store.index.stats import index_stats

    zone = options.parse_tz(given["tz"])
    first, last = options.parse_since(given["since"], zone), options.parse_until(given["until"], zone)
    wanted = UsageFilter(since=first, until=last, project=project, agents=given["agent"], zone=zone)
    fresh.keep_fresh(archive, no_sync=no_sync)
    with options.open_index(archive) as index:
        found = index_stats(index, wanted)
    if as_json:
        print_json(_data(found))
        return
    for number, (heading, lines) in enumerate(stats_sections(found, zone)):
        if number:
            click.echo()
        if heading:
            output.print_heading(heading)
        for line in lines:
            click.echo(line)


def _data(found: "IndexStats") -> dict[str, Any]:
    from msgspec.structs import asdict

    from unspool.cli.usage_rows import row_data, tool_data, usage_by_model, usage_figures, usage_time
    from unspool.store.index.billing import exact_dollars

    def session(one: Any) -> dict[str, Any]:
        times = {"started": usage_time(one.started), "ended": usage_time(one.ended), "seconds": one.seconds}
        return {**asdict(one), **times, "cost": exact_dollars(one.cost)}

    return {
        "totals": asdict(found.totals),
        "usage": {**usage_figures(found.sum), "cached": found.sum.cached},
        "models": usage_by_model(found.models),
        "tools": [tool_data(tool) for tool in found.tools],
        "projects": [row_data("project", row) for row in found.projects],
        "busiest_days": [row_data("day", row) for row in found.days],
        "hours": found.hours,
        "longest": [session(one) for one in found.longest],
        "dearest": [session(one) for one in found.dearest],
        "files": [asdict(file) for file in found.files],
        "wasted": [{**asdict(one), "cost": exact_dollars(one.cost)} for one in found.wasted],
        "filled": [asdict(one) for one in found.filled],
        "filling_tools": [asdict(one) for one in found.filling],
        "streak": asdict(found.streak),
        "untimed": found.untimed,
    }
