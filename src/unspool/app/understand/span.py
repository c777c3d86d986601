"""Which sessions and what time the figures are of, as the address of the page says it."""

from datetime import date, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from unspool.app.config.store import current
from unspool.index.billing import Wanted
from unspool.index.periods import day_start

SPANS = ((1, "today"), (7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "a year"))
_LONGEST = 1000


class Span(NamedTuple):
    """A stretch of days that ends today or on a day that was said; all of the time where nothing is said."""

    days: int = 0
    since: str = ""
    """2026-01-31."""
    until: str = ""
    project: str = ""
    note: str = ""
    """What could not be understood."""

    def wanted(self, today: date) -> Wanted:
        """The same as a question to the index."""
        first, last = _day(self.since), _day(self.until)
        if self.days:
            first = today - timedelta(days=self.days - 1)
        zone = current().zone
        return Wanted(
            since=None if first is None else day_start(first, zone),
            until=None if last is None else day_start(last + timedelta(days=1), zone),
            project=self.project,
            zone=zone,
        )

    @property
    def query(self) -> str:
        """What stands behind the question mark of an address."""
        pairs = {"days": self.days or "", "since": self.since, "until": self.until, "project": self.project}
        return urlencode({name: value for name, value in pairs.items() if value}, errors="replace")

    @property
    def href(self) -> str:
        return f"/stats?{self.query}" if self.query else "/stats"

    def csv(self, name: str) -> str:
        """Where the figures of a table are to be had."""
        return f"/stats/{name}.csv" + (f"?{self.query}" if self.query else "")


def span(given: QueryParams) -> Span:
    """The span that an address names."""
    days, since, until = given.get("days", ""), given.get("since", "").strip(), given.get("until", "").strip()
    number = int(days) if days.isascii() and days.isdigit() and 0 < int(days[:5]) <= 36_500 and len(days) < 6 else 0
    wrong = [text for text in (since, until) if text and _day(text) is None]
    note = " ".join(f"“{text[:40]}” is no date such as 2026-01-31." for text in wrong)
    since, until = (text if _day(text) else "" for text in (since, until))
    return Span(number, since, until, given.get("project", "")[:_LONGEST].encode(errors="replace").decode(), note)


def today() -> date:
    """The day it is where the settings say."""
    return datetime.now().astimezone(current().zone).date()


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is not None and 1970 <= found.year <= 9990 else None
