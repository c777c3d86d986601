"""What a team did in a few days: sessions by project, who had them, what came of them and what it cost."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from unspool.hub.people.users import Person
from unspool.hub.sessions.listing import NamedThing, SessionFacts, session_rows, visible_to, with_own_figures
from unspool.hub.sessions.usage import HubSum, usage
from unspool.hub.shares.share import COLUMNS, LIVE, HubShare
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database
from unspool.store.index.conditions import SqlCondition, all_of
from unspool.store.index.query import Filter
from unspool.store.index.times import day_start, local_time

_PROJECTS, _EACH, _SHARES = 12, 8, 10
"""Projects that are shown, sessions of each of them, and shares."""
_WORK = "count(*), sum(commits), sum(files), sum(added), sum(removed)"
_FRIDAY = 4


class DaySpan(NamedTuple):
    first: date
    last: date
    """Included, as the first is."""

    @property
    def filters(self) -> list[Filter]:
        """For a list or a report of the same days."""
        return [Filter("since", f"{self.first}T00:00+00:00"), Filter("until", f"{self.last + _ONE}T00:00+00:00")]

    def within(self, column: str) -> SqlCondition:
        """That a moment is in these days."""
        since, until = (round(day_start(day, UTC) * 1000) for day in (self.first, self.last + _ONE))
        return SqlCondition(f"{column} >= ? AND {column} < ?", (since, until))


_ONE = timedelta(days=1)


class DoneWork(NamedTuple):
    sessions: int = 0
    commits: int = 0
    files: int = 0
    """Files changed; `added` and `removed` are their lines."""
    added: int = 0
    removed: int = 0

    def plus(self, other: "DoneWork") -> "DoneWork":
        return DoneWork(*map(int.__add__, self, other))


class ProjectActivity(NamedTuple):
    project: NamedThing
    work: DoneWork
    people: int
    spent: HubSum
    sessions: tuple[SessionFacts, ...]
    """The last active first; not all of them, where there are many."""


class TeamActivity(NamedTuple):
    span: DaySpan
    work: DoneWork
    people: int
    spent: HubSum
    projects: tuple[ProjectActivity, ...]
    """The one with the most sessions first."""
    others: int
    """Projects that are not shown."""
    shares: tuple[HubShare, ...]


def recent_days(days: int = 0, today: date | None = None) -> DaySpan:
    """So many days until now; since the working day before today, where no number is given."""
    today = today or datetime.now(UTC).date()
    if days:
        return DaySpan(today - timedelta(days=days - 1), today)
    before = today - _ONE
    return DaySpan(before - timedelta(days=max(0, before.weekday() - _FRIDAY)), today)


def last_active_day(db: Database, person: Person, until: date) -> date | None:
    """The last day, until this one, on which a session was active that a person may see; the first of 1970 where no
    session tells a time."""
    ends = SqlCondition("session.finished < ?", (round(day_start(until + _ONE, UTC) * 1000),))
    found = session_rows(db, all_of([visible_to(db, person), ends]), 1)
    return local_time((found[0].finished or 0) / 1000, UTC).date() if found else None


def team_activity(db: Database, person: Person, span: DaySpan) -> TeamActivity:
    where = all_of([visible_to(db, person), span.within("session.finished")])
    sql = (
        f"SELECT session.project, project.name, session.person, {_WORK} FROM session"  # noqa: S608  values are bound
        f" LEFT JOIN project ON project.id = session.project WHERE {where.sql} GROUP BY 1, 2, 3"
    )
    work: dict[NamedThing, DoneWork] = {}
    people: dict[NamedThing, set[str]] = {}
    for project, name, who, *figures in db.rows(sql, *where.values):
        thing = NamedThing(project, name or "")
        work[thing] = work.get(thing, DoneWork()).plus(DoneWork(*map(int, figures)))
        people.setdefault(thing, set()).add(who)
    used = usage(db, person, "project", span.filters)
    spent = {line.key: line.sum for line in used.lines}
    shown = sorted(work, key=lambda thing: (-work[thing].sessions, thing.name))[:_PROJECTS]
    sessions = _newest(db, person, span, shown)
    total = DoneWork()
    for one in work.values():
        total = total.plus(one)
    projects = tuple(
        ProjectActivity(
            thing, work[thing], len(people[thing]), spent.get(thing.id, HubSum()),
            tuple(facts for facts in sessions if facts.project.id == thing.id),
        )
        for thing in shown
    )  # fmt: skip
    everybody = len(set().union(*people.values())) if people else 0
    return TeamActivity(span, total, everybody, used.sum, projects, len(work) - len(shown), _shares(db, person, span))


def _newest(db: Database, person: Person, span: DaySpan, projects: Sequence[NamedThing]) -> list[SessionFacts]:
    found = []
    for project in projects:
        inside = SqlCondition("session.project = ?", (project.id,))
        found += session_rows(db, all_of([inside, span.within("session.finished")]), _EACH)
    return with_own_figures(db, person, found)


def _shares(db: Database, person: Person, span: DaySpan) -> tuple[HubShare, ...]:
    """What was shared that a person may know of: their own, and what is listed for everybody."""
    made = span.within("created")
    sql = (
        f"SELECT {COLUMNS} FROM share WHERE {made.sql} AND (owner = ? OR listed = 1) AND {LIVE}"  # noqa: S608
        f" ORDER BY created DESC LIMIT {_SHARES:d}"
    )
    return tuple(HubShare(*row) for row in db.rows(sql, *made.values, person.id, now()))
