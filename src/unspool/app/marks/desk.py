"""The marks of a desk: one store for all its threads."""

import threading
from weakref import WeakKeyDictionary

from unspool.app.desk import Desk
from unspool.app.marks.store import Marks
from unspool.errors import UnspoolError

_HELD: WeakKeyDictionary[Desk, Marks] = WeakKeyDictionary()
_LOCK = threading.Lock()


def marks_of(desk: Desk) -> Marks:
    """What was said about the sessions of a desk's archive."""
    with _LOCK:
        if desk not in _HELD:
            _HELD[desk] = Marks(desk.folder, desk.key)
        return _HELD[desk]


def own_titles(desk: Desk) -> dict[str, str]:
    """The names that a person gave to sessions, by id; none where they cannot be read."""
    try:
        marks = marks_of(desk).said().marks
    except UnspoolError:
        return {}
    return {key: mark.title for key, mark in marks.items() if mark.title}
