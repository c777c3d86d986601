"""Sessions as rows of a page: what the index knows of each, and what was said about it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, tzinfo
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote

from unspool import human
from unspool.app.browse.listing import Listed
from unspool.app.browse.moments import Moment, day_name, day_of, moment, today
from unspool.app.browse.shelf import Shelf, slug
from unspool.app.marks import Mark, Said
from unspool.index.schema import PICO
from unspool.prices import Cost
from unspool.site.bill import money
from unspool.site.brief import flat
from unspool.site.models import model_name
from unspool.site.statistics import Badge

ACTIVE = 300.0
"""Seconds since its last line within which a session counts as active."""
_TONES = {"planning": "plan", "implementation": "plan", "ghost": "warn"}
_ABOUT = {
    "ghost": "Its log is gone; what is known comes from its traces",
    "planning": "It ends with a plan",
    "implementation": "It carries out a plan",
    "background": "Run in the background",
    "headless": "Run without a person",
}


class Chain(NamedTuple):
    """A session that this one continues, or that continues it."""

    relation: str
    title: str
    href: str


class Row(NamedTuple):
    """A session for a template."""

    key: str
    href: str
    title: str
    original: str
    """Its own title where it was renamed; else empty."""
    time: Moment | None
    project: str
    path: str
    shelf: str
    """The project's slug."""
    badges: tuple[Badge, ...]
    facts: tuple[str, ...]
    errors: str
    cost: str
    exact: str
    mark: Mark
    edit: str
    """Where it is starred, tagged, renamed."""
    chain: tuple[Chain, ...] = ()


class Day(NamedTuple):
    """Rows of one day; without a name where the order is no order of time."""

    name: str
    rows: tuple[Row, ...]


class Maker(NamedTuple):
    """Makes rows."""

    said: Said
    shelf: Shelf
    zone: tzinfo | None
    now: float
    chains: Mapping[str, Sequence[Chain]] = {}
    """By the session's id."""

    def together(self, listed: Iterable[Listed], style: str = "day") -> tuple[Day, ...]:
        """Rows in the order given."""
        rows = tuple(self.row(one, style) for one in listed)
        return (Day("", rows),) if rows else ()

    def by_day(self, listed: Iterable[Listed]) -> tuple[Day, ...]:
        """Rows by day, in the order given."""
        return tuple(self._days(listed))

    def _days(self, listed: Iterable[Listed]) -> Iterator[Day]:
        now: date = today(self.now, self.zone)
        for day, group in groupby(listed, key=lambda one: day_of(one.time, self.zone)):
            yield Day(day_name(day, now), tuple(map(self.row, group)))

    def row(self, one: Listed, style: str = "clock") -> Row:
        """One row."""
        mark, title = self.said.of(one.key), flat(one.title, 160) or one.key
        return Row(
            one.key,
            f"/s/{quote(one.key, safe='')}/",
            mark.title or title,
            title if mark.title and mark.title != title else "",
            moment(one.time, self.zone, style),
            self.shelf.label(one.project),
            one.project,
            slug(one.project),
            tuple(self._badges(one)),
            tuple(_facts(one)),
            human.count(one.errors, "error") if one.errors else "",
            dollars(one.cost, floor=bool(one.unpriced)),
            f"${Decimal(one.cost) / PICO:f} at list prices" if one.cost else "",
            mark,
            f"/marks/{quote(one.key, safe='')}",
            tuple(self.chains.get(one.key, ())),
        )

    def _badges(self, one: Listed) -> Iterator[Badge]:
        if one.time is not None and self.now - ACTIVE <= one.time <= self.now + ACTIVE and one.kind != "ghost":
            yield Badge("● active", "good", about="Its log was written to within the last minutes")
        if one.kind not in ("interactive", ""):
            yield Badge(one.kind, _TONES.get(one.kind, ""), about=_ABOUT.get(one.kind, ""))
        if one.more.problems:
            yield Badge(f"{human.count(one.more.problems, 'line')} not read", "bad")


def _facts(one: Listed) -> Iterator[str]:
    yield human.count(one.turns, "prompt")
    for number, word in ((one.calls, "call"), (one.files, "file"), (one.more.agents, "subagent")):
        if number:
            yield human.count(number, word)
    if one.more.compactions:
        yield human.count(one.more.compactions, "compaction")
    if one.started is not None and one.ended is not None and one.ended - one.started >= 1:
        yield human.duration(one.ended - one.started)
    models = tuple(dict.fromkeys(map(model_name, one.models)))
    if models:
        yield ", ".join(models[:2]) + (f" +{len(models) - 2}" if len(models) > 2 else "")
    if one.branch:
        yield f"⎇ {flat(one.branch, 40)}"


def dollars(cost: int, *, floor: bool = False) -> str:
    """Picodollars as lists show them; empty for nothing."""
    return money(Cost(Decimal(cost) / PICO, floor=floor))
