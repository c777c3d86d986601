"""Sessions that are being read: each with its figures and addresses, held as long as its logs do not change."""

import copy
import gc
import os
import threading
from collections import OrderedDict
from weakref import WeakKeyDictionary

from unspool.app.desk import Desk
from unspool.app.reading.locate import locate, opened
from unspool.errors import UnspoolError
from unspool.figures import Figures, family, figures
from unspool.formats import Found
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.address import Addresses
from unspool.site.frame import Frame
from unspool.site.options import SiteOptions
from unspool.site.scene import Scene

HELD = 4
"""Sessions held at once, the last read."""
BYTES = 48 * 1024 * 1024
"""Of their logs together, unless one alone is longer; in memory they take some three times as much."""
State = tuple[tuple[str, int, int], ...]
"""Path, size and time of each log: another one, and the session is read again."""


class Reading:
    """A session with what all its pages need; `part` is said of one whose log was read only at its beginning."""

    def __init__(self, found: Found, session: Session, prices: PriceTable, *, part: bool = False) -> None:
        self.found, self.session, self.part = found, session, part
        self.counted: Figures = figures(session, prices)
        self.size = sum(member.log.size for member in family(session))
        self._prices = prices
        self._scenes: dict[SiteOptions, Scene] = {}

    def scene(self, options: SiteOptions, frame: Frame) -> Scene:
        """The session ready to be told in a frame; all that no frame changes is made once."""
        scene = copy.copy(self._scene(options))
        scene.frame = frame
        return scene

    def addresses(self, options: SiteOptions) -> Addresses:
        """Where everything in the session is told."""
        return self._scene(options).addresses

    def _scene(self, options: SiteOptions) -> Scene:
        if options not in self._scenes:
            made = Scene(self.session, self.counted, options, Frame("/", prices=self._prices))
            self._scenes = {options: made}
            return made
        return self._scenes[options]


def state(found: Found) -> State:
    """What the logs of a session look like from outside."""
    if found.origin:  # only the archive has it
        return ((found.path, found.size, int(found.modified * 1e9)),)
    return tuple(_looks(path) for path in (found.path, *(agent.path for agent in found.agents)))


def _looks(path: str) -> tuple[str, int, int]:
    try:
        told = os.stat(path)  # noqa: PTH116  hot
    except OSError:
        return path, -1, 0
    return path, told.st_size, told.st_mtime_ns


class Calm:
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


CALM = Calm()


class Held:
    """The sessions of one desk that are being read. Each is read once, however many ask for it at the same time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, State], Reading] = OrderedDict()
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._begun: set[str] = set()

    def ready(self, found: Found) -> Reading | None:
        """The session, where it is held and still the same."""
        name = found.session_id, state(found)
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def whole(self, desk: Desk, found: Found) -> Reading:
        """The session; read now where it is not held."""
        with self._turn(found.session_id):
            held = self.ready(found)
            if held is None:
                name = found.session_id, state(found)
                with CALM:
                    held = Reading(found, opened(desk, found), desk.prices)
                self._keep(name, held)
            return held

    def begin(self, desk: Desk, found: Found) -> None:
        """Read the session while others go on; the one who asks next finds it held, or waits for the rest."""
        with self._lock:
            if found.session_id in self._begun:
                return
            self._begun.add(found.session_id)
        threading.Thread(target=self._read, args=(desk, found), daemon=True).start()

    def _read(self, desk: Desk, found: Found) -> None:
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

    def _keep(self, name: tuple[str, State], held: Reading) -> None:
        with self._lock:
            for older in [one for one in self._kept if one[0] == name[0]]:
                del self._kept[older]
            self._kept[name] = held
            while len(self._kept) > 1 and (len(self._kept) > HELD or self._size() > BYTES):
                self._kept.popitem(last=False)

    def _size(self) -> int:
        return sum(held.size for held in self._kept.values())


_DESKS: "WeakKeyDictionary[Desk, Held]" = WeakKeyDictionary()
_ONE = threading.Lock()


def held_by(desk: Desk) -> Held:
    """The sessions that are held for a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, Held())


def reading(desk: Desk, key: str) -> Reading:
    """A session to be read, whole, by its id."""
    return held_by(desk).whole(desk, locate(desk, key))
