"""Sessions under review: what was found in them, and what they would be if they were shared now."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from unspool.app.config.place import folder
from unspool.app.desk import Desk
from unspool.app.reading.locate import locate
from unspool.app.reading.states import State, state
from unspool.app.reading.told import Reading
from unspool.redact.match import Finding
from unspool.redact.rules import OWN, RuleSet, own
from unspool.share.ask import Ask
from unspool.share.choices import Choices, remember, remembered
from unspool.share.prepare import prepared
from unspool.share.report import Report

HELD = 2
"""Sessions held at once, the last looked at."""


class Looked(NamedTuple):
    """A session as it would be shared by some choices."""

    choices: Choices
    told: Reading
    """Read from redacted lines alone."""
    findings: tuple[Finding, ...]
    report: Report
    rules: RuleSet
    names: Mapping[str, str]
    """What everything found is called instead."""


class Table:
    """The reviews of a desk. Choices are the project's; turns are left out of one session, as long as the app runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._without: dict[str, tuple[tuple[int, int], ...]] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._held: OrderedDict[str, tuple[State, Looked]] = OrderedDict()

    def choices(self, key: str, project: str) -> Choices:
        """What is chosen for a session now."""
        return replace(remembered(project), without=self._without.get(key, ()))

    def choose(self, key: str, project: str, choices: Choices) -> None:
        """Choose, and remember it for the project."""
        with self._lock:
            self._without[key] = choices.without
            remember(project, choices)

    def names(self, key: str) -> Mapping[str, str]:
        """What things in a session have been called so far, while the app runs."""
        return self._names.get(key, {})

    def found(self, desk: Desk, key: str, choices: Choices) -> Looked:
        """What is found in a session; whatever of it stays, the same is found."""
        return self._looked(desk, key, choices, exact=False)

    def exact(self, desk: Desk, key: str, choices: Choices) -> Looked:
        """The very session that would be shared."""
        return self._looked(desk, key, choices, exact=True)

    def _looked(self, desk: Desk, key: str, choices: Choices, *, exact: bool) -> Looked:
        with self._lock:
            now, rules = state(locate(desk, key)), rule_set()
            held = self._held.get(key)
            if (
                held is not None
                and (held[0], held[1].rules) == (now, rules)
                and _serves(held[1].choices, choices, exact)
            ):
                self._held.move_to_end(key)
                return held[1]
            made = _look(desk, key, choices, rules, self.names(key))
            self._held[key], self._names[key] = (now, made), made.names
            self._held.move_to_end(key)
            while len(self._held) > HELD:
                self._held.popitem(last=False)
            return made


def _serves(had: Choices, wanted: Choices, exact: bool) -> bool:
    return had == wanted if exact else replace(had, keep=frozenset()) == replace(wanted, keep=frozenset())


def _look(desk: Desk, key: str, choices: Choices, rules: RuleSet, names: Mapping[str, str]) -> Looked:
    seen: list[Finding] = []

    def review(findings: Sequence[Finding], chosen: Choices) -> Choices:
        seen.extend(findings)
        return chosen

    found = locate(desk, key)
    ask = Ask(lambda _: choices, rules, review=review, rehearsed=True, names=names)
    with prepared(desk.library(), [found], ask) as share:
        return Looked(
            choices, Reading(found, share.main.session, desk.prices), tuple(seen), share.report, rules, share.names
        )


def rule_set() -> RuleSet:
    """The rules as they are now, a person's own among them."""
    return own(folder() / OWN)


_DESKS: "WeakKeyDictionary[Desk, Table]" = WeakKeyDictionary()
_ONE = threading.Lock()


def table_of(desk: Desk) -> Table:
    """The reviews that go on at a desk."""
    with _ONE:
        return _DESKS.setdefault(desk, Table())
