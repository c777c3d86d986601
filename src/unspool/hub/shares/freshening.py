"""Pages that an older hub made, made anew: after somebody asked for them, once, and in no hurry."""

import threading
import time
from contextlib import suppress

from unspool.errors import UnspoolError
from unspool.hub.hub import Hub
from unspool.hub.shares.keeping import remake, url
from unspool.hub.shares.making import made_by
from unspool.hub.shares.share import Share
from unspool.hub.work import aside

_AGAIN = 600.0
"""Seconds before it is tried once more: it may have failed, and while hubs of two versions run they would not end."""
_MOST = 10_000
_guard = threading.Lock()
_tried: dict[str, float] = {}


def stale(hub: Hub, share: Share) -> bool:
    """Whether its pages are to be made anew, by this process and now."""
    if share.told.made == made_by(url(hub, share.address)):
        return False
    with _guard:
        last = _tried.get(share.address)
        if last is not None and time.monotonic() - last < _AGAIN:
            return False
        if len(_tried) > _MOST:
            _tried.clear()
        _tried[share.address] = time.monotonic()
    return True


async def freshen(hub: Hub, share: Share) -> None:
    """Make them anew, where nobody waits for it; where that fails, the older ones still show all of it."""
    with suppress(UnspoolError):
        await aside(remake, hub, share)
