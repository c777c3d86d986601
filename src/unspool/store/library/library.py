"""The library of sessions: where they lie, by what name they are found, opened and listed."""

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from unspool.agents import Companion, FoundLog, by_id
from unspool.errors import Ambiguous, NotFound
from unspool.files import scratch_folder
from unspool.model import Overview, Session, Transcript
from unspool.model.request import RecordedRequests
from unspool.model.session import is_unlisted
from unspool.prices import PriceTable
from unspool.store.library.discover import discover_logs, head_agent, not_a_log, single_log
from unspool.store.library.history import is_part_of
from unspool.store.library.inputs import is_bundle, is_url
from unspool.store.library.listing import SessionListing, list_overviews
from unspool.store.library.neighbours import Neighbours, last_active
from unspool.store.library.read import (
    count_logs,
    make_overview,
    read_session,
    read_stream,
    read_with_logs,
    recorded_requests,
)

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions  # brings the database, which most readers do without


_LISTED = 12


_INPUTS = (".jsonl", ".json", ".gz", ".zst", ".tar", ".tgz")


def is_input(name: str) -> bool:
    """Whether a name says itself where the log is."""
    return name == "-" or is_url(name) or "/" in name or "\\" in name or name.endswith(_INPUTS)


def find(name: str, logs: Sequence[FoundLog], overviews: Callable[[], Iterable[Overview]]) -> FoundLog:
    """The one log meant by `name`; titles are read only where nothing else fits."""
    if not logs:
        raise NotFound("No sessions were found. `unspool list --demo` shows what they look like.")
    exact = [log for log in logs if log.is_called(name)]
    if len(exact) > 1:
        raise several_agents(name, exact)
    started = exact or ([log for log in logs if log.session_id.startswith(name)] if name else [])
    started = started or ([log for log in logs if log.name.startswith(name)] if ":" in name else [])
    if len(started) == 1:
        return started[0]
    if started:
        listed = tuple(f"{log.session_id}  {log.folder or Path(log.path).parent.name}" for log in started[:_LISTED])
        raise Ambiguous(f"{len(started)} sessions begin with “{name}”:", listed)
    return _subagent(name, logs) or _titled(name, logs, overviews())


def several_agents(name: str, logs: Iterable[FoundLog]) -> Ambiguous:
    """What is said of an id that sessions of several agents have."""
    listed = tuple(f"{log.name}  {log.folder or Path(log.path).parent.name}" for log in logs)
    return Ambiguous(f"{len(listed)} agents have a session {name}. Name the agent too:", listed)


def _subagent(name: str, logs: Sequence[FoundLog]) -> FoundLog | None:
    """The subagent's log whose id, or its beginning, is the name; with `agent-` before it, as its file is called."""
    wanted = name.removeprefix("agent-")
    below = ((log, one) for log in logs if not log.origin for one in log.agents)
    fitting = [pair for pair in below if wanted and pair[1].id.startswith(wanted)]
    fitting = [pair for pair in fitting if pair[1].id == wanted] or fitting
    if len(fitting) > 1:
        listed = tuple(f"agent-{one.id}  of {log.session_id}" for log, one in fitting[:_LISTED])
        raise Ambiguous(f"{len(fitting)} subagents begin with “{name}”:", listed)
    for log, one in fitting:
        return replace(log, path=one.path, session_id=f"agent-{one.id}", agents=(), owner=log.session_id)
    return None


def _titled(name: str, logs: Sequence[FoundLog], overviews: Iterable[Overview]) -> FoundLog:
    wanted = name.casefold()
    fitting = [overview for overview in overviews if wanted and wanted in overview.title.casefold()]
    whole = [overview for overview in fitting if overview.title.casefold() == wanted]
    fitting = whole or fitting
    if not fitting:
        raise NotFound(f"No session is called “{name}”: no id begins with it and no title holds it.")
    if len(fitting) > 1:
        listed = tuple(f"{overview.id}  {overview.title[:80]}" for overview in fitting[:_LISTED])
        raise Ambiguous(f"{len(fitting)} sessions have “{name}” in their title:", listed)
    return next(log for log in logs if (log.agent_id, log.session_id) == (fitting[0].agent, fitting[0].id))


