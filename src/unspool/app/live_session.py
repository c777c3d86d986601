"""A session that pages follow: what is new to each of them."""

import sys
import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from unspool.agents import FoundLog
from unspool.app import session_frame
from unspool.app.context import AppContext
from unspool.app.incremental_reader import LONG, IncrementalReader, MustReadAll, start_at_turn
from unspool.app.open_session import LogState, OpenSession, locate_log, log_state
from unspool.app.session_cache import GC_PAUSE, get_session_cache
from unspool.figures import figures
from unspool.model import Session, Turn
from unspool.prices import PriceTable
from unspool.site import summaries
from unspool.site.options import SiteOptions
from unspool.site.page_template import Frame
from unspool.site.session_view import SessionView
from unspool.site.turn_pages import TurnRenderer


class SessionLook(NamedTuple):
    """A session, and how far it had come."""

    scene: SessionView
    mark: str


def look_at_session(session: Session, prices: PriceTable, options: SiteOptions, skipped: int) -> SessionLook:
    """A look at a session; `skipped` are bytes of its logs that were not read again."""
    scene = SessionView(session, figures(session, prices), options, Frame("/", prices=prices))
    return SessionLook(scene, session_frame.log_position(session, skipped))


class TurnHtml(msgspec.Struct, frozen=True):
    """A turn as markup, and its line in the rail."""

    number: int
    html: str
    words: str

    @property
    def digest(self) -> str:
        """Another one whenever the turn is told otherwise."""
        return blake2b(self.html.encode(errors="replace"), digest_size=12).hexdigest()


def render_turns_from(scene: SessionView, first: int) -> list[TurnHtml]:
    """The turns from a number on, each as its own page tells it."""
    found = []
    for leaf in scene.addresses.live.leaves:
        if leaf.turns and leaf.turns[-1].number >= first:
            found += _leaf(leaf.turns, TurnRenderer(scene))
    return [one for one in found if one.number >= first]


def _leaf(turns: tuple[Turn, ...], narrator: TurnRenderer) -> list[TurnHtml]:
    return [TurnHtml(turn.number, narrator.turn(turn), summaries.prompt_line(turn.prompt)) for turn in turns]


_REMEMBERED = 64
Digests = dict[int, str]
"""What was told of each turn, by its number."""


class TurnNews(msgspec.Struct, frozen=True):
    """What a page is to change."""

    mark: str
    turns: tuple[TurnHtml, ...]
    last: int
    """The number of the last turn: a page that has later ones drops them."""


class FollowedSession:
    """A session that is followed by one or more pages, from the first turn that any of them shows."""

    def __init__(self, desk: AppContext, key: str) -> None:
        self._desk, self._key = desk, key
        self._first = sys.maxsize
        self._growth = IncrementalReader()
        self._found: FoundLog | None = None
        self._state: LogState = ()
        self._last: SessionLook | None = None
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

    def look(self, first: int) -> SessionLook:
        """The session as it is now, or its turns from the page of a turn on."""
        with self._lock:
            if self._last is not None and first >= self._first and not self.changed():
                return self._last
            self._found = locate_log(self._desk, self._key)
            self._state = _looks(self._found)
            if first < self._first:
                self._first = first
                if not self._begin(get_session_cache(self._desk).last(self._key)):
                    self._anew()
            with GC_PAUSE:
                self._last = self._look(self._found)
            return self._last

    def _begin(self, told: OpenSession | None) -> bool:
        """Read on from the page of the first turn; False where the session is short or was not read before."""
        begun = start_at_turn(told, self._desk.options, self._first) if told is not None else None
        if begun is not None:
            self._growth = IncrementalReader(begun)
            self._options = msgspec.structs.replace(self._desk.options, repository=begun.repository)
        return begun is not None

    def _anew(self) -> None:
        self._growth, self._options = IncrementalReader(), self._desk.options

    def _look(self, found: FoundLog) -> SessionLook:
        try:
            session = self._growth.session(found)
        except MustReadAll:
            self._anew()
            session = self._growth.session(found)
        look = look_at_session(session, self._desk.prices, self._options, self._growth.skipped)
        if self._growth.whole and session.log.size >= LONG:
            self._begin(OpenSession(found, session, self._desk.prices))  # the next look need not go through all of it
        return look

    def since(self, known: str, first: int) -> Digests:
        """What a page has that shows the session as of a mark; nothing where that is not known any more."""
        look = self.look(first)
        if look.mark == known:
            return {one.number: one.digest for one in render_turns_from(look.scene, first)}
        with self._lock:
            return dict(self._known.get((known, first), {}))

    def news(self, seen: Digests, first: int) -> tuple[TurnNews, Digests]:
        """What is new to somebody who has seen these, from a turn on; and what they have seen then."""
        look = self.look(first)
        told = render_turns_from(look.scene, first)
        digests = {one.number: one.digest for one in told}
        with self._lock:
            self._known[look.mark, first] = digests
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        new = tuple(one for one in told if seen.get(one.number) != one.digest)
        turns = look.scene.session.turns
        return TurnNews(look.mark, new, turns[-1].number if turns else 0), digests


def _looks(found: FoundLog) -> LogState:
    """The logs, and the folder where those of new subagents appear."""
    folder = str(found.home / "subagents"), str(found.home)
    return (*log_state(found), *log_state(msgspec.structs.replace(found, path=folder[0], agents=())),
            *log_state(msgspec.structs.replace(found, path=folder[1], agents=())))  # fmt: skip
