"""Sessions that are being read: each with its figures and addresses, held as long as its logs do not change."""

import gc
import threading
from collections import OrderedDict
from weakref import WeakKeyDictionary

from unspool.agents import FoundLog
from unspool.app.context import AppContext
from unspool.app.open_session import LogState, OpenSession, locate_log, log_state, read_linked_session, save_outline
from unspool.errors import UnspoolError

MAX_SESSIONS = 4
"""Sessions held at once, the last read."""
_LATER = 0.4
"""Seconds in which the page that was asked for, with its styles and scripts, has the processor for itself."""
BYTES = 16 * 1024 * 1024
"""Of their logs together, unless one alone is longer; in memory they take some three times as much."""


class GarbageCollectionPause:
    """No search for cycles while much is read at once: there are none to find, and it takes as long as the reading."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0

    def __enter__(self) -> None:
        with self._lock:
            self._readers += 1
            gc.disable()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers:
                gc.enable()


GC_PAUSE = GarbageCollectionPause()


class SessionCache:
    """The sessions of one desk that are being read. Each is read once, however many ask for it at the same time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, LogState], OpenSession] = OrderedDict()
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._begun: set[str] = set()

    def ready(self, found: FoundLog) -> OpenSession | None:
        """The session, where it is held and still the same."""
        name = found.session_id, log_state(found)
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def last(self, key: str) -> OpenSession | None:
        """The session as it was when it was last read, where that is still held."""
        with self._lock:
            return next((held for name, held in self._kept.items() if name[0] == key), None)

    def whole(self, desk: AppContext, found: FoundLog) -> OpenSession:
        """The session; read now where it is not held."""
        with self._turn(found.session_id):
            held = self.ready(found)
            if held is None:
                name = found.session_id, log_state(found)
                with GC_PAUSE:
                    held = OpenSession(found, read_linked_session(desk, found), desk.prices)
                self._keep(name, held)
                if not found.origin and not desk.key:  # of what is kept under a key, nothing lies elsewhere
                    save_outline(held.session, name[1])
            return held

    def begin(self, desk: AppContext, found: FoundLog) -> None:
        """Read the session soon, while others go on; the one who asks next finds it held, or waits for the rest."""
        with self._lock:
            if found.session_id in self._begun:
                return
            self._begun.add(found.session_id)
        later = threading.Timer(_LATER, self._read, (desk, found))
        later.daemon = True
        later.start()

    def _read(self, desk: AppContext, found: FoundLog) -> None:
        try:
            self.whole(desk, found)
        except (UnspoolError, OSError):
            pass  # whoever asks for the whole is told
        finally:
            with self._lock:
                self._begun.discard(found.session_id)

    def _turn(self, key: str) -> threading.Lock:
        with self._lock:
            return self._turns.setdefault(key, threading.Lock())

    def _keep(self, name: tuple[str, LogState], held: OpenSession) -> None:
        with self._lock:
            for older in [one for one in self._kept if one[0] == name[0]]:
                del self._kept[older]
            self._kept[name] = held
            while len(self._kept) > 1 and (len(self._kept) > MAX_SESSIONS or self._size() > BYTES):
                self._kept.popitem(last=False)

    def _size(self) -> int:
        return sum(held.size for held in self._kept.values())


_DESKS: "WeakKeyDictionary[AppContext, SessionCache]" = WeakKeyDictionary()
_ONE = threading.Lock()


def get_session_cache(desk: AppContext) -> SessionCache:
    """The sessions that are held for a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, SessionCache())


def get_session(desk: AppContext, key: str) -> OpenSession:
    """A session to be read, whole, by its id."""
    return get_session_cache(desk).whole(desk, locate_log(desk, key))
