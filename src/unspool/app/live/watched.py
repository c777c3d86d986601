"""One session that people follow: looked at together, told to each from where they are."""

import threading
from collections import OrderedDict
from hashlib import blake2b

import msgspec

from unspool.app.desk import Desk
from unspool.app.live.growth import Growth
from unspool.app.reading.extras import mark
from unspool.app.reading.held import CALM, State, state
from unspool.app.reading.locate import locate
from unspool.figures import figures
from unspool.formats import Found
from unspool.site import brief
from unspool.site.frame import Frame
from unspool.site.scene import Scene
from unspool.site.turns import Narrator

_REMEMBERED = 64
Digests = dict[int, str]
"""What was told of each turn, by its number."""


class Told(msgspec.Struct, frozen=True):
    """A turn as markup, and its line in the rail."""

    number: int
    html: str
    words: str


class News(msgspec.Struct, frozen=True):
    """What a page is to change."""

    mark: str
    turns: tuple[Told, ...]
    last: int
    """The number of the last turn: a page that has later ones drops them."""


class Watched:
    """A session that is followed by one or more pages."""

    def __init__(self, desk: Desk, key: str) -> None:
        self._desk, self._key = desk, key
        self._growth = Growth()
        self._found: Found | None = None
        self._state: State = ()
        self._scene: Scene | None = None
        self._known: OrderedDict[tuple[str, int], Digests] = OrderedDict()
        self._lock = threading.Lock()

    def changed(self) -> bool:
        """Whether the logs look otherwise than when they were last read; cheap."""
        return self._found is None or self._state != _looks(self._found)

    @property
    def mark(self) -> str:
        """How far it had come when it was last read."""
        return mark(self._scene.session) if self._scene is not None else ""

    def scene(self) -> Scene:
        """The session as it is now."""
        with self._lock:
            if self._scene is None or self.changed():
                self._found = locate(self._desk, self._key)
                self._state = _looks(self._found)
                with CALM:
                    session = self._growth.session(self._found)
                    counted = figures(session, self._desk.prices)
                    self._scene = Scene(session, counted, self._desk.options, Frame("/", prices=self._desk.prices))
            return self._scene

    def since(self, known: str, first: int) -> Digests:
        """What a page has that shows the session as of a mark; nothing where that is not known any more."""
        scene = self.scene()
        if mark(scene.session) == known:
            return self.news({}, first)[1]
        with self._lock:
            return dict(self._known.get((known, first), {}))

    def news(self, seen: Digests, first: int) -> tuple[News, Digests]:
        """What is new to somebody who has seen these, from a turn on; and what they have seen then."""
        scene = self.scene()
        turns = scene.session.turns
        told = dict(_told(scene, first))
        digests = {number: _digest(html) for number, html in told.items()}
        prompts = {turn.number: brief.line(turn.prompt) for turn in turns if turn.number >= first}
        changed = [number for number, digest in digests.items() if seen.get(number) != digest]
        now = mark(scene.session)
        with self._lock:
            self._known[now, first] = digests
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        new = tuple(Told(number, told[number], prompts[number]) for number in changed)
        return News(now, new, turns[-1].number if turns else 0), digests


def _digest(html: str) -> str:
    return blake2b(html.encode(errors="replace"), digest_size=12).hexdigest()


def _told(scene: Scene, first: int) -> list[tuple[int, str]]:
    """The turns from a number on, each as its own page tells it."""
    found = []
    for leaf in scene.addresses.live.leaves:
        if leaf.turns and leaf.turns[-1].number >= first:
            narrator = Narrator(scene)
            found += [(turn.number, narrator.turn(turn)) for turn in leaf.turns]
    return [(number, html) for number, html in found if number >= first]


def _looks(found: Found) -> State:
    """The logs, and the folder where those of new subagents appear."""
    folder = str(found.home / "subagents"), str(found.home)
    return (*state(found), *state(msgspec.structs.replace(found, path=folder[0], agents=())),
            *state(msgspec.structs.replace(found, path=folder[1], agents=())))  # fmt: skip
