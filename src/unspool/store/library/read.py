"""Reads one log: entries, a transcript, a session."""

import io
import os
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from unspool.agents import FORMATS, AgentFormat, FoundLog, by_id, lines
from unspool.agents.base import Decoder, LineParser
from unspool.agents.lines import Cursor, Lines
from unspool.errors import NotFound, UnspoolError
from unspool.model import AgentSource, Entry, Event, LogFile, Overview, Place, Problem, Session, Transcript, Usage
from unspool.model.request import RecordedRequests
from unspool.prices import Cost, PriceTable
from unspool.reading.assemble import assemble_session
from unspool.reading.ledger import CallLedger
from unspool.reading.overview import OverviewReader
from unspool.store.library.chains import ChainMember, link_sessions, unify_projects
from unspool.store.library.inputs import open_log

if TYPE_CHECKING:
    from unspool.store.library.kept_sessions import KeptSessions


_HEAD = 4096


class LogReader:
    """Gives the entries of one log and remembers how many lines were blank and where it ended."""

    def __init__(self, decoder: Decoder | None = None) -> None:
        self._lines = Lines(decoder or msgspec.json.Decoder())
        self._document = 0

    @property
    def size(self) -> int:
        return self._document or self._lines.size

    @property
    def is_document(self) -> bool:
        """Whether what was read was one document instead of lines."""
        return bool(self._document)

    @property
    def blank(self) -> int:
        return self._lines.blank

    @property
    def cursor(self) -> Cursor:
        return self._lines.cursor

    def entries(self, stream: BinaryIO, start: Cursor | None = None) -> Iterator[Entry]:
        """Every entry of a stream that stands at `start`; a log that is one document is taken apart."""
        start = start or Cursor()
        if start.offset == 0 and _may_be_document(stream):
            data = stream.read()
            found = lines.document_entries(data)
            if found is not None:
                self._document = len(data)
                yield from found
                return
            stream = io.BytesIO(data)
        yield from self._lines.entries(stream, start)


def _may_be_document(stream: BinaryIO) -> bool:
    """Whether the stream begins like one JSON document; nothing of it is consumed."""
    return isinstance(stream, io.BufferedReader) and lines.starts_document(stream.peek(_HEAD)[:_HEAD])


def read_transcript(name: str, format_: AgentFormat, found: FoundLog | None = None) -> Transcript:
    reader, parser = LogReader(), format_.parser(found)
    with open_log(name) as stream:
        events = [parser.event(entry) for entry in reader.entries(stream)]
    return Transcript(events, parser.facts, log_file(name, reader.size), reader.blank)


def skim_events(
    name: str, format_: AgentFormat, parser: LineParser, whole: frozenset[str] = frozenset()
) -> Iterator[Event]:
    """The events of a log one by one, without the bulk of its lines, but for the answers to the calls named."""
    reader = LogReader(format_.skimmer(whole))
    with open_log(name) as stream:
        for entry in reader.entries(stream):
            yield parser.event(entry)


def recorded_requests(name: str, format_: AgentFormat | None = None) -> RecordedRequests:
    """The requests that a log keeps whole; the format by the log's own lines where none is named."""
    with open_log(name) as stream:
        entries = LogReader().entries(stream)
        if format_ is None:
            first = list(islice(entries, 20))
            format_, entries = sniff_format(first), chain(first, entries)
        return format_.requests(entries)


def read_appended(path: Path, cursor: Cursor) -> tuple[list[Entry], Cursor]:
    """The entries that came after `cursor`, and where to go on; an unfinished line is given again next time.

    A log that shrank was rewritten by its agent: it is read from the start.
    """
    reader = LogReader()
    with path.open("rb") as stream:
        if stream.seek(0, io.SEEK_END) < cursor.offset:
            cursor = Cursor()
        stream.seek(cursor.offset)
        found = list(reader.entries(stream, cursor))
    return found, reader.cursor


def log_file(name: str, size: int) -> LogFile:
    try:
        modified = datetime.fromtimestamp(Path(name).stat().st_mtime, UTC)
    except (OSError, ValueError):
        modified = None
    return LogFile(name, size, modified)


def sniff_format(entries: list[Entry]) -> AgentFormat:
    """The format of a log by its first entries; the first one listed where none is sure."""
    for format_ in FORMATS:
        if any(entry.data is not None and format_.sniff(entry.data) for entry in entries[:20]):
            return format_
    return FORMATS[0]


def read_session(found: FoundLog, kept: "KeptSessions | None" = None) -> Session:
    """The session of a found log with its subagents, before its neighbours are asked; `kept` has what is gone."""
    if not found.origin or kept is None:
        return _read(found)
    with kept.lent(found) as here:
        lent = here.path.removesuffix(os.path.relpath(found.path, found.root))
        return _at(_read(here), lent, f"{found.root}{os.sep}")


def _at(session: Session, lent: str, root: str) -> Session:
    """A session that was read below one folder, and its subagents, as of another."""
    agents = tuple(msgspec.structs.replace(one, session=_at(one.session, lent, root)) for one in session.agents)
    path = f"{root}{session.log.path.removeprefix(lent)}"
    return msgspec.structs.replace(session, agents=agents, log=msgspec.structs.replace(session.log, path=path))


def _read(found: FoundLog) -> Session:
    format_ = by_id(found.format)
    main = read_transcript(found.path, format_, found)
    agents: list[AgentSource] = []
    problems: list[Problem] = []
    for agent in found.agents:
        try:
            agents.append(format_.agent(agent, read_transcript(agent.path, format_, found)))
        except (UnspoolError, OSError) as error:
            problems.append(
                Problem(Place(0, 0, 0), f"a subagent's log could not be read: {error}", b"", log=agent.path)
            )
    session = assemble_session(main, agents, format_.dialect(found, main.facts), found.session_id)
    project = format_.project(main.facts, found.folder)
    return msgspec.structs.replace(session, project=project, problems=(*session.problems, *problems))


