"""All figures of the dashboard, from the index; kept until the index, the question or the day is another."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from datetime import date, timedelta, tzinfo
from pathlib import Path

import msgspec

from unspool.index.billing import Wanted
from unspool.index.blocks import HOURS, Block, blocks
from unspool.index.periods import day_start, first_day, local
from unspool.index.stats import Stats, stats
from unspool.index.store import Index
from unspool.index.sums import Sum
from unspool.index.usage import Report, usage

_KEPT = 8
LISTED = 10


class Recent(msgspec.Struct, frozen=True):
    """What a short time before now adds up to."""

    sum: Sum
    sessions: int


class Board(msgspec.Struct, frozen=True):
    """Everything that the dashboard tells."""

    stats: Stats
    begun: dict[date, int]
    """Sessions by the day of their first request."""
    today: Recent
    week: Recent
    block: Block | None
    """The five hours that run now."""
    zone: tzinfo | None = None
    """Where days begin; None: as the machine's clock has it."""


class Gathered:
    """Boards that were asked for last. Several threads may ask; one counts, the others wait for it."""

    def __init__(self) -> None:
        self._boards: OrderedDict[tuple[object, ...], Board] = OrderedDict()
        self._lock = threading.Lock()

    def board(self, index: Index, wanted: Wanted, today: date, now: float) -> Board:
        """The figures as the index has them now."""
        key = index.path, _stamp(index.path), wanted, today, now // 60 if _running(index, now) else 0
        with self._lock:
            if key not in self._boards:
                self._boards[key] = board(index, wanted, today, now)
            self._boards.move_to_end(key)
            while len(self._boards) > _KEPT:
                self._boards.popitem(last=False)
            return self._boards[key]


def board(index: Index, wanted: Wanted, today: date, now: float) -> Board:
    """The figures, counted."""
    monday = first_day("week", today, wanted.week)
    running = blocks(index, now=now).rows[-1:] if _running(index, now) else ()
    return Board(
        stats(index, wanted, now, LISTED),
        _begun(usage(index, "session", wanted), wanted.zone),
        _recent(index, wanted, today),
        _recent(index, wanted, monday),
        next((block for block in running if block.active), None),
        wanted.zone,
    )


def renamed(found: Board, titles: Mapping[str, str]) -> Board:
    """The same with sessions called as a person calls them."""
    if not titles:
        return found
    longest, dearest = (
        tuple(msgspec.structs.replace(one, title=titles.get(one.key, one.title)) for one in several)
        for several in (found.stats.longest, found.stats.dearest)
    )
    return msgspec.structs.replace(found, stats=msgspec.structs.replace(found.stats, longest=longest, dearest=dearest))


def _begun(sessions: Report, zone: tzinfo | None) -> dict[date, int]:
    return dict(Counter(local(row.first, zone).date() for row in sessions.rows if row.first is not None))


def _recent(index: Index, wanted: Wanted, first: date) -> Recent:
    asked = Wanted(since=day_start(first, wanted.zone), project=wanted.project, zone=wanted.zone)
    report = usage(index, "session", asked)
    return Recent(report.sum, len(report.rows))


def _running(index: Index, now: float) -> bool:
    """Whether a request was made in the last five hours."""
    last: float | None = index.db.execute("SELECT max(ended) FROM session").get
    return last is not None and now - HOURS < last < now + HOURS


def _stamp(path: Path) -> tuple[int, ...]:
    """Changes with every write to the index."""
    found: list[int] = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            told = file.stat()
        except FileNotFoundError:
            continue
        found += [told.st_mtime_ns, told.st_size, told.st_ino]
    return tuple(found)


def step(day: date, by: str) -> date:
    """The first day of the next period."""
    return first_day(by, day + timedelta(days={"day": 1, "week": 7, "month": 31}[by]))
