"""The figures of the dashboard from the index, cached, for a span of days."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec
from starlette.datastructures import QueryParams

from unspool import human
from unspool.app.api_endpoint import parse_number
from unspool.config.settings import current_settings
from unspool.store.index.billing import UsageFilter, UsageSum
from unspool.store.index.database import Index
from unspool.store.index.five_hour_blocks import HOURS, FiveHourBlock, five_hour_blocks
from unspool.store.index.stats import IndexStats, index_stats
from unspool.store.index.times import day_start, first_day, local_time
from unspool.store.index.usage import usage_report


def format_tokens(total: UsageSum) -> str:
    """Tokens of every kind; with ≥ where some were never told."""
    return ("≥" if total.open else "") + human.tokens(total.total)


def format_share(part: float | None) -> str:
    """92.4 %; empty where there is no whole."""
    return "" if part is None else f"{part:.1%}".replace("%", " %")


SPANS = ((1, "today"), (7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "a year"))
_LONGEST = 1000


class StatsSpan(NamedTuple):
    """A stretch of days that ends today or on a day that was said; all of the time where nothing is said."""

    days: int = 0
    since: str = ""
    """2026-01-31."""
    until: str = ""
    project: str = ""
    note: str = ""
    """What could not be understood."""

    def wanted(self, today: date) -> UsageFilter:
        first, last = _day(self.since), _day(self.until)
        if self.days:
            first = today - timedelta(days=self.days - 1)
        zone = current_settings().zone
        since = None if first is None else day_start(first, zone)
        until = None if last is None else day_start(last + timedelta(days=1), zone)
        return UsageFilter(since=since, until=until, project=self.project, zone=zone)

    @property
    def query(self) -> str:
        pairs = {"days": self.days or "", "since": self.since, "until": self.until, "project": self.project}
        return urlencode({name: value for name, value in pairs.items() if value}, errors="replace")

    @property
    def href(self) -> str:
        return f"/stats?{self.query}" if self.query else "/stats"

    def csv(self, name: str) -> str:
        return f"/stats/{name}.csv" + (f"?{self.query}" if self.query else "")


def parse_span(given: QueryParams) -> StatsSpan:
    days, since, until = given.get("days", ""), given.get("since", "").strip(), given.get("until", "").strip()
    wrong = [text for text in (since, until) if text and _day(text) is None]
    note = " ".join(f"“{text[:40]}” is no date such as 2026-01-31." for text in wrong)
    since, until = (text if _day(text) else "" for text in (since, until))
    project = given.get("project", "")[:_LONGEST].encode(errors="replace").decode()
    return StatsSpan(parse_number(days, 36_500) or 0, since, until, project, note)


def today_in_zone() -> date:
    return datetime.now().astimezone(current_settings().zone).date()


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is not None and 1970 <= found.year <= 9990 else None


_KEPT = 8
LISTED = 10


class RecentUsage(msgspec.Struct, frozen=True):
    """What a short time before now adds up to."""

    sum: UsageSum
    sessions: int


class DashboardData(msgspec.Struct, frozen=True):
    stats: IndexStats
    begun: dict[date, int]
    """Sessions by the day of their first request."""
    today: RecentUsage
    week: RecentUsage
    block: FiveHourBlock | None
    """The five hours that run now."""
    zone: tzinfo | None = None
    """Where days begin; None: as the machine's clock has it."""


class DashboardCache:
    """Boards that were asked for last. Several threads may ask; one counts, the others wait for it."""

    def __init__(self) -> None:
        self._boards: OrderedDict[tuple[object, ...], DashboardData] = OrderedDict()
        self._lock = threading.Lock()

    def board(self, index: Index, wanted: UsageFilter, today: date, now: float) -> DashboardData:
        key = index.path, _stamp(index.path), wanted, today, now // 60 if _running(index, now) else 0
        with self._lock:
            if key not in self._boards:
                self._boards[key] = gather_dashboard(index, wanted, today, now)
            self._boards.move_to_end(key)
            while len(self._boards) > _KEPT:
                self._boards.popitem(last=False)
            return self._boards[key]


def gather_dashboard(index: Index, wanted: UsageFilter, today: date, now: float) -> DashboardData:
    monday = first_day("week", today, wanted.week)
    running = five_hour_blocks(index, now=now).rows[-1:] if _running(index, now) else ()
    first = [row.first for row in usage_report(index, "session", wanted).rows if row.first is not None]
    return DashboardData(
        index_stats(index, wanted, now, LISTED),
        dict(Counter(local_time(second, wanted.zone).date() for second in first)),
        _recent(index, wanted, today),
        _recent(index, wanted, monday),
        next((block for block in running if block.active), None),
        wanted.zone,
    )


def with_custom_titles(found: DashboardData, titles: Mapping[str, str]) -> DashboardData:
    """The same with sessions called as a person calls them."""
    if not titles:
        return found
    longest, dearest = (
        tuple(msgspec.structs.replace(one, title=titles.get(one.key, one.title)) for one in several)
        for several in (found.stats.longest, found.stats.dearest)
    )
    return msgspec.structs.replace(found, stats=msgspec.structs.replace(found.stats, longest=longest, dearest=dearest))


def _recent(index: Index, wanted: UsageFilter, first: date) -> RecentUsage:
    since = UsageFilter(since=day_start(first, wanted.zone), project=wanted.project, zone=wanted.zone)
    report = usage_report(index, "session", since)
    return RecentUsage(report.sum, len(report.rows))


def _running(index: Index, now: float) -> bool:
    """Whether a request was made in the last five hours."""
    last: float | None = index.db.execute("SELECT max(ended) FROM session").get
    return last is not None and now - HOURS < last < now + HOURS


def _stamp(path: Path) -> tuple[int, ...]:
    """Changes with every write to the index."""
    found: list[int] = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            status = file.stat()
            found += [status.st_mtime_ns, status.st_size, status.st_ino]
    return tuple(found)
