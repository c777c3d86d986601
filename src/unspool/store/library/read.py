"""Reads one log: its events, its beginning and end, a transcript, a session, an overview."""

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from unspool.agents import CodingAgent, Detail, FoundLog, by_id
from unspool.agents.checkout import remote_address, web_remote
from unspool.agents.lines import LogEvents, read_entries
from unspool.errors import NotFound, UnspoolError
from unspool.model import (
    AgentSource,
    Facts,
    LogFile,
    Overview,
    Place,
    Problem,
    Prompt,
    Session,
    Transcript,
)
from unspool.model.request import RecordedRequests
from unspool.reading.assemble import assemble_session
from unspool.reading.ledger import CallLedger
from unspool.reading.scan import Scan
from unspool.render.json import SCHEMA, load
from unspool.store.library.chains import project_named_after
from unspool.store.library.discover import RECOGNISED_BY, not_a_log, recognise_agent
from unspool.store.library.history import CountedLog
from unspool.store.library.inputs import hold_stream, open_log
from unspool.workers import GC_PAUSE, map_in_processes

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions

_EXPORT = f'{{"schema":"{SCHEMA}"'.encode()
"""How a session begins that unspool wrote as JSON."""
_SCHEMA_WITHIN = 200
_HEAD_LINES = 80
_HEAD_BYTES = 32 * 1024
"""What is read at once where a log's first lines are asked; most tell enough."""
_LONGEST_ADDRESS = 2000
_LOOKED_THROUGH = 256 * 1024
"""Bytes that are looked through at once: as many as stay in a processor's cache."""


@contextmanager
def open_events(
    path: str,
    agent: CodingAgent,
    found: FoundLog | None = None,
    *,
    most: int | None = None,
    detail: Detail = Detail.ALL,
) -> Iterator[LogEvents]:
    """The events of a log, or of its first `most` bytes, while the `with` lasts."""
    with open_log(path, most) as stream:
        yield agent.events(stream, found, detail=detail)


def read_transcript(
    path: str, agent: CodingAgent, found: FoundLog | None = None, most: int | None = None
) -> Transcript:
    """A log, or as much of it as stands on whole lines within its first `most` bytes."""
    with open_events(path, agent, found, most=most) as events:
        read = list(events)
    if most is not None and not events.is_document:
        read = [event for event in read if event.place.offset < events.cursor.offset]
    return Transcript(read, events.facts, log_file(path, events.size), events.blank)


class LogHead(NamedTuple):
    """What the first lines of a log say."""

    facts: Facts
    prompts: list[Prompt]


def read_head(found: FoundLog, enough: Callable[[LogHead], bool], kept: "KeptSessions | None" = None) -> LogHead | None:
    """The first lines of a log, or of its copy in an archive, until they tell enough; None where it cannot be read."""
    try:
        with _beginning(found, kept) as stream:
            events = by_id(found.agent_id).events(stream, found, detail=Detail.FIGURES)
            head = LogHead(events.facts, [])
            for event in islice(events, _HEAD_LINES):
                if event.prompt is not None and not event.sidechain:
                    head.prompts.append(event.prompt)
                if enough(head):
                    break
    except (UnspoolError, OSError):
        return None
    return head


def _beginning(found: FoundLog, kept: "KeptSessions | None") -> AbstractContextManager[BinaryIO]:
    if kept is not None and found.origin:
        return hold_stream(kept.beginning(found))
    return open_log(found.path, buffer=_HEAD_BYTES)


def project_in_head(found: FoundLog, kept: "KeptSessions | None" = None, folder: str = "") -> str:
    """The project that a log's first lines name; empty where they name none."""
    head = read_head(found, lambda head: bool(head.facts.cwd), kept)
    return by_id(found.agent_id).project(head.facts, folder) if head is not None and head.facts.cwd else ""


def read_tail(found: FoundLog, size: int) -> Transcript | None:
    """What the last bytes of a log say, the line that they begin in left out; None where it cannot be read."""
    try:
        with Path(found.path).open("rb") as stream:
            stream.seek(max(0, found.size - size))
            data = stream.read(size)
    except OSError:
        return None
    whole = data if found.size <= size else data[data.find(b"\n") + 1 :]
    events = by_id(found.agent_id).events(io.BytesIO(whole), detail=Detail.TEXTS)
    return Transcript(list(events), events.facts, log_file(found.path, found.size))


