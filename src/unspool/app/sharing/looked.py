"""A session as it would be shared: rehearsed, with what was found in it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from unspool.app.desk import Desk
from unspool.app.reading.told import Reading
from unspool.app.sharing.wish import Wish
from unspool.formats import Found
from unspool.redact.match import Finding
from unspool.redact.rules import RuleSet
from unspool.share.ask import Ask
from unspool.share.choices import Choices
from unspool.share.prepare import Share, prepared


class Told(NamedTuple):
    """A session of the share, read from redacted lines alone, and its folder below the first page."""

    place: str
    reading: Reading


class Looked(NamedTuple):
    """A session as it would be shared by some wish."""

    wish: Wish
    told: tuple[Told, ...]
    """The session that is meant, then those of its chain."""
    found: tuple[Found, ...]
    """The logs that they were read from."""
    findings: tuple[Finding, ...]
    share: Share
    """Its files are gone; the rest holds."""
    rules: RuleSet

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids of the sessions that were looked through."""
        return tuple(one.session_id for one in self.found)

    @property
    def main(self) -> Reading:
        """The session that is meant."""
        return self.told[0].reading


def look(desk: Desk, found: Sequence[Found], wish: Wish, rules: RuleSet, names: Mapping[str, str]) -> Looked:
    """Rehearse the share of the first of these sessions, and of the others with it."""
    seen: list[Finding] = []

    def review(findings: Sequence[Finding], chosen: Choices) -> Choices:
        seen.extend(findings)
        return chosen

    ask = Ask(lambda _: wish.choices, rules, wish.title, review, rehearsed=True, names=names)
    with prepared(desk.library(), found, ask) as share:
        return Looked(wish, tuple(_told(desk, found[0], share)), tuple(found), tuple(seen), share, rules)


def _told(desk: Desk, main: Found, share: Share) -> Iterator[Told]:
    """Each session where the folder of pages has it."""
    yield Told("", Reading(main, share.main.session, desk.prices))
    for word, others in (("before", share.before), ("after", share.after)):
        for number, one in enumerate(others, 1):
            yield Told(f"{word}-{number}/", Reading(main, one.session, desk.prices))
