"""A session read for its pages: joined with the logs near it, and what it leaves for them to tell."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from unspool.formats import Found
from unspool.library import read_session
from unspool.library.heads import Head, head
from unspool.library.neighbours import Neighbours
from unspool.model import Session
from unspool.site.build.neighbourhood import Told
from unspool.turns.assemble import plans_of
from unspool.turns.skim import plan_key

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions

_EMPTY = ("empty", "stub")


class _Around(Neighbours):
    """Neighbours that remember the beginnings of logs from one session to the next: many have the same around them."""

    def _head(self, found: Found) -> Head | None:
        return _begun(found, self._kept)


_begun = lru_cache(maxsize=4096)(head)


class Reading(NamedTuple):
    """A session, and what it says to its neighbours by itself."""

    session: Session
    told: Told


def read(found: Found, near: Sequence[Found], names: Sequence[Found], kept: "KeptSessions | None" = None) -> Reading:
    """Read a log; its links come from the logs near it, and its title from those that name others, if it has none."""
    alone = read_session(found, kept)
    titles = alone.titles
    named = bool(titles.custom or titles.generated or titles.plan or titles.summary)
    offered = tuple(plan_key(plan) for plan in plans_of(alone.turns))
    around = (found, *near, *(() if named else names))
    session = _Around(lambda: around, kept).linked(alone, found) if len(around) > 1 else alone
    leads = tuple(link.session for link in alone.links)
    return Reading(session, Told(alone.title, titles.prompt, named, offered, leads))


def says_nothing(session: Session, *, strays: bool) -> bool:
    """Whether a session holds nothing that a person would look for; `strays` are subagents without a session."""
    if session.kind == "subagent":
        return not strays
    return session.kind in _EMPTY or session.title.strip().casefold() == "warmup"
