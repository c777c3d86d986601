"""Sessions known from their traces alone, and their rows in the index."""

import hashlib
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.agents import AGENTS, CodingAgent, FoundLog, by_id, is_known
from unspool.agents.records import LeftoverFile, TypedPrompt
from unspool.model import LogFile, Overview, Titles
from unspool.reading.prompts import shorten_title
from unspool.store.archive import ArchiveDatabase, KeptFile, Origin
from unspool.store.archive.line_filter import Tombstones
from unspool.store.index.database import Index
from unspool.store.index.normalize_text import normalize_text
from unspool.store.index.requests import LogRows, SessionRows, TurnRow
from unspool.store.index.times import utc_time
from unspool.store.index.write import IndexWriter, RowSource
from unspool.store.library.kept_sessions import GHOST_PATH, kept_prompts
from unspool.store.library.read import read_head
from unspool.store.sync.extract import PROMPT

_BEGINNING, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_MARGIN = timedelta(minutes=10)
"""How far from a session a prompt may lie and still be taken to be its."""


class GhostPrompt(NamedTuple):
    """A prompt of a ghost, and where its line begins in the list of prompts."""

    text: str
    time: datetime | None
    place: int


class Ghost(msgspec.Struct, frozen=True):
    """What is left of a session without a log."""

    key: str
    """The session's id; of an assumed one, a name made of its day and project."""
    project: str
    """Its path; the name of the project's folder where nothing better is known, or empty."""
    started: datetime | None
    ended: datetime | None
    prompts: tuple[GhostPrompt, ...] = ()
    survives: tuple[str, ...] = ()
    """Files and folders below the agent's own that still bear its id."""
    assumed: bool = False
    """Whether it is a guess that these prompts were one session."""


class SessionSpan(NamedTuple):
    """When a known session went on, and where; one without times covers nothing."""

    project: str
    started: datetime | None
    ended: datetime | None

    def covers(self, time: datetime) -> bool:
        if self.started is None or self.ended is None:
            return False
        return self.started - _MARGIN <= time <= self.ended + _MARGIN


Spans = Callable[[], Iterable[SessionSpan]]
"""Tells when known sessions went on; asked only where prompts name no session."""


class KnownSessions(NamedTuple):
    """What is known besides traces: the ids of sessions that are in the archive, when sessions went on, and what was
    forgotten on purpose and does not come back as a ghost."""

    sessions: Collection[str] = ()
    spans: Spans = tuple
    graves: Tombstones = Tombstones()


def find_ghosts(root: Path, known: KnownSessions) -> list[Ghost]:
    """The sessions of a source that left traces, but no log here and none that is known; oldest first."""
    found: list[Ghost] = []
    for agent in AGENTS:
        home = agent.home(root)
        if home is not None:
            found += ghost_of(agent, agent.prompt_list.prompts(home), home, known)
    return sorted(found, key=lambda ghost: (ghost.started or _END, ghost.key))


def ghost_of(
    agent: CodingAgent, prompts: Iterable[TypedPrompt], home: Path | None, known: KnownSessions
) -> list[Ghost]:
    """The ghosts of one agent: from prompts, and from what lies in its own folder, where that is there."""
    there = set[str]() if home is None else _open(agent, home)
    if there is None:
        return []
    there |= set(known.sessions)
    named, nameless = _sorted(prompts, there)
    left: dict[str, list[LeftoverFile]] = {}
    for leaving in () if home is None else agent.files.leftovers(home):
        if leaving.session_id not in there:
            left.setdefault(leaving.session_id, []).append(leaving)
    found = [_ghost(session, some, left.pop(session, [])) for session, some in named.items()]
    found += [_traces(session, files) for session, files in left.items() if any(one.files for one in files)]
    logs = {session: {prompt.log for prompt in some} for session, some in named.items()}
    found = [
        ghost
        for ghost in found
        if not known.graves.hold_lines(agent.prompt_list.name, ghost.key)
        and not any(map(known.graves.hold, logs.get(ghost.key, ())))
    ]
    return [*found, *_assumed(nameless, known.spans())] if nameless else found


def _sorted(prompts: Iterable[TypedPrompt], there: set[str]) -> tuple[dict[str, list[TypedPrompt]], list[TypedPrompt]]:
    """Prompts by their session, of sessions that are not there; and those that name none."""
    named: dict[str, list[TypedPrompt]] = {}
    nameless: list[TypedPrompt] = []
    for prompt in prompts:
        if not prompt.session_id:
            nameless.append(prompt)
        elif prompt.session_id not in there:
            named.setdefault(prompt.session_id, []).append(prompt)
    return named, nameless


def _open(agent: CodingAgent, home: Path) -> set[str] | None:
    """The sessions that have a log or will; None where that cannot be told: logs that cannot be listed are not gone."""
    try:
        logs = {log.session_id for log in agent.discover(home)}
    except OSError:
        return None
    return logs | {one.session_id for one in agent.files.running(home) if one.alive is not False}


def _ghost(key: str, prompts: Sequence[TypedPrompt], left: Iterable[LeftoverFile], *, assumed: bool = False) -> Ghost:
    ordered = sorted(prompts, key=lambda prompt: (prompt.time or _BEGINNING, prompt.place))
    times = [prompt.time for prompt in ordered if prompt.time is not None]
    project = next((prompt.project for prompt in ordered if prompt.project), "")
    first, last = (times[0], times[-1]) if times else (None, None)
    kept = tuple(GhostPrompt(prompt.text, prompt.time, prompt.place) for prompt in ordered)
    return Ghost(key, project, first, last, kept, _survives(left), assumed)