def recorded_requests(path: str, agent: CodingAgent | None = None) -> RecordedRequests | None:
    """The requests that a log keeps whole, the agent by the log's own lines where none is named; None for an agent
    that writes none down."""
    with open_log(path) as stream:
        entries = read_entries(stream)
        if agent is None:
            first = list(islice(entries, RECOGNISED_BY))
            agent, entries = recognise_agent(first), chain(first, entries)
        return agent.requests(entries) if agent is not None else None


def log_file(name: str, size: int) -> LogFile:
    try:
        modified = datetime.fromtimestamp(Path(name).stat().st_mtime, UTC)
    except (OSError, ValueError):
        modified = None
    return LogFile(name, size, modified)


def read_session(found: FoundLog, kept: "KeptSessions | None" = None, end: int | None = None) -> Session:
    """The session of a found log with its subagents, before its neighbours are asked; `kept` has what is gone. With an
    `end`, what the log's first bytes hold of it, without subagents."""
    if not found.origin or kept is None:
        return _read(found, end)
    if kept.is_ghost(found):
        return kept.ghost(found)
    with kept.lent(found) as here:
        lent = here.path.removesuffix(os.path.relpath(found.path, found.root))
        return relocated(_read(here, end), lent, f"{found.root}{os.sep}")


def read_with_logs(found: FoundLog) -> tuple[Session, dict[str, Transcript]]:
    """The session of a found log, before its neighbours are asked, and all logs of it that could be read, by path."""
    with GC_PAUSE:
        session, main, subagents = _assembled(found)
    return session, {log.log.path: log for log in (main, *(one.transcript for one in subagents))}


def read_counted(found: FoundLog, kept: "KeptSessions | None" = None) -> tuple[Session, CountedLog]:
    """A session whole, before its neighbours are asked, and the same counted as for a list; its logs are read once."""
    if not found.origin or kept is None:
        with GC_PAUSE:
            return _whole_and_counted(found)
    if kept.is_ghost(found):
        (counted,) = kept.counted([found])
        return kept.ghost(found), counted
    with kept.lent(found) as here, GC_PAUSE:
        session, counted = _whole_and_counted(here)
        lent = here.path.removesuffix(os.path.relpath(found.path, found.root))
    session, overview = relocated(session, lent, f"{found.root}{os.sep}"), counted.overview
    if overview is not None:
        overview = msgspec.structs.replace(overview, log=session.log, kept=True)
    return session, counted._replace(found=found, overview=overview)


def relocated(session: Session, lent: str, root: str) -> Session:
    """A session that was read below one folder, and its subagents, as of another."""
    agents = tuple(msgspec.structs.replace(one, session=relocated(one.session, lent, root)) for one in session.agents)
    path = f"{root}{session.log.path.removeprefix(lent)}"
    problems = tuple(
        msgspec.structs.replace(one, why=one.why.replace(lent, root), log=one.log.replace(lent, root))
        for one in session.problems
    )
    log = msgspec.structs.replace(session.log, path=path)
    return msgspec.structs.replace(session, agents=agents, log=log, problems=problems)


def _read(found: FoundLog, end: int | None) -> Session:
    with GC_PAUSE:
        if end is None:
            return _assembled(found)[0]
        agent = by_id(found.agent_id)
        with open_events(found.path, agent, found) as events:
            read = list(takewhile(lambda event: event.place.offset < end, events))
        return assemble(agent, found, Transcript(read, events.facts, log_file(found.path, end)), [])


def _assembled(found: FoundLog) -> tuple[Session, Transcript, list[AgentSource]]:
    """A session, and the logs that it is made of."""
    main, subagents, problems = _read_all(found)
    session = assemble(by_id(found.agent_id), found, main, subagents)
    return _with_problems(session, problems), main, subagents


def _with_problems(session: Session, problems: Sequence[Problem]) -> Session:
    return msgspec.structs.replace(session, problems=(*session.problems, *problems)) if problems else session


