"""The sections of `unspool stats`."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from unspool import human
from unspool.cli import chart
from unspool.cli.grid import Column, lines
from unspool.cli.usage_rows import notes, spent
from unspool.index.periods import local
from unspool.index.said import priced
from unspool.index.stats import Stats, Told

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_BAR = 20
_TOOLS = 15
_PROJECTS = 10


def sections(found: Stats, zone: tzinfo | None, most: int) -> Iterator[tuple[str, list[str]]]:
    """Heading and lines of every section that has something to say."""
    yield "", _facts(found)
    for heading, columns in (
        ("By model", _models(found)),
        ("By tool", _tools(found)),
        ("By project", _projects(found)),
        ("Busiest days", _days(found)),
        ("Written to the cache again", _wasted(found)),
        ("What filled the window (estimated)", _filled(found)),
    ):
        if columns[0].cells:
            yield heading, lines(columns, most)
    if any(map(any, found.hours)):
        yield "Hours of the week (requests)", _week(found.hours)
    for heading, told in (("Longest sessions", found.longest), ("Dearest sessions", found.dearest)):
        if told:
            yield heading, lines(_told(told, zone), most)
    if found.files:
        yield "Files touched most", lines(_files(found), most)
    said = notes(found.sum, found.models, found.untimed)
    if said:
        yield "", said


def _facts(found: Stats) -> list[str]:
    totals, streak, used = found.totals, found.streak, found.sum
    cached = f"{used.cached:.1%} of what was sent came from the cache" if used.cached is not None else ""
    span = f"{human.count(streak.days, 'day')} from {streak.first} to {streak.last}" if streak.days else ""
    rows = (
        ("sessions", f"{totals.sessions:,} in {human.count(totals.projects, 'project')}"),
        ("turns", f"{totals.turns:,}, {human.count(totals.messages, 'message')}"),
        ("tool calls", f"{totals.tool_calls:,}, {totals.tool_errors:,} failed"),
        ("subagents", f"{totals.agents:,}"),
        ("compactions", f"{totals.compactions:,}"),
        ("files", f"{totals.files:,} touched, {human.count(totals.commits, 'commit')}"),
        ("tokens", f"{used.total:,} in {human.count(used.requests, 'request')}"),
        ("cache", cached),
        ("cost", spent(used)),
        ("active", span),
        ("in a row", f"{human.count(streak.longest, 'day')} at most, {streak.current} now" if streak.days else ""),
    )
    return [f"{name:<12}{value}" for name, value in rows if value]


def _models(found: Stats) -> list[Column]:
    models = found.models
    return [
        Column("model", [one.model or "unknown model" for one in models], right=False, least=16),
        Column("requests", [f"{one.sum.requests:,}" for one in models], rank=1),
        Column("tokens", [f"{one.sum.total:,}" for one in models], [human.tokens(one.sum.total) for one in models]),
        Column("cache", ["" if one.sum.cached is None else f"{one.sum.cached:.0%}" for one in models], rank=2),
        Column("cost", [spent(one.sum) for one in models]),
        Column("", chart.bars([one.sum.cost for one in models], _BAR), right=False, rank=3),
    ]


def _tools(found: Stats) -> list[Column]:
    tools = found.tools[:_TOOLS]
    return [
        Column("tool", [tool.name for tool in tools], right=False, least=16),
        Column("calls", [f"{tool.calls:,}" for tool in tools]),
        Column("errors", [f"{tool.errors:,}" for tool in tools]),
        Column("failing", [f"{tool.failing:.1%}" for tool in tools], rank=1),
        Column("", chart.bars([tool.calls for tool in tools], _BAR), right=False, rank=3),
    ]


def _projects(found: Stats) -> list[Column]:
    rows = found.projects[:_PROJECTS]
    return [
        Column("project", [row.key or "no project" for row in rows], right=False, least=16, tail=True),
        Column("tokens", [f"{row.sum.total:,}" for row in rows], [human.tokens(row.sum.total) for row in rows], rank=1),
        Column("cost", [spent(row.sum) for row in rows]),
        Column("", chart.bars([row.sum.cost for row in rows], _BAR), right=False, rank=3),
    ]


def _days(found: Stats) -> list[Column]:
    return [
        Column("day", [row.key for row in found.days], right=False),
        Column("requests", [f"{row.sum.requests:,}" for row in found.days], rank=1),
        Column("tokens", [f"{row.sum.total:,}" for row in found.days]),
        Column("cost", [spent(row.sum) for row in found.days]),
        Column("", chart.bars([row.sum.total for row in found.days], _BAR), right=False, rank=3),
    ]


def _wasted(found: Stats) -> list[Column]:
    rows = found.wasted
    return [
        Column("why", [one.cause for one in rows], right=False),
        Column("requests", [f"{one.requests:,}" for one in rows], rank=1),
        Column("tokens", [f"{one.tokens:,}" for one in rows], [human.tokens(one.tokens) for one in rows]),
        Column("lost", [priced(one.cost, unpriced=one.unpriced) for one in rows]),
        Column("", chart.bars([one.tokens for one in rows], _BAR), right=False, rank=3),
    ]


def _filled(found: Stats) -> list[Column]:
    rows = found.filled
    whole = sum(one.tokens for one in rows)
    return [
        Column("kind", [one.name for one in rows], right=False),
        Column("tokens", [f"{one.tokens:,}" for one in rows], [human.tokens(one.tokens) for one in rows]),
        Column("share", [f"{one.tokens / whole:.1%}" for one in rows], rank=1),
        Column("", chart.bars([one.tokens for one in rows], _BAR), right=False, rank=3),
    ]


def _week(hours: tuple[tuple[int, ...], ...]) -> list[str]:
    most = max(map(max, hours))
    heads = "".join(f"{hour:<6}" for hour in range(0, 24, 3))
    rows = (f"{day}  {''.join(chart.shade(count, most) * 2 for count in row)}  {sum(row):,}"
            for day, row in zip(_DAYS, hours, strict=True))  # fmt: skip
    return [f"     {heads}".rstrip(), *rows]


def _told(told: Sequence[Told], zone: tzinfo | None) -> list[Column]:
    when = ["" if one.started is None else f"{local(one.started, zone):%Y-%m-%d %H:%M}" for one in told]
    return [
        Column("session", [one.key[:8] for one in told], right=False),
        Column("began", when, right=False, rank=2),
        Column("length", [human.duration(one.seconds) for one in told], rank=1),
        Column("turns", [f"{one.turns:,}" for one in told], rank=3),
        Column("cost", [priced(one.cost, unpriced=one.unpriced, open=one.open) for one in told]),
        Column("title", [one.title for one in told], right=False, least=16),
    ]


def _files(found: Stats) -> list[Column]:
    files = found.files
    return [
        Column("file", [file.path for file in files], right=False, least=20, tail=True),
        Column("reads", [f"{file.reads:,}" for file in files]),
        Column("writes", [f"{file.writes:,}" for file in files]),
        Column("edits", [f"{file.edits:,}" for file in files]),
        Column("sessions", [f"{file.sessions:,}" for file in files], rank=1),
    ]
