"""What the app adds around a page of a session: scripts, live mark, context chart, resume command."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from unspool import human
from unspool.agents import resume_command
from unspool.app.charts import PlotScale, plot_scale
from unspool.app.context import AppContext
from unspool.app.go_on import fork_command, ways_to_go_on
from unspool.app.open_session import OpenSession
from unspool.app.render import ASSET_URLS, HOME, page_frame, render_template, session_href
from unspool.config.settings import current_settings
from unspool.errors import UnspoolError
from unspool.figures import family
from unspool.figures.context_window import window_limit
from unspool.model import Notice, Session, Turn
from unspool.site import summaries
from unspool.site.address import INDEX, Addresses
from unspool.site.page_template import Crumb, Frame, PageTemplate
from unspool.site.png import may_draw_png
from unspool.site.summaries import shorten_line
from unspool.store.index.context_files import ContextFileIndex, RanUnder
from unspool.store.index.git_work import TRUNKS

HEIGHT, STEP, MOST = 100, 10, 150
"""Of the picture: its height, the width of a bar, and how many there are at most."""


class ContextBar(NamedTuple):
    """One turn, or several that stand together."""

    x: int
    y: int
    height: int
    href: str
    says: str
    compacted: bool


class ContextRow(NamedTuple):
    number: int
    href: str
    words: str
    tokens: str
    compacted: bool


class ContextChart(NamedTuple):
    width: int
    bars: tuple[ContextBar, ...]
    rows: tuple[ContextRow, ...]
    peak: str
    now: str
    compactions: int
    scale: PlotScale


def context_chart(session: Session, addresses: Addresses) -> ContextChart | None:
    """The window over the live turns; None where the log tells nothing of it."""
    turns = [turn for turn in session.turns if turn.context or _compacted(turn)]
    most = max((turn.context for turn in turns), default=0)
    if most == 0 or len(turns) < 2:
        return None
    model = next((one.model for one in reversed(session.messages) if not one.synthetic), "")
    scale = plot_scale(most, lambda number: human.tokens(round(number)), window_limit(session, model, most), lines=2)
    bars = tuple(_bars(turns, scale, addresses))
    now = next(turn.context for turn in reversed(turns) if turn.context)
    rows = []
    for turn in turns:
        words, tokens = summaries.turn_line(turn), f"{turn.context:,}"
        rows.append(ContextRow(turn.number, addresses.turn(turn.number), words, tokens, bool(_compacted(turn))))
    compactions = sum(_compacted(turn) for turn in turns)
    return ContextChart(len(bars) * STEP, bars, tuple(rows), human.tokens(most), human.tokens(now), compactions, scale)


def _compacted(turn: Turn) -> int:
    return sum(isinstance(block, Notice) and block.kind == "compaction" for block in turn.blocks)


def _bars(turns: Sequence[Turn], scale: PlotScale, addresses: Addresses) -> Iterator[ContextBar]:
    """A bar for each turn; where there are many, for the fullest of several neighbours."""
    together = -(-len(turns) // MOST)
    for at, start in enumerate(range(0, len(turns), together)):
        group = turns[start : start + together]
        turn = max(group, key=lambda one: one.context)
        height = max(2, round(HEIGHT * scale.part(turn.context)))
        says = f"Prompt {turn.number}: {human.tokens(turn.context)}"
        compacted = any(map(_compacted, group))
        yield ContextBar(at * STEP, HEIGHT - height, height, addresses.turn(turn.number), says, compacted)


_SCRIPTS = ("read.js", "read-windows.js", "read-find.js", "read-open.js")
CHAIN_RELATIONS = ("source", "follow-up")
"""How sessions of one story belong together."""
_PULLS = 3
LIVE_SECONDS = 30 * 60
"""Seconds after its last line in which a session may well go on."""
_OVER = 24 * 3600
"""Seconds after its last line from which on a session is over, whatever happens to its file."""


def log_position(session: Session, more: int = 0) -> str:
    """How far the logs of a session had come: what a page that shows it has, and what is new to it later.

    `more` are bytes of subagents' logs that were not read again.
    """
    agents = sum(member.log.size for member in family(session)) - session.log.size
    return f"{session.log.size}-{agents + more}"


def frame_session_page(context: AppContext, opened: OpenSession, path: str = "") -> Frame:
    session, live = opened.session, is_live(opened)
    last = opened.addresses(context.options).live.leaves[-1]
    head = render_template(
        "read_head.html",
        opened=opened,
        live=live and not opened.part and path == last.path,
        first=last.turns[0].number if last.turns else 0,
        since=log_position(session),
        hide=current_settings().hide,
        beside=ASSET_URLS["beside.js"] if path else "",
        fork=fork_command(opened),
    )
    base = page_frame((HOME,), ("read.css",), (*_SCRIPTS, "live.js") if live else _SCRIPTS)
    dress = base.dress._replace(scripts=head + base.dress.scripts) if base.dress else None
    keys = {link.session: context.session_key(opened.found.agent_id, link.session) for link in session.links}
    sessions = {name: session_href(key).removeprefix("/") for name, key in keys.items()}
    inset = _inset(context, opened) if path == INDEX else ""
    card = "card.png" if may_draw_png() else "card.svg"
    beside = render_template("read_beside.html") if path else base.beside
    return msgspec.structs.replace(
        base, dress=dress, sessions=sessions, inset=inset, prices=context.prices, card=card, beside=beside
    )


def is_live(opened: OpenSession) -> bool:
    """Whether its log was written to of late, and by its agent: a log that was only copied tells of older times."""
    ended = opened.session.ended
    if ended is not None and not opened.part and time.time() - ended.timestamp() > _OVER:
        return False
    try:
        modified = os.stat(opened.found.path).st_mtime  # noqa: PTH116
        return not opened.found.origin and time.time() - modified < LIVE_SECONDS
    except OSError:
        return False


def _inset(context: AppContext, opened: OpenSession) -> str:
    session = opened.session
    box = render_template(
        "read_inset.html",
        opened=opened,
        resume=resume_command(opened.found.agent_id, session.id, session.cwd),
        ways=ways_to_go_on(opened),
        fork=fork_command(opened),
        context=None if opened.part else context_chart(session, opened.addresses(context.options)),
        lively=is_live(opened),
        chain=any(link.relation in CHAIN_RELATIONS for link in session.links),
        changes=[] if opened.part else _changes(opened),
        under=sum(one.version is not None for one in ran_under(context, opened.key)),
        forks=[link for link in session.links if link.relation in ("copied-from", "copied-to")][:4],
    )
    return str(box)


def ran_under(context: AppContext, key: str) -> list[RanUnder]:
    """The context files that a session ran under; none where nothing is kept yet."""
    try:
        with context.index() as index, context.archive() as archive:
            return ContextFileIndex(index.db, archive.origins()).of_session(key)
    except UnspoolError:
        return []


def _changes(opened: OpenSession) -> list[Crumb]:
    """The pull requests and the branch that the session worked on."""
    pulls = [one for one in opened.counted.pushes if one.kind == "pull-request" and one.url]
    branch = opened.session.branch
    found = [Crumb(f"PR #{one.number}", one.url) for one in pulls[-_PULLS:]]
    return [*found, *([Crumb(shorten_line(branch, 40), branch)] if branch not in TRUNKS and not pulls else [])]


NO_CACHE = {"Cache-Control": "no-cache"}


def render_session_subpage(
    context: AppContext, opened: OpenSession, name: str, body: str, up: str = "", rail: str = ""
) -> HTMLResponse:
    """A page around a body that is markup already; `up` leads to the session's folder where it lies below it."""
    session_name = opened.view(context.options).name
    template = PageTemplate(context.options, frame_session_page(context, opened), opened.session.id)
    above = Crumb(session_name, f"{up}{INDEX}")
    html = template.page(f"{name} · {session_name}", body, rail=rail, up=above, here=name)
    return html_response(html)


def html_response(html: str) -> HTMLResponse:
    """A page that is asked for again each time; a log may hold halves of characters."""
    return HTMLResponse(html.encode("utf-8", "replace"), headers=NO_CACHE)


def add_slash(request: Request) -> RedirectResponse:
    """Links of a page are relative to its folder, so its address ends in a slash."""
    return RedirectResponse(f"{request.url.path}/", 308)