def _read_all(found: FoundLog) -> tuple[Transcript, list[AgentSource], list[Problem]]:
    """A session's own log, its subagents', and what is wrong with those that could not be read."""
    agent = by_id(found.agent_id)
    main = read_transcript(found.path, agent, found)
    subagents: list[AgentSource] = []
    problems: list[Problem] = []
    for one in found.agents:
        try:
            subagents.append(agent.subagent(one, read_transcript(one.path, agent, found)))
        except (UnspoolError, OSError) as error:
            problems.append(Problem(Place(0, 0, 0), f"a subagent's log could not be read: {error}", b"", log=one.path))
    return main, subagents, problems


def read_countable(
    found: FoundLog, kept: "KeptSessions | None" = None
) -> tuple[Session, Callable[[], CountedLog] | None]:
    """A session, its neighbours not asked yet, and what counts it from the logs as read; None for one of an archive."""
    if found.origin and kept is not None:
        return read_session(found, kept), None
    with GC_PAUSE:
        session, main, subagents = _assembled(found)
    return session, lambda: _count_read(found, main, subagents)


def _whole_and_counted(found: FoundLog) -> tuple[Session, CountedLog]:
    main, subagents, problems = _read_all(found)
    agent = by_id(found.agent_id)
    dialect = agent.dialect(found, main.facts)
    scan = Scan(dialect, own=bool(found.owner), logged=found.agent_ids)
    session = _placed(assemble_session(main, subagents, dialect, found.session_id, scan), agent, found, main)
    for one in subagents:
        scan.agent(one.transcript.events)
    return _with_problems(session, problems), _counted(found, scan, main.facts, "")


def _count_read(found: FoundLog, main: Transcript, subagents: list[AgentSource]) -> CountedLog:
    scan = Scan(by_id(found.agent_id).dialect(found, main.facts), own=bool(found.owner), logged=found.agent_ids)
    for event in main.events:
        scan.add(event)
    for one in subagents:
        scan.agent(one.transcript.events)
    return _counted(found, scan, main.facts, "")


def assemble(agent: CodingAgent, found: FoundLog, main: Transcript, subagents: list[AgentSource]) -> Session:
    """The session of a found log, or of a part of it, that was read."""
    session = assemble_session(main, subagents, agent.dialect(found, main.facts), found.session_id)
    return _placed(session, agent, found, main)


def _placed(session: Session, agent: CodingAgent, found: FoundLog, main: Transcript) -> Session:
    """The session with the project and the repository that it worked in."""
    project = agent.project(main.facts, found.folder)
    return msgspec.structs.replace(session, project=project, remote=remote_of(found, main.facts.cwd))


REMOTE = "git-remote"
"""The file of a session that came from elsewhere: the web address of the repository that it worked in."""


def remote_of(found: FoundLog, cwd: str) -> str:
    """The web address of a session's repository: as it came with the session, else of the checkout that its folder is.

    Only a folder that the agent itself filed the log under is looked into: a log may name any.
    """
    with suppress(OSError):
        brought = found.home / REMOTE
        if not brought.is_symlink() and brought.stat().st_size <= _LONGEST_ADDRESS:
            return web_remote(brought.read_text("utf-8", "replace"))
    return remote_address(cwd) if found.root and project_named_after(found.folder, (cwd,)) else ""


def read_stream(name: str) -> Session:
    """The session of a log that lies by itself: standard input, a URL, a file elsewhere."""
    data = bytearray()
    with open_log(name) as stream:
        for line in stream:  # not at once: a signal that comes between two reads is heard
            data += line
    first = list(islice(read_entries(_buffered(data)), RECOGNISED_BY))
    if not first:
        raise NotFound(f"{name} holds no log lines.")
    if bytes(data[:_SCHEMA_WITHIN]).lstrip().startswith(_EXPORT):
        return load(bytes(data))
    agent = recognise_agent(first)
    if agent is None:
        raise not_a_log(name)
    events = agent.events(_buffered(data))
    main = Transcript(list(events), events.facts, log_file(name, events.size), events.blank)
    stem = "stdin" if name == "-" else re.split(r"[\\/]", name)[-1].split(".")[0]
    session = assemble_session(main, [], agent.dialect(None, events.facts), events.facts.session or stem)
    return msgspec.structs.replace(session, project=agent.project(events.facts, ""))


