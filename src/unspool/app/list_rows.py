"""Times and days as lists write them, and the sessions that a session belongs with."""

import json
from array import array
from collections.abc import Iterable, Sequence
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from typing import Any

import apsw
import msgspec
from markupsafe import Markup, escape

from unspool.app.marks import AllMarks
from unspool.app.render import session_href
from unspool.model import Overview
from unspool.prices import Cost
from unspool.render.html.elements import day_text
from unspool.site.page_template import as_markup
from unspool.site.session_rows import RowLink, SessionRow
from unspool.site.session_view import format_cost
from unspool.site.summaries import shorten_line
from unspool.store.index.schema import PICO
from unspool.store.index.times import local_time, written_time
from unspool.store.library.chains import ChainMember, link_sessions

_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def time_markup(seconds: float | None, zone: tzinfo | None, style: str = "clock") -> Markup:
    """A moment as a `clock` or a `day`; a page's script writes it on the browser's clock, unless a zone is chosen."""
    if seconds is None:
        return Markup()
    there = local_time(seconds, zone)
    day = day_text(there)
    text = f"{there:%H:%M}" if style == "clock" else day
    if zone:
        return as_markup(f'<span class="num" title="{escape(f"{day}, {there:%H:%M:%S %Z}")}">{text}</span>')
    full = f"{day}, {there:%H:%M:%S}"
    return as_markup(f'<time class="{style}" datetime="{written_time(seconds)}" title="{full}">{text}</time>')


def day_name(day: date | None, today: date) -> str:
    """Today, Yesterday, Friday 13 Nov, 13 Nov 2025."""
    if day is None:
        return "Without a date"
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if timedelta(0) < today - day < timedelta(days=180):
        return f"{_WEEK[day.weekday()]}, {day_text(day).rpartition(' ')[0]}"
    return day_text(day)


def time_ago(seconds: float, now: float) -> str:
    """12 s ago, 5 m ago, 3 h ago, 2 d ago."""
    past = max(0, round(now - seconds))
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if past >= unit:
            return f"{past // unit} {name} ago"
    return f"{past} s ago"


def format_dollars(cost: int, *, floor: bool = False) -> str:
    """Picodollars as lists show them; empty for nothing."""
    return format_cost(Cost(Decimal(cost) / PICO, floor=floor))


_MOST = 300
"""Plans and implementations of the listed projects that are looked at, the nearest in time first."""
_QUERY = """SELECT overview, ids FROM session WHERE project IN (SELECT value FROM json_each(?))
AND kind IN ('planning', 'implementation') ORDER BY abs(coalesce(ended, started, 0) - ?) LIMIT ?"""
_RELATIONS = {"source": "continues", "follow-up": "continued by", "copied-from": "copied from", "moved-to": "moved to"}


def related_sessions(
    db: apsw.Connection, rows: Sequence[SessionRow], marks: AllMarks
) -> dict[str, tuple[RowLink, ...]]:
    """The neighbours of those sessions that plan or carry out a plan, by the session's id."""
    planned = [row for row in rows if row.kind in ("planning", "implementation")]
    if not planned:
        return {}
    middle = planned[len(planned) // 2].time
    projects = json.dumps(sorted({row.project for row in planned}))
    found: Iterable[Any] = db.execute(_QUERY, (projects, middle.timestamp() if middle else 0, _MOST))
    decode = msgspec.msgpack.Decoder(Overview).decode
    members = [ChainMember(decode(packed), array("Q", ids)) for packed, ids in found if packed]
    wanted = {row.id for row in planned}
    related = {}
    for overview in link_sessions(members):
        if overview.id in wanted:
            named = [(marks.of(link.session).title or shorten_line(link.title, 80), link) for link in overview.links]
            related[overview.id] = tuple(
                RowLink(_RELATIONS[link.relation], session_href(link.session), title or link.session)
                for title, link in named
            )
    return related