def _version_to_show(log: FoundLog) -> tuple[float, int, bool]:
    return last_active(log), log.size, not log.origin


def shown_logs(files: Iterable[FoundLog]) -> tuple[FoundLog, ...]:
    """The log of each session, the last written first: of one with several, that which was active last, with others as
    its versions."""
    of_session: dict[tuple[str, str], list[FoundLog]] = {}
    for log in files:
        of_session.setdefault((log.agent_id, log.session_id), []).append(log)
    shown = [max(some, key=_version_to_show) if len(some) > 1 else some[0] for some in of_session.values()]
    shown = [
        replace(log, versions=tuple(one for one in some if one is not log))
        for log, some in zip(shown, of_session.values(), strict=True)
    ]
    return tuple(sorted(shown, key=lambda log: (-log.modified, log.path)))


class Library:
    """The sessions of some folders; of the agents' own folders where none is named."""

    def __init__(
        self,
        sources: Sequence[Path | str] = (),
        prices: PriceTable | None = None,
        kept: "KeptSessions | None" = None,
        *,
        agents: Sequence[str] = (),
    ) -> None:
        self._agents = frozenset(agents)
        """The ids of those whose sessions are meant; all of them where none is named."""
        self.sources = tuple(Path(source).expanduser() for source in sources)
        self._prices = prices
        self.kept = kept
        """Sessions that only an archive has; None where only the sources count."""
        self._logs: tuple[FoundLog, ...] | None = None
        self._neighbours = Neighbours(self.logs, lambda: self.prices, kept)

    @property
    def prices(self) -> PriceTable:
        self._prices = self._prices or PriceTable.load()
        return self._prices

    def logs(self) -> tuple[FoundLog, ...]:
        """Every session's log, the last written first: of a session with several, the one that was active last."""
        if self._logs is None:
            self._logs = shown_logs(self._files())
        return self._logs

    def refresh(self) -> None:
        """Look at the files anew from now on: they may have grown."""
        self._logs = None
        self._neighbours = Neighbours(self.logs, lambda: self.prices, self.kept)

    def ghosts(self) -> list[FoundLog]:
        """Sessions that only traces are left of; they are listed and can be opened, but have no log."""
        return list(filter(self._is_meant, self.kept.ghosts())) if self.kept is not None else []

    def _is_meant(self, log: FoundLog) -> bool:
        return not self._agents or log.agent_id in self._agents

    def _files(self) -> list[FoundLog]:
        """Every file that holds a session: one may lie in several places."""
        here = discover_logs(self.sources)
        if self.kept is None:
            return list(filter(self._is_meant, here))
        there = {os.path.realpath(path) for log in here for path in (log.path, *(one.path for one in log.agents))}
        return list(filter(self._is_meant, (*here, *self.kept.logs(there))))

    def _others(self, found: FoundLog) -> list[FoundLog]:
        """The other files of a session that may hold something that its own does not; of kept ones the index knows."""
        shown = found if found.versions else next((log for log in self.logs() if log.path == found.path), found)
        return [log for log in shown.versions if not is_part_of(log, found)]

    def versions(self, found: FoundLog) -> tuple[FoundLog, ...]:
        """The other files of a session that hold anything that its own does not."""
        kept = self.kept
        return tuple(log for log in self._others(found) if kept is None or not kept.is_part_of(log, found))

    def overviews(self, progress: Callable[[int], None] | None = None) -> tuple[Overview, ...]:
        """What a list shows of every session, newest first."""
        return self.listing(progress).overviews

    def listing(self, progress: Callable[[int], None] | None = None) -> SessionListing:
        """All sessions counted, linked to each other and priced."""
        files = [log for shown in self.logs() for log in (shown, *self._others(shown))]
        here, gone = [log for log in files if not log.origin], [log for log in files if log.origin]
        known = self.kept.current(here, self.prices) if self.kept is not None else {}
        done = [
            *known.values(),
            *count_logs([log for log in here if log.path not in known], progress or (lambda _: None)),
        ]
        if self.kept is not None:
            done += self.kept.counted([*gone, *self.ghosts()])
        return list_overviews(done, self.prices)

    def find(self, name: str) -> FoundLog:
        """The log that `name` means: an id or its start, a piece of a title, or `latest`, the first that a list has."""
        logs = self.logs()
        if name == "latest" and logs:
            recent = sorted(logs, key=lambda log: (-last_active(log), log.session_id))
            counted = ((log, make_overview(log, self.kept)) for log in recent)
            shown = (log for log, one in counted if one is not None and not is_unlisted(one.kind, one.title))
            return next(shown, recent[0])
        known = any(log.session_id.startswith(name) or log.name.startswith(name) for log in logs)
        return find(name, logs if known else (*logs, *self.ghosts()), self.overviews)

    def key_of(self, found: FoundLog) -> str:
        """What a session is called: its id, with its agent before it where another agent has that id too."""
        alike = {log.agent_id for log in self.logs() if log.session_id == found.session_id}
        return found.name if alike - {found.agent_id} else found.session_id

    def resolve(self, name: str | Path) -> FoundLog | str:
        """What a person's name for a session means: a found log, or the input to read it from."""
        text = str(name)
        if text == "-" or is_url(text):
            return text
        if isinstance(name, Path) or is_input(text) or Path(text).is_file():
            if is_bundle(Path(text)):
                return self._unpacked(Path(text))
            found = single_log(Path(text))
            if found is not None and not found.root and head_agent(found.path) is None:
                return text  # no agent's, as far as its lines tell: whoever reads it says so
            return found or text
        return self.find(text)

    def _unpacked(self, bundle: Path) -> FoundLog:
        """The session of a bundle, laid out as an agent keeps it, as long as this library lasts."""
        from unspool.store.library.bundle import unpack_bundle

        folder = ExitStack()
        weakref.finalize(self, folder.close)
        first, *_ = unpack_bundle(bundle, folder.enter_context(scratch_folder()), str(bundle))
        found = single_log(first)
        if found is None:
            raise not_a_log(str(bundle))
        return found

    def open(self, log: FoundLog | str | Path) -> Session:
        """The session of a log, whole: given as found, or by anything a person may call it."""
        found = log if isinstance(log, FoundLog) else self.resolve(log)
        if not isinstance(found, FoundLog):
            return read_stream(found)
        session = read_session(found, self.kept)
        return session if session.kind == "ghost" else self._neighbours.linked(session, found)

    def open_with_logs(self, found: FoundLog) -> tuple[Session, dict[str, Transcript]]:
        """The session of a log in its source, whole, and its logs by path, for who wants to go through these too."""
        session, logs = read_with_logs(found)
        return self._neighbours.linked(session, found), logs

    def requests(self, log: FoundLog | str | Path) -> RecordedRequests | None:
        """The requests that a session's log keeps whole; None for an input that can be read only once."""
        found = log if isinstance(log, FoundLog) else self.resolve(log)
        if not isinstance(found, FoundLog):
            return recorded_requests(found) if Path(found).is_file() else None
        with self.located(found) as here:
            return recorded_requests(here.path, by_id(here.agent_id))

    @contextmanager
    def located(self, found: FoundLog) -> Iterator[FoundLog]:
        """The log with its files where they can be read while the `with` lasts, though only the archive has them."""
        if self.kept is not None:
            with self.kept.located(found) as here:
                yield here
        else:
            yield found

    def companions(self, session: Session) -> tuple[Companion, ...]:
        """Files of a session that are no logs: spilled outputs, plans, todo lists, ..."""
        found = single_log(Path(session.log.path))
        return tuple(by_id(found.agent_id).files.companions(found, session.slug)) if found is not None else ()


def session_opener(library: Library, most: int = 64) -> Callable[[str], Session]:
    """Opens sessions of a library by their ids, those that were opened last only once; NotFound where a log is gone."""
    logs = {name: log for log in library.logs() for name in (log.session_id, log.name)}

    @lru_cache(maxsize=most)
    def opened(key: str) -> Session:
        if key not in logs:
            raise NotFound(f"The log of session {key} is gone.")
        return library.open(logs[key])

    return opened


def open_session(name: str | Path, sources: Sequence[Path | str] = ()) -> Session:
    """One session, whole. `name`: an id or its start, a path, "-", a URL, a piece of its title, or "latest"."""
    return Library(sources).open(name)


def sessions(sources: Sequence[Path | str] = ()) -> tuple[Overview, ...]:
    """An overview of every session, newest first."""
    return Library(sources).overviews()
