"""Sessions as rows for the list templates: times, badges, figures, related sessions."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw
import msgspec

from unspool import human
from unspool.app.marks import AllMarks, StoredMark
from unspool.app.project_list import ProjectList, project_slug
from unspool.app.session_query import ListedSession
from unspool.model import Overview
from unspool.prices import Cost
from unspool.site.session_head import Badge
from unspool.site.session_view import format_cost
from unspool.site.summaries import model_name, shorten_line
from unspool.store.index.schema import PICO
from unspool.store.index.times import local_time, written_time
from unspool.store.library.chains import ChainMember, link_sessions

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class DisplayTime(NamedTuple):
    """A moment for a template."""

    text: str
    style: str
    """`clock` or `day`."""
    iso: str
    """For the page's script, which writes it on the browser's clock; empty where a zone was chosen."""
    full: str


def display_time(seconds: float | None, zone: tzinfo | None, style: str = "clock") -> DisplayTime | None:
    """A moment; None where there is none."""
    if seconds is None:
        return None
    there = local_time(seconds, zone)
    shown = f"{there:%H:%M}" if style == "clock" else _written(there.date())
    full = f"{_written(there.date())}, {there:%H:%M:%S}" + (f" {there:%Z}" if zone else "")
    return DisplayTime(shown, style, "" if zone else written_time(seconds), full)


def day_of(seconds: float | None, zone: tzinfo | None) -> date | None:
    """The day of a moment there."""
    return None if seconds is None else local_time(seconds, zone).date()


def day_name(day: date | None, today: date) -> str:
    """Today, Yesterday, Friday 13 Nov, 13 Nov 2025."""
    if day is None:
        return "Without a date"
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if timedelta(0) < today - day < timedelta(days=180):
        return f"{_WEEK[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]}"
    return _written(day)


def time_ago(seconds: float, now: float) -> str:
    """12 s ago, 5 m ago, 3 h ago, 2 d ago."""
    past = max(0, round(now - seconds))
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if past >= unit:
            return f"{past // unit} {name} ago"
    return f"{past} s ago"


def current_day(now: float, zone: tzinfo | None) -> date:
    """The day it is there."""
    return local_time(now, zone).date()


def _written(day: date | datetime) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


ACTIVE_SECONDS = 300.0
"""Seconds since its last line within which a session counts as active."""
_TONES = {"planning": "plan", "implementation": "plan", "ghost": "warn"}
_ABOUT = {
    "ghost": "Its log is gone; what is known comes from its traces",
    "planning": "It ends with a plan",
    "implementation": "It carries out a plan",
    "background": "Run in the background",
    "headless": "Run without a person",
}


class RelatedSession(NamedTuple):
    """A session that this one continues, or that continues it."""

    relation: str
    title: str
    href: str


class SessionListRow(NamedTuple):
    """A session for a template."""

    key: str
    href: str
    title: str
    original: str
    """Its own title where it was renamed; else empty."""
    time: DisplayTime | None
    project: str
    path: str
    shelf: str
    """The project's slug."""
    badges: tuple[Badge, ...]
    facts: tuple[str, ...]
    errors: str
    cost: str
    exact: str
    mark: StoredMark
    edit: str
    """Where it is starred, tagged, renamed."""
    chain: tuple[RelatedSession, ...] = ()


class SessionDay(NamedTuple):
    """Rows of one day; without a name where the order is no order of time."""

    name: str
    rows: tuple[SessionListRow, ...]


