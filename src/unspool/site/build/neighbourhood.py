"""Which logs a session's pages depend on beside its own: the one it continues, those that continue it, and those that
name it.

Only the beginning of a log is read for that, and only when the log is new or has changed; a whole log only where
nothing but the text of a plan can tell.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from unspool.agents import FoundLog
from unspool.model import ChainLink, Overview, Titles
from unspool.store.library.chains import KnownChains, source_id, source_of
from unspool.store.library.neighbours import chain_head

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


class LogStart(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the beginning of a log says to its neighbours."""

    slug: str = ""
    source: str = ""
    """Id of the session that it says it continues."""
    started: datetime | None = None
    accepted: int = 0
    """Key of the plan that it implements."""
    names: bool = False
    """Whether it holds summaries of other sessions."""
    line: str = ""
    """Id of its first prompt's line, which copies of its history have too."""
    base: str = ""
    """Id of the session whose log keeps the conversation before its first line."""
    digest: str = ""
    """Of all of it."""


class NeighbourFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session says to its neighbours once it has been read."""

    title: str = ""
    prompt: str = ""
    named: bool = False
    """Whether it has a better name than a neighbour may give it."""
    offered: tuple[int, ...] = ()
    """Keys of the plans put forward in it."""
    leads: tuple[str, ...] = ()
    """Ids of the sessions that it says itself it was copied from or went on in."""


def overview_facts(overview: Overview) -> NeighbourFacts:
    """What a session will say, as far as a list of sessions knows."""
    return neighbour_facts(overview.title, overview.titles, overview.offered, overview.links)


def neighbour_facts(title: str, titles: Titles, offered: tuple[int, ...], links: Iterable[ChainLink]) -> NeighbourFacts:
    named = bool(titles.custom or titles.generated or titles.plan or titles.summary)
    return NeighbourFacts(title, titles.prompt, named, offered, tuple(link.session for link in links))


remembered_head = lru_cache(maxsize=4096)(chain_head)
"""The head of a log: a plan wants it, and then each session that has the log beside it, in processes that are copies of
the one that planned."""


def start(found: FoundLog, kept: "KeptSessions | None" = None) -> LogStart:
    """The start of a log; an empty one where it cannot be read."""
    begun = remembered_head(found, kept)
    if begun is None:
        return LogStart()
    source = source_id(begun.source) if begun.source else ""
    digest = blake2b(msgspec.json.encode(begun), digest_size=8).hexdigest()
    return LogStart(begun.slug, source, begun.started, begun.accepted, bool(begun.summaries), begun.line,
                    begun.forked_from if begun.base is not None else "", digest)  # fmt: skip


Offered = Callable[[FoundLog], tuple[int, ...]]


class Neighbourhood:
    """All logs of a run, and how their starts say that they continue one another."""

    def __init__(self, logs: Iterable[FoundLog], starts: Mapping[str, LogStart], offered: Offered) -> None:
        self._ids: dict[tuple[str, str], FoundLog] = {}
        """By agent and id."""
        self._folders: dict[str, dict[str, FoundLog]] = {}
        for log in logs:
            self._ids.setdefault((log.agent_id, log.session_id), log)
            self._folders.setdefault(_folder(log), {}).setdefault(log.session_id, log)
        self._starts, self._offered = starts, cache(offered)
        self._sources: dict[str, FoundLog] = {}
        """By path: the session that a log continues."""
        self._followers: dict[str, list[FoundLog]] = {}
        for folder in self._folders.values():
            self._join(folder)
        self._alike: dict[str, list[FoundLog]] = {}
        for log in self._ids.values():
            if line := starts[log.path].line:
                self._alike.setdefault(line, []).append(log)
        self._names = {name: [log for log in group.values() if starts[log.path].names]
                       for name, group in self._folders.items()}  # fmt: skip

    def _join(self, folder: dict[str, FoundLog]) -> None:
        """Find what each session of a folder continues."""
        beside: list[KnownChains] = []
        for log in folder.values():
            own = self._starts[log.path]
            if not own.source and not own.accepted:
                continue
            beside = beside or [self._known(one) for one in folder.values()]
            named = self._ids.get((log.agent_id, own.source))
            source, _ = source_of(self._known(log), [*beside, *([self._known(named)] if named is not None else ())])
            if source:
                earlier = folder.get(source) or self._ids[log.agent_id, source]
                self._sources[log.path] = earlier
                self._followers.setdefault(earlier.path, []).append(log)

    def _known(self, log: FoundLog) -> KnownChains:
        own = self._starts[log.path]
        return KnownChains(log.session_id, own.slug, own.source, own.started, own.accepted, lambda: self._offered(log))

    def near(self, found: FoundLog) -> list[FoundLog]:
        """Sessions of the same chain that a session's pages tell of, each with what it continues itself; and those
        that begin with the same prompt."""
        listed: dict[str, FoundLog] = {}
        waiting = [*self._followers.get(found.path, ()), *self._alike.get(self._starts[found.path].line, ()), found]
        while waiting:
            log = waiting.pop()
            if log.path not in listed:
                listed[log.path] = log
                before = (self._sources.get(log.path), self._ids.get((log.agent_id, self._starts[log.path].base)))
                waiting += [one for one in before if one is not None]
        del listed[found.path]
        return list(listed.values())

    def names(self, found: FoundLog) -> list[FoundLog]:
        """Logs that may hold a name for a session."""
        return [log for log in self._names[_folder(found)] if log.path != found.path]

    def digests(self, logs: Iterable[FoundLog]) -> Iterator[str]:
        """Of what the starts of these logs say."""
        return (self._starts[log.path].digest for log in logs)


def _folder(found: FoundLog) -> str:
    return found.path.replace("\\", "/").rpartition("/")[0]