def _buffered(data: bytes | bytearray) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))


_WORTH_A_POOL = 24 * 1024 * 1024
Progress = Callable[[int], None]


def make_overview(found: FoundLog, kept: "KeptSessions | None" = None) -> Overview | None:
    """What a list shows of one session; `kept` knows what is gone from its source. None where it cannot be read."""
    return kept.overview(found) if kept is not None and found.origin else count_log(found).overview


def offered_plans(found: FoundLog, kept: "KeptSessions | None" = None) -> tuple[int, ...]:
    """The keys of the plans that were put forward in a session; its log is counted only where it may hold one."""
    overview = make_overview(found, kept) if found.origin or _may_hold_plans(found) else None
    return overview.offered if overview is not None else ()


def _may_hold_plans(found: FoundLog) -> bool:
    tools, end = [tool.encode() for tool in by_id(found.agent_id).plan_tools], b""
    try:
        with open_log(found.path) as stream:
            while tools and (data := stream.read(_LOOKED_THROUGH)):
                data = end + data
                if any(map(data.__contains__, tools)):
                    return True
                end = data[-max(map(len, tools)) :]
    except (UnspoolError, OSError):
        return False
    return not tools


def scan_log(found: FoundLog, *, places: bool = False) -> tuple[Scan, Facts]:
    """One pass through a session's own log; with `places`, it knows the turn of every line."""
    agent = by_id(found.agent_id)
    with open_events(found.path, agent, found, detail=Detail.FIGURES) as events:
        scan = Scan(agent.dialect(found, events.facts), own=bool(found.owner), places=places, logged=found.agent_ids)
        for event in events:
            scan.add(event)
    return scan, events.facts


def count_log(found: FoundLog) -> CountedLog:
    """Count one session; a subagent's log that cannot be read is told of, and the rest counts."""
    agent, failure = by_id(found.agent_id), ""
    try:
        with GC_PAUSE:
            scan, facts = scan_log(found)
    except (UnspoolError, OSError) as error:
        return CountedLog(found, None, (), (), CallLedger(), reading_failure(found.path, error))
    for one in found.agents:
        try:
            with open_events(one.path, agent, found, detail=Detail.FIGURES) as events:
                scan.agent(events)
        except (UnspoolError, OSError) as error:
            failure = reading_failure(one.path, error)
    return _counted(found, scan, facts, failure)


def _counted(found: FoundLog, scan: Scan, facts: Facts, failure: str) -> CountedLog:
    overview = scan.overview(found.session_id, facts, log_file(found.path, found.size))
    project = by_id(found.agent_id).project(facts, found.folder)
    overview = msgspec.structs.replace(overview, project=project, size=found.total_size)
    return CountedLog(found, overview, scan.ids, scan.prompt_ids, scan.ledger, failure)


def reading_failure(path: str, error: UnspoolError | OSError) -> str:
    """Why a log could not be read, as a sentence."""
    return str(error) if isinstance(error, UnspoolError) else f"Cannot read {path}: {error.strerror or error}."


def count_logs(logs: Sequence[FoundLog], progress: Progress) -> list[CountedLog]:
    """Count many sessions, in the order given; `progress` hears the bytes of each that is done."""
    workers = min(os.cpu_count() or 1, len(logs))
    if workers < 2 or sum(log.total_size for log in logs) < _WORTH_A_POOL:
        counted = []
        for log in logs:
            counted.append(count_log(log))
            progress(log.total_size)
        return counted
    return map_in_processes(count_log, logs, lambda log: log.total_size, progress, workers, _not_counted)


def _not_counted(found: FoundLog) -> CountedLog:
    return CountedLog(found, None, (), (), CallLedger(), process_died(found.path))


def process_died(path: str) -> str:
    """Why a log could not be read in a process of its own, as a sentence."""
    return f"Cannot read {path}: the process that read it died; there may not be enough memory for it."