class SessionRowBuilder(NamedTuple):
    said: AllMarks
    shelf: ProjectList
    zone: tzinfo | None
    now: float
    chains: Mapping[str, Sequence[RelatedSession]] = {}
    """By the session's id."""

    def together(self, listed: Iterable[ListedSession], style: str = "day") -> tuple[SessionDay, ...]:
        """Rows in the order given."""
        rows = tuple(self.row(one, style) for one in listed)
        return (SessionDay("", rows),) if rows else ()

    def by_day(self, listed: Iterable[ListedSession]) -> tuple[SessionDay, ...]:
        """Rows by day, in the order given."""
        return tuple(self._days(listed))

    def _days(self, listed: Iterable[ListedSession]) -> Iterator[SessionDay]:
        now: date = current_day(self.now, self.zone)
        for day, group in groupby(listed, key=lambda one: day_of(one.time, self.zone)):
            yield SessionDay(day_name(day, now), tuple(map(self.row, group)))

    def row(self, one: ListedSession, style: str = "clock") -> SessionListRow:
        mark, title = self.said.of(one.key), shorten_line(one.title, 160) or one.key
        return SessionListRow(
            one.key,
            f"/s/{quote(one.key, safe='')}/",
            mark.title or title,
            title if mark.title and mark.title != title else "",
            display_time(one.time, self.zone, style),
            self.shelf.label(one.project),
            one.project,
            project_slug(one.project),
            tuple(self._badges(one)),
            tuple(_facts(one)),
            human.count(one.errors, "error") if one.errors else "",
            format_dollars(one.cost, floor=bool(one.unpriced)),
            f"${Decimal(one.cost) / PICO:f} at list prices" if one.cost else "",
            mark,
            f"/marks/{quote(one.key, safe='')}",
            tuple(self.chains.get(one.key, ())),
        )

    def _badges(self, one: ListedSession) -> Iterator[Badge]:
        if (
            one.time is not None
            and self.now - ACTIVE_SECONDS <= one.time <= self.now + ACTIVE_SECONDS
            and one.kind != "ghost"
        ):
            yield Badge("● active", "good", about="Its log was written to within the last minutes")
        if one.kind not in ("interactive", ""):
            yield Badge(one.kind, _TONES.get(one.kind, ""), about=_ABOUT.get(one.kind, ""))
        if one.more.problems:
            yield Badge(f"{human.count(one.more.problems, 'line')} not read", "bad")


def _facts(one: ListedSession) -> Iterator[str]:
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
        yield f"⎇ {shorten_line(one.branch, 40)}"


def format_dollars(cost: int, *, floor: bool = False) -> str:
    """Picodollars as lists show them; empty for nothing."""
    return format_cost(Cost(Decimal(cost) / PICO, floor=floor))


_KINDS = ("planning", "implementation")
_MOST = 300
"""Plans and implementations of the listed projects that are looked at, the nearest in time first."""
_QUERY = """SELECT overview, ids FROM session WHERE project IN (SELECT value FROM json_each(?))
AND kind IN ('planning', 'implementation') ORDER BY abs(coalesce(ended, started, 0) - ?) LIMIT ?"""
_RELATIONS = {"source": "continues", "follow-up": "continued by", "copied-from": "copied from", "moved-to": "moved to"}


def related_sessions(
    db: apsw.Connection, listed: Sequence[ListedSession], said: AllMarks
) -> dict[str, list[RelatedSession]]:
    """The neighbours of the listed sessions that plan or carry out a plan."""
    planned = [one for one in listed if one.kind in _KINDS]
    if not planned:
        return {}
    middle = planned[len(planned) // 2].time or 0
    projects = json.dumps(sorted({one.project for one in planned}))
    rows: Iterable[Any] = db.execute(_QUERY, (projects, middle, _MOST))
    decode = msgspec.msgpack.Decoder(Overview).decode
    skimmed = [ChainMember(decode(packed), array("Q", ids)) for packed, ids in rows if packed]
    wanted = {one.key for one in planned}
    return {
        overview.id: [
            RelatedSession(
                _RELATIONS[link.relation], _title(link.session, link.title, said), f"/s/{quote(link.session, safe='')}/"
            )
            for link in overview.links
        ]
        for overview in link_sessions(skimmed)
        if overview.id in wanted
    }


def _title(session: str, title: str, said: AllMarks) -> str:
    return said.of(session).title or shorten_line(title, 80) or session