def _traces(session: str, left: Sequence[LeftoverFile]) -> Ghost:
    """A ghost that no prompt names: from when its files are."""
    folder = next((one.folder for one in left if one.folder), "")
    first, last = min(one.first for one in left), max(one.last for one in left)
    return Ghost(session, folder, utc_time(first), utc_time(last), (), _survives(left))


def _survives(left: Iterable[LeftoverFile]) -> tuple[str, ...]:
    return tuple(sorted(one.path for one in left if one.files))


def _assumed(prompts: Iterable[TypedPrompt], spans: Iterable[SessionSpan]) -> Iterator[Ghost]:
    """Prompts without a session's id, by project and day (UTC)."""
    by_project: dict[str, list[SessionSpan]] = {}
    for span in spans:
        by_project.setdefault(span.project, []).append(span)
    days: dict[tuple[str, str], list[TypedPrompt]] = {}
    for prompt in prompts:
        time, project_spans = prompt.time, by_project.get(prompt.project, ())
        if time is None or not any(span.covers(time) for span in project_spans):
            day = "undated" if time is None else time.astimezone(UTC).date().isoformat()
            days.setdefault((prompt.project, day), []).append(prompt)
    for (project, day), group in days.items():
        name = hashlib.sha256(project.encode(errors="surrogatepass")).hexdigest()[:8]
        yield _ghost(f"prompts-{day}-{name}", group, (), assumed=True)


def session_spans(logs: Iterable[FoundLog]) -> list[SessionSpan]:
    """The project, beginning and end of each session that can be read."""
    return [span for log in logs if (span := _span(log)) is not None]


def _span(log: FoundLog) -> SessionSpan | None:
    head = read_head(log, lambda head: head.facts.started is not None and bool(head.facts.cwd))
    if head is None:
        return None
    return SessionSpan(by_id(log.agent_id).project(head.facts, log.folder), head.facts.started, utc_time(log.modified))


class GhostIndexer:
    """Brings the ghosts of an index up to date with the archive."""

    def __init__(self, archive: ArchiveDatabase, index: Index) -> None:
        self._archive = archive
        self._index = index
        self._graves = archive.graves()

    def all(self) -> int:
        """Write the ghosts of every place, and take out those that are none any more; how many there are."""
        count = 0
        with IndexWriter(self._index.db) as writer:
            for number, origin in self._archive.origins().items():
                if not is_known(origin.agent):
                    continue
                agent = by_id(origin.agent)
                kept = self._archive.kept(number)
                found = self._ghosts(agent, kept, number, origin)
                name = agent.prompt_list.name
                self._write(writer, number, found, kept.get(name), str(Path(origin.root) / name))
                count += len(found)
        return count

    def _ghosts(self, agent: CodingAgent, kept: dict[str, KeptFile], number: int, origin: Origin) -> list[Ghost]:
        if agent.prompt_list.name not in kept:
            return []
        sessions = {agent.session_of(path) for path in kept if agent.is_log(path)}
        known = KnownSessions(sessions, lambda: self._spans(number), self._graves)
        here = origin.machine == platform.node()
        home = agent.home(Path(origin.root)) if here else None
        return ghost_of(agent, kept_prompts(self._archive, agent, kept, sessions), home, known)

    def _spans(self, origin: int) -> list[SessionSpan]:
        query = "SELECT project, started, ended FROM session WHERE origin = ? AND kind <> 'ghost'"
        rows = self._index.db.execute(query, (origin,))
        return [SessionSpan(project, utc_time(started), utc_time(ended)) for project, started, ended in rows]

    def _write(
        self, writer: IndexWriter, origin: int, found: Sequence[Ghost], prompts: KeptFile | None, place: str
    ) -> None:
        query = "SELECT path, id, state FROM session WHERE origin = ? AND kind = 'ghost'"
        known = {path: (number, state) for path, number, state in self._index.db.execute(query, (origin,))}
        for ghost in found:
            path = f"{GHOST_PATH}{ghost.key}"
            number, before = known.pop(path, (0, b""))
            state = b"" if prompts is None else _state(ghost, prompts.generation)
            if prompts is None or before == state:
                continue
            if number:
                writer.drop(number)
            source = RowSource(origin, path, state, {place: prompts.generation}, {place: prompts.path})
            writer.put(_rows(ghost, place, self._archive.origins()[origin].agent), source)
        for number, _ in known.values():
            writer.drop(number)


def _state(ghost: Ghost, generation: int) -> bytes:
    text = repr([ghost.key, ghost.project, generation, *ghost.prompts])
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:16]


def _rows(ghost: Ghost, path: str, agent: str) -> SessionRows:
    first = ghost.prompts[0].text if ghost.prompts else ""
    assumed = "Prompts of one day, assumed to be one session" if ghost.assumed else ""
    overview = Overview(
        ghost.key, agent, "ghost", LogFile(path, 0), Titles(assumed, prompt=shorten_title(first)), ghost.project,
        started=ghost.started, ended=ghost.ended, turns=len(ghost.prompts),
    )  # fmt: skip
    turns = [
        TurnRow(number, 0, None if prompt.time is None else int(prompt.time.timestamp() * 1000), prompt.place)
        for number, prompt in enumerate(ghost.prompts, 1)
    ]
    docs = [
        (turn, PROMPT, prompt.place, "", False, normalize_text(prompt.text))
        for turn, prompt in enumerate(ghost.prompts)
    ]
    log = LogRows(path, "", 0, turns or [TurnRow(0, 0, None, 0)], docs, [], [], [], [])
    return SessionRows(overview, b"", [log], [], (), [])
