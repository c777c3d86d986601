"""What the app adds to a page of a session: words for its scripts in the head, and a box below the index's head."""

import os
import time
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from unspool.app.config.store import current
from unspool.app.reading.context import context
from unspool.app.reading.told import Reading
from unspool.app.render import HOME, frame, render
from unspool.figures import family
from unspool.formats import by_id
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.address import INDEX
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions

_SCRIPTS = ("read.js", "read-windows.js", "read-find.js")
CHAIN = ("source", "follow-up")
"""How sessions of one story belong together."""
LIVELY = 30 * 60
"""Seconds after its last line in which a session may well go on."""


def mark(session: Session, more: int = 0) -> str:
    """How far the logs of a session had come: what a page that shows it has, and what is new to it later.

    `more` are bytes of subagents' logs that were not read again.
    """
    agents = sum(member.log.size for member in family(session)) - session.log.size
    return f"{session.log.size}-{agents + more}"


def framed(told: Reading, options: SiteOptions, prices: PriceTable, path: str) -> Frame:
    """The frame of a page of a session."""
    live = _goes_on(told, options, path)
    base = frame((HOME,), ("read.css",), (*_SCRIPTS, "live.js") if lively(told) else _SCRIPTS)
    dress = base.dress._replace(scripts=_head(told, options, live=live) + base.dress.scripts) if base.dress else None
    sessions = {link.session: f"s/{quote(link.session, safe='')}/" for link in told.session.links}
    inset = _inset(told, options) if path == INDEX else ""
    return msgspec.structs.replace(base, dress=dress, sessions=sessions, inset=inset, prices=prices)


def resume(told: Reading) -> str:
    """The command that goes on with the session."""
    return by_id(told.found.format).resume(told.session.id, told.session.cwd)


def lively(told: Reading) -> bool:
    """Whether its log was written to of late."""
    try:
        return not told.found.origin and time.time() - os.stat(told.found.path).st_mtime < LIVELY  # noqa: PTH116
    except OSError:
        return False


def _goes_on(told: Reading, options: SiteOptions, path: str) -> bool:
    """Whether a page is the last of a conversation that may go on."""
    return path == told.addresses(options).live.leaves[-1].path and lively(told) and not told.part


def _head(told: Reading, options: SiteOptions, *, live: bool) -> Markup:
    last = told.addresses(options).live.leaves[-1]
    first = last.turns[0].number if last.turns else 0
    hide = current().hide
    return render("read_head.html", told=told, live=live, first=first, since=mark(told.session), hide=hide)


def _inset(told: Reading, options: SiteOptions) -> str:
    shown = None if told.part else context(told.session, told.addresses(options))
    chain = any(link.relation in CHAIN for link in told.session.links)
    box = render("read_inset.html", told=told, resume=resume(told), context=shown, lively=lively(told), chain=chain)
    return str(box)
