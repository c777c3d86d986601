"""One session that people follow: looked at together, told to each from where they are."""

import sys
import threading
from collections import OrderedDict

import msgspec

from unspool.app.desk import Desk
from unspool.app.live.growth import Elsewhere, Growth
from unspool.app.live.look import Look, looked
from unspool.app.live.start import LONG, start
from unspool.app.live.telling import Told, tell
from unspool.app.reading.held import CALM, held_by
from unspool.app.reading.locate import locate
from unspool.app.reading.states import State, state
from unspool.app.reading.told import Reading
from unspool.formats import Found

_REMEMBERED = 64
Digests = dict[int, str]
"""What was told of each turn, by its number."""


class News(msgspec.Struct, frozen=True):
    """What a page is to change."""

    mark: str
    turns: tuple[Told, ...]
    last: int
    """The number of the last turn: a page that has later ones drops them."""


class Watched:
    """A session that is followed by one or more pages, from the first turn that any of them shows."""

    def __init__(self, desk: Desk, key: str) -> None:
        self._desk, self._key = desk, key
        self._first = sys.maxsize
        self._growth = Growth()
        self._found: Found | None = None
        self._state: State = ()
        self._last: Look | None = None
        self._options = desk.options
        self._known: OrderedDict[tuple[str, int], Digests] = OrderedDict()
        self._lock = threading.Lock()

    def changed(self) -> bool:
        """Whether the logs look otherwise than when they were last read; cheap."""
        return self._found is None or self._state != _looks(self._found)

    @property
    def mark(self) -> str:
        """How far it had come when it was last read."""
        return self._last.mark if self._last is not None else ""

    def look(self, first: int) -> Look:
        """The session as it is now, or its turns from the page of a turn on."""
        with self._lock:
            if self._last is not None and first >= self._first and not self.changed():
                return self._last
            self._found = locate(self._desk, self._key)
            self._state = _looks(self._found)
            if first < self._first:
                self._first = first
                if not self._begin(held_by(self._desk).last(self._key)):
                    self._anew()
            with CALM:
                self._last = self._look(self._found)
            return self._last

    def _begin(self, told: Reading | None) -> bool:
        """Read on from the page of the first turn; False where the session is short or was not read before."""
        begun = start(told, self._desk.options, self._first) if told is not None else None
        if begun is not None:
            self._growth = Growth(begun)
            self._options = msgspec.structs.replace(self._desk.options, repository=begun.repository)
        return begun is not None

    def _anew(self) -> None:
        self._growth, self._options = Growth(), self._desk.options

    def _look(self, found: Found) -> Look:
        try:
            session = self._growth.session(found)
        except Elsewhere:
            self._anew()
            session = self._growth.session(found)
        look = looked(session, self._desk.prices, self._options, self._growth.skipped)
        if self._growth.whole and session.log.size >= LONG:
            self._begin(Reading(found, session, self._desk.prices))  # the next look need not go through all of it
        return look

    def since(self, known: str, first: int) -> Digests:
        """What a page has that shows the session as of a mark; nothing where that is not known any more."""
        look = self.look(first)
        if look.mark == known:
            return {one.number: one.digest for one in tell(look.scene, first)}
        with self._lock:
            return dict(self._known.get((known, first), {}))

    def news(self, seen: Digests, first: int) -> tuple[News, Digests]:
        """What is new to somebody who has seen these, from a turn on; and what they have seen then."""
        look = self.look(first)
        told = tell(look.scene, first)
        digests = {one.number: one.digest for one in told}
        with self._lock:
            self._known[look.mark, first] = digests
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        new = tuple(one for one in told if seen.get(one.number) != one.digest)
        turns = look.scene.session.turns
        return News(look.mark, new, turns[-1].number if turns else 0), digests


def _looks(found: Found) -> State:
    """The logs, and the folder where those of new subagents appear."""
    folder = str(found.home / "subagents"), str(found.home)
    return (*state(found), *state(msgspec.structs.replace(found, path=folder[0], agents=())),
            *state(msgspec.structs.replace(found, path=folder[1], agents=())))  # fmt: skip
