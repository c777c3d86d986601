"""The reviews that go on at a desk: what is wished for each session, and the last looked at, held."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from unspool.app.config.place import folder
from unspool.app.desk import Desk
from unspool.app.reading.locate import locate
from unspool.app.reading.states import State, state
from unspool.app.sharing import habits
from unspool.app.sharing.looked import Looked, look
from unspool.app.sharing.wish import Wish
from unspool.errors import UsageProblem
from unspool.formats import Found
from unspool.redact.rules import OWN, RuleSet, own
from unspool.share.chain import chained
from unspool.share.choices import remember, remembered

HELD = 2
"""Sessions held at once, the last looked at."""


class Table:
    """The reviews of a desk. Choices and habits are the project's; turns and title are one session's, while it runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._own: dict[str, Wish] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._held: OrderedDict[str, tuple[tuple[State, ...], Looked]] = OrderedDict()

    def wish(self, key: str, project: str) -> Wish:
        """What is wished for a session now."""
        own = self._own.get(key, Wish())
        choices = replace(remembered(project), without=own.choices.without)
        return Wish(choices, own.title, habits.habit(project).chain)

    def choose(self, key: str, project: str, wish: Wish) -> None:
        """Wish it so, and remember it for the project."""
        with self._lock:
            self._own[key] = wish
            remember(project, wish.choices)
            habits.keep(project, replace(habits.habit(project), chain=wish.chain))

    def names(self, key: str) -> Mapping[str, str]:
        """What things in a session have been called so far, while the app runs."""
        return self._names.get(key, {})

    def found(self, desk: Desk, key: str, wish: Wish) -> Looked:
        """What is found in a session; whatever of it stays, the same is found."""
        return self._looked(desk, key, wish, exact=False)

    def exact(self, desk: Desk, key: str, wish: Wish) -> Looked:
        """The very session that would be shared."""
        return self._looked(desk, key, wish, exact=True)

    def meant(self, desk: Desk, key: str, wish: Wish) -> list[Found]:
        """The sessions to share; UsageProblem where their chain has others than were looked at."""
        now = sessions(desk, key, wish)
        with self._lock:
            held = self._held.get(key)
            if held is not None and held[1].wish.chain == wish.chain and held[1].sessions != _ids(now):
                del self._held[key]
                raise UsageProblem("The chain has grown since it was looked through; look at the review again.")
        return now

    def _looked(self, desk: Desk, key: str, wish: Wish, *, exact: bool) -> Looked:
        with self._lock:
            rules, held = rule_set(), self._held.get(key)
            if (
                held is not None
                and (held[0], held[1].rules) == (_states(desk, held[1].sessions), rules)
                and _serves(held[1].wish, wish, exact)
            ):
                self._held.move_to_end(key)
                return held[1]
            found = sessions(desk, key, wish)
            now = tuple(map(state, found))
            made = look(desk, found, wish, rules, self.names(key))
            self._held[key], self._names[key] = (now, made), made.share.names
            self._held.move_to_end(key)
            while len(self._held) > HELD:
                self._held.popitem(last=False)
            return made


def sessions(desk: Desk, key: str, wish: Wish) -> list[Found]:
    """The session that is meant, and those of its chain where they are wished for."""
    first = locate(desk, key)
    chain = chained(desk.library(), first) if wish.chain else [first]
    return [one for one in chain if isinstance(one, Found)]


def _states(desk: Desk, keys: tuple[str, ...]) -> tuple[State, ...]:
    return tuple(state(locate(desk, key)) for key in keys)


def _ids(found: list[Found]) -> tuple[str, ...]:
    return tuple(one.session_id for one in found)


def _serves(had: Wish, wanted: Wish, exact: bool) -> bool:
    return had == wanted if exact else _found_in(had) == _found_in(wanted)


def _found_in(wish: Wish) -> Wish:
    """The wish as far as it says what is looked through."""
    return replace(wish, choices=replace(wish.choices, keep=frozenset()))


def rule_set() -> RuleSet:
    """The rules as they are now, a person's own among them."""
    return own(folder() / OWN)


_DESKS: "WeakKeyDictionary[Desk, Table]" = WeakKeyDictionary()
_ONE = threading.Lock()


def table_of(desk: Desk) -> Table:
    """The reviews that go on at a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, Table())
