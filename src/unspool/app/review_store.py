"""The reviews that go on at a desk: what is wished for each session, and the last looked at, held."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from unspool.agents import FoundLog
from unspool.app import share_selection
from unspool.app.context import AppContext
from unspool.app.open_session import LogState, locate_log, log_state
from unspool.app.share_findings import ShareRehearsal, rehearse_share
from unspool.app.share_selection import ShareSelection
from unspool.config import config_folder
from unspool.errors import UsageProblem
from unspool.redact.rules import OWN, RuleSet, own_rules
from unspool.share.choices import load_choices, save_choices
from unspool.share.prepare import sessions_of_chain

MAX_REHEARSALS = 2
"""Sessions held at once, the last looked at."""


class ReviewStore:
    """The reviews of a desk. Choices and habits are the project's; turns and title are one session's, while it runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._own: dict[str, ShareSelection] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._held: OrderedDict[str, tuple[tuple[LogState, ...], ShareRehearsal]] = OrderedDict()

    def wish(self, key: str, project: str) -> ShareSelection:
        """What is wished for a session now."""
        own = self._own.get(key, ShareSelection())
        choices = replace(load_choices(project), without=own.choices.without)
        return ShareSelection(choices, own.title, share_selection.load_habit(project).chain)

    def choose(self, key: str, project: str, wish: ShareSelection) -> None:
        """Wish it so, and remember it for the project."""
        with self._lock:
            self._own[key] = wish
            save_choices(project, wish.choices)
            share_selection.save_habit(project, replace(share_selection.load_habit(project), chain=wish.chain))

    def names(self, key: str) -> Mapping[str, str]:
        """What things in a session have been called so far, while the app runs."""
        return self._names.get(key, {})

    def found(self, desk: AppContext, key: str, wish: ShareSelection) -> ShareRehearsal:
        """What is found in a session; whatever of it stays, the same is found."""
        return self._looked(desk, key, wish, exact=False)

    def exact(self, desk: AppContext, key: str, wish: ShareSelection) -> ShareRehearsal:
        """The very session that would be shared."""
        return self._looked(desk, key, wish, exact=True)

    def meant(self, desk: AppContext, key: str, wish: ShareSelection) -> list[FoundLog]:
        """The sessions to share; UsageProblem where their chain has others than were looked at."""
        now = sessions_to_share(desk, key, wish)
        with self._lock:
            held = self._held.get(key)
            if held is not None and held[1].wish.chain == wish.chain and held[1].sessions != _ids(now):
                del self._held[key]
                raise UsageProblem("The chain has grown since it was looked through; look at the review again.")
        return now

    def _looked(self, desk: AppContext, key: str, wish: ShareSelection, *, exact: bool) -> ShareRehearsal:
        with self._lock:
            rules, held = current_rules(), self._held.get(key)
            if (
                held is not None
                and (held[0], held[1].rules) == (_states(desk, held[1].sessions), rules)
                and _serves(held[1].wish, wish, exact)
            ):
                self._held.move_to_end(key)
                return held[1]
            found = sessions_to_share(desk, key, wish)
            now = tuple(map(log_state, found))
            made = rehearse_share(desk, found, wish, rules, self.names(key))
            self._held[key], self._names[key] = (now, made), made.share.names
            self._held.move_to_end(key)
            while len(self._held) > MAX_REHEARSALS:
                self._held.popitem(last=False)
            return made


def sessions_to_share(desk: AppContext, key: str, wish: ShareSelection) -> list[FoundLog]:
    """The session that is meant, and those of its chain where they are wished for."""
    first = locate_log(desk, key)
    chain = sessions_of_chain(desk.library(), first) if wish.chain else [first]
    return [one for one in chain if isinstance(one, FoundLog)]


def _states(desk: AppContext, keys: tuple[str, ...]) -> tuple[LogState, ...]:
    return tuple(log_state(locate_log(desk, key)) for key in keys)


def _ids(found: list[FoundLog]) -> tuple[str, ...]:
    return tuple(one.session_id for one in found)


def _serves(had: ShareSelection, wanted: ShareSelection, exact: bool) -> bool:
    return had == wanted if exact else _found_in(had) == _found_in(wanted)


def _found_in(wish: ShareSelection) -> ShareSelection:
    """The wish as far as it says what is looked through."""
    return replace(wish, choices=replace(wish.choices, keep=frozenset()))


def current_rules() -> RuleSet:
    """The rules as they are now, a person's own among them."""
    return own_rules(config_folder() / OWN)


_DESKS: "WeakKeyDictionary[AppContext, ReviewStore]" = WeakKeyDictionary()
_ONE = threading.Lock()


def get_review_store(desk: AppContext) -> ReviewStore:
    """The reviews that go on at a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, ReviewStore())
