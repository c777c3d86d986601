"""The pages above sessions: one for each project, and one above all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from unspool import human
from unspool.prices import Cost
from unspool.render.html.elements import time_tag
from unspool.site.address import INDEX
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame, HtmlPage, PageTemplate, as_markup, fill_template
from unspool.site.session_head import Badge, Tile
from unspool.site.session_view import format_cost
from unspool.site.summaries import Card

RECENT = 40
"""Sessions of all projects that the master page lists."""
_DAYS = 30
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ProjectCards(NamedTuple):
    """A project and its sessions."""

    name: str
    path: str
    """Where the project lay, as its logs tell it."""
    folder: str
    """Its folder below the site's root."""
    cards: tuple[tuple[str, Card], ...]
    """Each session's folder below the project's, and the session, in any order."""


class CardRow(NamedTuple):
    """A session in a list."""

    href: str
    title: str
    time: Markup
    badges: tuple[Badge, ...]
    facts: tuple[str, ...]
    cost: str
    project: str


class CardDay(NamedTuple):
    name: Markup
    rows: tuple[CardRow, ...]


class _Placed(NamedTuple):
    card: Card
    href: str
    project: str


def project_page(shelf: ProjectCards, options: SiteOptions, frame: Frame) -> HtmlPage:
    """A project's sessions, newest first; the path is relative to the project's folder."""
    placed = [_Placed(one, f"{folder}/{INDEX}", shelf.name) for folder, one in shelf.cards]
    cards = [one for _, one in shelf.cards]
    body = fill_template(
        "project.html",
        title=shelf.name,
        place=shelf.path if shelf.path != shelf.name else "",
        tiles=(Tile("Sessions", f"{len(cards):,}"), *_tiles(cards)),
        days=tuple(_days(placed)),
    )
    return HtmlPage(INDEX, PageTemplate(options, frame).page(shelf.name, body))


def master_page(shelves: Sequence[ProjectCards], options: SiteOptions, frame: Frame) -> HtmlPage:
    """All projects and the newest sessions; the path is relative to the site's root."""
    placed = [
        _Placed(one, f"{shelf.folder}/{folder}/{INDEX}", shelf.name) for shelf in shelves for folder, one in shelf.cards
    ]
    cards = [one.card for one in placed]
    body = fill_template(
        "master.html",
        title="Sessions",
        tiles=(Tile("Sessions", f"{len(cards):,}", human.count(len(shelves), "project")), *_tiles(cards)),
        bars=tuple(_bars(cards)),
        days=tuple(_days(sorted(placed, key=_newest)[:RECENT])),
        projects=tuple(_projects(shelves)),
    )
    return HtmlPage(INDEX, PageTemplate(options, frame).page("Sessions", body))


def _tiles(cards: Sequence[Card]) -> Iterator[Tile]:
    """What the sessions add up to."""
    yield Tile("Prompts", f"{sum(one.prompts for one in cards):,}")
    failed = sum(one.tool_errors for one in cards)
    yield Tile("Tool calls", f"{sum(one.tool_calls for one in cards):,}", f"{failed:,} failed" if failed else "")
    commits = sum(one.commits for one in cards)
    if commits:
        yield Tile("Commits", f"{commits:,}")
    tokens = sum(one.tokens for one in cards)
    if tokens:
        yield Tile("Tokens", human.tokens(tokens), "", f"{tokens:,}")
    cost = _cost(cards)
    if cost.amount:
        yield Tile("Cost", format_cost(cost), "at list prices", f"${cost.amount:f}")


def _cost(cards: Iterable[Card]) -> Cost:
    return sum((one.cost for one in cards), Cost())


def _newest(one: _Placed) -> tuple[float, str]:
    when_ = one.card.ended or one.card.started or _LONG_AGO
    return (-when_.timestamp() if when_ is not _LONG_AGO else 0.0, one.card.id)


def _days(placed: Iterable[_Placed]) -> Iterator[CardDay]:
    for _, group in groupby(sorted(placed, key=_newest), key=lambda one: _date(one.card)):
        rows = list(group)
        time = rows[0].card.ended or rows[0].card.started
        yield CardDay(as_markup(time_tag(time, "day")) if time else as_markup("Without a date"), tuple(map(_row, rows)))


def _date(one: Card) -> date | None:
    time = one.ended or one.started
    return time.date() if time else None


def _row(one: _Placed) -> CardRow:
    it = one.card
    badges = (
        Badge(it.kind, "plan") if it.kind not in ("interactive", "") else None,
        Badge(f"{it.problems} not read", "bad") if it.problems else None,
        Badge("kept") if it.kept else None,
    )
    facts = (
        human.count(it.prompts, "prompt"),
        human.count(it.tool_calls, "call") if it.tool_calls else "",
        human.count(it.commits, "commit") if it.commits else "",
        human.count(it.agents, "subagent") if it.agents else "",
        human.count(it.compactions, "compaction") if it.compactions else "",
        human.elapsed(it.started, it.ended),
        ", ".join(it.models[:2]),
        human.size(it.size) if it.size else "",
    )
    return CardRow(
        one.href,
        it.title or it.id,
        as_markup(time_tag(it.ended or it.started, "clock")),
        tuple(badge for badge in badges if badge),
        tuple(fact for fact in facts if fact),
        format_cost(it.cost),
        one.project,
    )


def _bars(cards: Sequence[Card]) -> Iterator[int]:
    """Sessions a day over the last days that have any, as parts of a hundred of the most."""
    days = Counter(day for one in cards if (day := _date(one)) is not None)
    if not days:
        return
    last, most = max(days), max(days.values())
    for back in range(_DAYS - 1, -1, -1):
        number = days.get(last - timedelta(days=back), 0) if back <= (last - date.min).days else 0
        yield max(4, round(100 * number / most)) if number else 0


class _Project(NamedTuple):
    name: str
    place: str
    href: str
    sessions: str
    latest: Markup
    cost: str


def _projects(shelves: Sequence[ProjectCards]) -> Iterator[_Project]:
    """Projects, the one used last first."""
    for shelf in sorted(shelves, key=lambda shelf: (-_latest(shelf).timestamp() if shelf.cards else 0.0, shelf.name)):
        cards = [one for _, one in shelf.cards]
        latest = _latest(shelf)
        yield _Project(
            shelf.name,
            shelf.path,
            f"{shelf.folder}/{INDEX}",
            human.count(len(cards), "session"),
            as_markup(time_tag(latest if latest > _LONG_AGO else None, "day")),
            format_cost(_cost(cards)),
        )


def _latest(shelf: ProjectCards) -> datetime:
    return max((one.ended or one.started or _LONG_AGO for _, one in shelf.cards), default=_LONG_AGO)