def read_stream(name: str) -> Session:
    """The session of a log that lies by itself: standard input, a URL, a file elsewhere."""
    reader = LogReader()
    with open_log(name) as stream:
        entries = list(reader.entries(stream))
    if not entries:
        raise NotFound(f"{name} holds no log lines.")
    format_ = sniff_format(entries)
    parser = format_.parser(None)
    events = [parser.event(entry) for entry in entries]
    main = Transcript(events, parser.facts, log_file(name, reader.size), reader.blank)
    identity = parser.facts.session or ("stdin" if name == "-" else re.split(r"[\\/]", name)[-1].split(".")[0])
    session = assemble_session(main, [], format_.dialect(None, parser.facts), identity)
    return msgspec.structs.replace(session, project=format_.project(parser.facts, ""))


_WORTH_A_POOL = 24 * 1024 * 1024
Progress = Callable[[int], None]


class CountedLog(NamedTuple):
    """One log counted: its overview, its line ids and its billed requests; or why it could not be read."""

    found: FoundLog
    overview: Overview | None
    ids: Sequence[int]
    ledger: CallLedger
    failure: str = ""


def make_overview(found: FoundLog, kept: "KeptSessions | None" = None) -> Overview | None:
    """What a list shows of one session; `kept` knows what is gone from its source. None where it cannot be read."""
    return kept.overview(found) if kept is not None and found.origin else count_log(found).overview


def count_log(found: FoundLog) -> CountedLog:
    """Count one session; a subagent's log that cannot be read is told of, and the rest counts."""
    format_ = by_id(found.format)
    parser = format_.parser(None)
    skim = OverviewReader(format_.dialect(found, parser.facts))
    failure = _attempt(found.path, lambda: skim.main(skim_events(found.path, format_, parser)))
    if failure:
        return CountedLog(found, None, array("Q"), CallLedger(), failure)
    if skim.open_plans:
        skim.settle(skim_events(found.path, format_, format_.parser(None), skim.open_plans))
    for agent in found.agents:
        events = skim_events(agent.path, format_, format_.parser(None))
        failure = _attempt(agent.path, lambda events=events: skim.agent(events)) or failure  # type: ignore[misc]
    overview = skim.overview(found.session_id, parser.facts, log_file(found.path, found.size))
    overview = msgspec.structs.replace(
        overview, project=format_.project(parser.facts, found.folder), size=found.total_size
    )
    return CountedLog(found, overview, skim.ids, skim.ledger, failure)


def _attempt(path: str, read: Callable[[], None]) -> str:
    """Why a log could not be read; empty where it could."""
    try:
        read()
    except UnspoolError as error:
        return str(error)
    except OSError as error:
        return f"Cannot read {path}: {error.strerror or error}."
    return ""


def count_logs(logs: Sequence[FoundLog], progress: Progress, jobs: int | None = None) -> Iterator[CountedLog]:
    """Count many sessions, in the order given; `progress` hears the bytes of each that is done."""
    workers = min(jobs or os.cpu_count() or 1, len(logs))
    if workers < 2 or sum(log.size for log in logs) < _WORTH_A_POOL:
        for log in logs:
            yield count_log(log)
            progress(log.size)
        return
    from unspool.workers import without_interrupts, worker_pool

    pool = worker_pool(workers)
    try:
        with without_interrupts():
            counting = pool.map(count_log, logs, chunksize=max(1, min(8, len(logs) // (workers * 8))))
        for done in counting:
            yield done
            progress(done.found.size)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def price_overview(overview: Overview, ledger: CallLedger, prices: PriceTable) -> Overview:
    """The overview with what its requests cost at list prices."""
    total = prices.cost(ledger)
    return msgspec.structs.replace(overview, cost=total.amount, unpriced=tuple(name for name, _ in total.unpriced))


class SessionListing(msgspec.Struct, frozen=True):
    """Sessions newest first, with what they used together, each request counted once."""

    overviews: tuple[Overview, ...]
    usage: Usage
    cost: Cost
    failures: tuple[str, ...] = ()


def list_overviews(done: Sequence[CountedLog], prices: PriceTable) -> SessionListing:
    """A listing of sessions that were counted one by one."""
    overviews = _overviews(done, prices)
    failures = tuple(one.failure for one in done if one.failure)
    together = _together([one.ledger for one in done])
    return SessionListing(overviews, together.usage, prices.cost(together), failures)


def _overviews(done: Sequence[CountedLog], prices: PriceTable) -> tuple[Overview, ...]:
    named = [(f"{one.found.root}/{one.found.folder}", one) for one in done if one.overview is not None]
    priced_ = [price_overview(one.overview, one.ledger, prices) for _, one in named if one.overview is not None]
    settled = unify_projects((folder, overview) for (folder, _), overview in zip(named, priced_, strict=True))
    skims = [ChainMember(overview, one.ids) for (_, one), overview in zip(named, settled, strict=True)]
    return tuple(sorted(link_sessions(skims), key=_newest))


def _together(ledgers: list[CallLedger]) -> CallLedger:
    """All requests once, gathered into the largest ledger, which spares a copy of it."""
    gathered = max(ledgers, key=len, default=CallLedger())
    for ledger in ledgers:
        if ledger is not gathered:
            gathered.merge(ledger)
    return gathered


def _newest(overview: Overview) -> tuple[float, str]:
    when = overview.ended or overview.log.modified
    return (-when.timestamp() if when is not None else 0.0, overview.id)
