"""As much of a session as a page needs, so that nobody waits for all of a long log."""

from unspool.app.desk import Desk
from unspool.app.reading import early
from unspool.app.reading.held import held_by
from unspool.app.reading.locate import locate
from unspool.app.reading.outline import kept
from unspool.app.reading.portion import portion
from unspool.app.reading.states import state
from unspool.app.reading.told import Reading
from unspool.formats import Found


def enough(desk: Desk, key: str, path: str) -> Reading:
    """A session, whole where it is short or held; of a long one, what the page needs, while the rest is read."""
    found, held = locate(desk, key), held_by(desk)
    if held.ready(found) is None and early.is_long(found):
        part = _part(desk, found, path)
        held.begin(desk, found)
        if part is not None:
            return part
    return held.whole(desk, found)


def _part(desk: Desk, found: Found, path: str) -> Reading | None:
    """What a page needs of a session that was read before, or the beginning of one that never was."""
    drawn = kept(state(found))
    told = portion(desk, found, drawn, path) if drawn is not None else None
    return told or early.beginning(found, desk.prices, path, desk.options)
