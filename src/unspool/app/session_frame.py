"""What the app adds around a page of a session: scripts, live mark, context chart, resume command."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

import msgspec
from markupsafe import Markup
from starlette.responses import HTMLResponse

from unspool import human
from unspool.agents import resume_command
from unspool.app.context import AppContext
from unspool.app.open_session import OpenSession
from unspool.app.render import HOME, page_frame, render_template
from unspool.config.settings import current_settings
from unspool.figures import family
from unspool.model import Notice, Session, Turn
from unspool.prices import PriceTable
from unspool.site import summaries
from unspool.site.address import INDEX, Addresses
from unspool.site.options import SiteOptions
from unspool.site.page_template import Crumb, Frame, PageTemplate

HEIGHT, STEP, MOST = 100, 10, 150
"""Of the picture: its height, the width of a bar, and how many there are at most."""


class ContextBar(NamedTuple):
    """One turn, or several that stand together."""

    x: int
    y: int
    height: int
    href: str
    said: str
    compacted: bool


class ContextRow(NamedTuple):
    """A turn of the table."""

    number: int
    href: str
    words: str
    tokens: str
    compacted: bool


class ContextChart(NamedTuple):
    """The picture of a session's window."""

    width: int
    bars: tuple[ContextBar, ...]
    rows: tuple[ContextRow, ...]
    peak: str
    now: str
    compactions: int


def context_chart(session: Session, addresses: Addresses) -> ContextChart | None:
    """The window over the live turns; None where the log tells nothing of it."""
    turns = [turn for turn in session.turns if turn.context or _compacted(turn)]
    most = max((turn.context for turn in turns), default=0)
    if most == 0 or len(turns) < 2:
        return None
    bars = tuple(_bars(turns, most, addresses))
    now = next(turn.context for turn in reversed(turns) if turn.context)
    rows = tuple(_row(turn, addresses) for turn in turns)
    compactions = sum(_compacted(turn) for turn in turns)
    return ContextChart(len(bars) * STEP, bars, rows, human.tokens(most), human.tokens(now), compactions)


def _compacted(turn: Turn) -> int:
    return sum(isinstance(block, Notice) and block.kind == "compaction" for block in turn.blocks)


def _bars(turns: Sequence[Turn], most: int, addresses: Addresses) -> Iterator[ContextBar]:
    """A bar for each turn; where there are many, for the fullest of several neighbours."""
    together = -(-len(turns) // MOST)
    for at, start in enumerate(range(0, len(turns), together)):
        group = turns[start : start + together]
        turn = max(group, key=lambda one: one.context)
        height = max(2, round(HEIGHT * turn.context / most))
        said = f"Prompt {turn.number}: {human.tokens(turn.context)}"
        compacted = any(map(_compacted, group))
        yield ContextBar(at * STEP, HEIGHT - height, height, addresses.turn(turn.number), said, compacted)


def _row(turn: Turn, addresses: Addresses) -> ContextRow:
    words = summaries.prompt_line(turn.prompt)
    return ContextRow(turn.number, addresses.turn(turn.number), words, f"{turn.context:,}", bool(_compacted(turn)))


_SCRIPTS = ("read.js", "read-windows.js", "read-find.js")
CHAIN_RELATIONS = ("source", "follow-up")
"""How sessions of one story belong together."""
LIVE_SECONDS = 30 * 60
"""Seconds after its last line in which a session may well go on."""


def log_position(session: Session, more: int = 0) -> str:
    """How far the logs of a session had come: what a page that shows it has, and what is new to it later.

    `more` are bytes of subagents' logs that were not read again.
    """
    agents = sum(member.log.size for member in family(session)) - session.log.size
    return f"{session.log.size}-{agents + more}"


def frame_session_page(told: OpenSession, options: SiteOptions, prices: PriceTable, path: str) -> Frame:
    """The frame of a page of a session."""
    live = _goes_on(told, options, path)
    base = page_frame((HOME,), ("read.css",), (*_SCRIPTS, "live.js") if is_live(told) else _SCRIPTS)
    dress = base.dress._replace(scripts=_head(told, options, live=live) + base.dress.scripts) if base.dress else None
    sessions = {link.session: f"s/{quote(link.session, safe='')}/" for link in told.session.links}
    inset = _inset(told, options) if path == INDEX else ""
    return msgspec.structs.replace(base, dress=dress, sessions=sessions, inset=inset, prices=prices)


def is_live(told: OpenSession) -> bool:
    """Whether its log was written to of late."""
    try:
        return not told.found.origin and time.time() - os.stat(told.found.path).st_mtime < LIVE_SECONDS  # noqa: PTH116
    except OSError:
        return False


def _goes_on(told: OpenSession, options: SiteOptions, path: str) -> bool:
    """Whether a page is the last of a conversation that may go on."""
    return path == told.addresses(options).live.leaves[-1].path and is_live(told) and not told.part


def _head(told: OpenSession, options: SiteOptions, *, live: bool) -> Markup:
    last = told.addresses(options).live.leaves[-1]
    first = last.turns[0].number if last.turns else 0
    hide = current_settings().hide
    return render_template(
        "read_head.html", told=told, live=live, first=first, since=log_position(told.session), hide=hide
    )


def _inset(told: OpenSession, options: SiteOptions) -> str:
    shown = None if told.part else context_chart(told.session, told.addresses(options))
    chain = any(link.relation in CHAIN_RELATIONS for link in told.session.links)
    resume = resume_command(told.found.format, told.session.id, told.session.cwd)
    box = render_template("read_inset.html", told=told, resume=resume, context=shown, lively=is_live(told), chain=chain)
    return str(box)


NO_CACHE = {"Cache-Control": "no-cache"}


def render_session_subpage(
    app_context: AppContext, told: OpenSession, name: str, body: str, up: Sequence[str] = (), rail: str = ""
) -> HTMLResponse:
    """A page around a body that is markup already; `up` leads to the session's folder where it lies below it."""
    session_name = told.view(app_context.options).name
    frame = frame_session_page(told, app_context.options, app_context.prices, "")
    sheet = PageTemplate(app_context.options, frame, told.session.id)
    above = Crumb(session_name, "".join((*up, INDEX)))
    html = sheet.page(f"{name} · {session_name}", body, rail=rail, up=above, here=name)
    return HTMLResponse(html.encode("utf-8", "replace"), headers=NO_CACHE)
