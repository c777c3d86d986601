"""Sessions that are active now: written to of late, or open in a process that says so."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from unspool import human
from unspool.app.browse.moments import Moment, moment
from unspool.app.config.store import current
from unspool.app.desk import Desk
from unspool.app.live.doing import doing
from unspool.app.live.seen import seen
from unspool.app.reading.locate import overview
from unspool.formats import FORMATS, Found
from unspool.formats.traces import Running
from unspool.library.heads import head
from unspool.site import brief

RECENT = 10 * 60
"""Seconds after its last line in which a session counts as active."""
_BUSY = 30


class Active(NamedTuple):
    """A session on the board."""

    key: str
    title: str
    project: str
    state: str
    """`busy`, `waiting` or `open`."""
    last: Moment | None
    doing: str
    """What it said or did last, in short."""
    size: str


def board(desk: Desk) -> tuple[Active, ...]:
    """Every active session, the last written first."""
    logs = seen(desk)
    processes = {one.session_id: one for one in _running(logs) if one.alive}
    now = time.time()
    active = [log for log in logs if now - log.modified < RECENT or log.session_id in processes]
    active.sort(key=lambda log: (-log.modified, log.path))
    return tuple(_row(desk, log, processes.get(log.session_id), now) for log in active)


def _running(logs: list[Found]) -> Iterator[Running]:
    for root in {log.root for log in logs if log.root}:
        for format_ in FORMATS:
            home = format_.home(Path(root))
            yield from format_.running(home) if home is not None else ()


def _row(desk: Desk, log: Found, process: Running | None, now: float) -> Active:
    known = overview(desk, log.session_id)
    begun = None if known is not None and known.titles.best else head(log)
    title = known.title if known is not None and known.titles.best else begun.prompt if begun is not None else ""
    state = "busy" if now - log.modified < _BUSY or (process and process.status == "busy") else "waiting"
    return Active(
        log.session_id,
        brief.flat(title, 140) or log.session_id,
        (known.project if known is not None else "") or log.folder,
        state,
        moment(log.modified, current().zone),
        doing(log),
        human.size(log.size),
    )
