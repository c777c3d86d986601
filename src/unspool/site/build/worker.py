"""One session of an archive, made into its folder: the part of a build that runs in many processes."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unspool.figures import figures
from unspool.formats import Found
from unspool.prices import PriceTable
from unspool.site.build.disk import swapped
from unspool.site.build.neighbourhood import Told
from unspool.site.build.one import session_folder
from unspool.site.build.reading import read, says_nothing
from unspool.site.card import Card, card
from unspool.site.frame import Crumb, Frame
from unspool.site.options import SiteOptions
from unspool.site.search.archive import FOLDER

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions


class Context(msgspec.Struct, frozen=True):
    """What all sessions of a run have in common."""

    site: str
    options: SiteOptions
    sessions: dict[str, str]
    """Where each session of the site lies, relative to its root, by id."""
    prices: str = ""
    """The user's own price table, if there is one."""
    strays: bool = False
    """Whether a subagent's log whose session is gone is a session."""
    kept: "KeptSessions | None" = None
    """Where sessions are read whose logs are gone from their sources."""


class Task(msgspec.Struct, frozen=True):
    """A session to make."""

    found: Found
    near: tuple[Found, ...]
    """Logs of the same chain."""
    names: tuple[Found, ...]
    """Logs that may hold a name for it."""
    folder: str
    """Its place below the site's root."""
    crumbs: tuple[Crumb, ...]


class Made(msgspec.Struct, frozen=True):
    """What came of it."""

    told: Told
    card: Card | None
    """None where the log holds no conversation, and no pages were made."""
    files: int = 0
    size: int = 0


def make(context: Context, task: Task) -> Made:
    """Read a session and put its pages in place; what was there before stays until they are complete."""
    session, told = read(task.found, task.near, task.names, context.kept)
    if says_nothing(session, strays=context.strays):
        return Made(told, None)
    prices = _prices(context.prices)
    counted = figures(session, prices)
    frame = Frame("../../", task.crumbs, context.sessions, FOLDER, prices)
    files = size = 0
    with swapped(Path(context.site, task.folder)) as folder:
        for name, data in session_folder(session, counted, context.options, frame):
            (folder / name).write_bytes(data)
            files, size = files + 1, size + len(data)
    shown = msgspec.structs.replace(card(session, counted), kept=bool(task.found.origin))
    return Made(told, shown, files, size)


@cache
def _prices(own: str) -> PriceTable:
    return PriceTable.load(Path(own) if own else None)
