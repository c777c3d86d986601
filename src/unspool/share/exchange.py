"""Many sessions for other programs, one at a time: files in a folder, one table of rows, a dataset, or a collector."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool import human
from unspool.agents import FoundLog, by_id, is_known
from unspool.errors import UnspoolError
from unspool.figures import figures
from unspool.files import write_atomically
from unspool.model import Session
from unspool.redact.log import decode_line
from unspool.render.exchange.hf_traces import CARD, HfTracesWriter, TraceCounts, dataset_card
from unspool.render.exchange.inspect import InspectWriter, has_parquet, transcript_rows, write_parquet
from unspool.render.exchange.messages import LEFT_OUT, MessagesWriter, ShareGptWriter, left_out_counts
from unspool.render.exchange.otel import OtelWriter
from unspool.render.view import View
from unspool.render.writers import SessionWriter, write
from unspool.share.choices import ShareSettings
from unspool.share.otlp_client import OtlpClient
from unspool.share.redacted_session import ReadySession, open_ready
from unspool.store.library import Library

_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]")
TABLE = "transcripts"
"""What one table of all sessions is called."""


def file_name(session: str, ending: str) -> str:
    """A file for a session, by its id where that can be a name; else by what is left of it and a digest, so that no two
    sessions have one file and none leads elsewhere."""
    safe = _UNSAFE.sub("_", session).lstrip(".")[:100]
    digest = sha256(session.encode(errors="replace")).hexdigest()[:8]
    return f"{session if safe == session and safe else f'{safe}-{digest}'}{ending}"


class ExportSummary(msgspec.Struct):
    """What was exported of many sessions."""

    sessions: int = 0
    files: int = 0
    bytes: int = 0
    places: int = 0
    """Places that hold something else now."""
    rules: str = ""
    """The version of the rules that they were redacted by; empty where they were not."""
    left_out: dict[str, int] = {}
    """What a format has no place for, by kind."""
    failures: list[str] = []
    """Sessions that could not be exported, a sentence each."""

    def note(self) -> str:
        """The summary in a line."""
        redacted = f"redacted: {human.count(self.places, 'place')} replaced, rules {self.rules}" if self.rules else ""
        gone = ", ".join(human.count(number, LEFT_OUT.get(kind, kind), kind) for kind, number in self.left_out.items())
        return human.joined(
            human.count(self.sessions, "session"), redacted or "not redacted", f"left out: {gone}" if gone else ""
        )


class SessionExporter:
    """Writes sessions of a library in one format, and counts."""

    def __init__(
        self, library: Library, writer: SessionWriter, view: View, ask: ShareSettings | None, *, licence: str = ""
    ) -> None:
        self._library, self._writer, self._view, self._ask = library, writer, view, ask
        self._licence = licence
        self.summary = ExportSummary()
        self._traces = TraceCounts()

    def ready(self, names: Iterable[str | FoundLog], *, strict: bool = False) -> Iterator[ReadySession]:
        """The sessions one after the other, each gone before the next is opened; one that cannot be read is told of, or
        ends it where this is `strict`."""
        for name in names:
            try:
                with open_ready(self._library, name, self._ask) as one:
                    self._count(one)
                    yield one
            except UnspoolError as error:
                if strict:
                    raise
                called = name.session_id if isinstance(name, FoundLog) else name
                self.summary.failures.append(f"{called}: {error}")

    def to_folder(self, sessions: Iterable[ReadySession], folder: Path, told: Callable[[Path], None]) -> None:
        """A file a session, below a folder of its agent; transcripts are one table, traces a dataset with its card."""
        if isinstance(self._writer, InspectWriter):
            path = folder / f"{TABLE}{'.parquet' if has_parquet() else '.jsonl'}"
            self._table(sessions, path)
            self._made(path, told)
            return
        for one in sessions:
            place = folder / "sessions" if isinstance(self._writer, HfTracesWriter) else folder
            for path in self._files(one, place / file_name(one.session.agent, "")):
                self._made(path, told)
        if isinstance(self._writer, HfTracesWriter):
            card = dataset_card(self._traces, self._licence, folder.resolve().name or "traces")
            write_atomically(folder / CARD, [card.encode()])
            self._made(folder / CARD, told)

    def to_file(self, one: ReadySession, path: Path) -> list[Path]:
        """One session as one file, and what the format puts beside it."""
        if isinstance(self._writer, InspectWriter) and path.suffix.lower() == ".parquet":
            write_parquet(transcript_rows(one.session, self._view), path)
            return [path]
        write(self._writer, one.session, path, self._view)
        if isinstance(self._writer, OtelWriter) and self._writer.has_events:
            beside = path.with_name(f"{path.name.removesuffix('.jsonl').removesuffix('.otlp')}.logs.otlp.jsonl")
            write(msgspec.structs.replace(self._writer, signal="logs"), one.session, beside, self._view)
            return [path, beside]
        return [path]

    def to_collector(self, sessions: Iterable[ReadySession], client: OtlpClient) -> None:
        """Spans, and events where the names have some, sent to a collector."""
        writer = self._writer if isinstance(self._writer, OtelWriter) else OtelWriter()
        for one in sessions:
            client.send("traces", writer.lines(one.session, self._view))
            if writer.has_events:
                client.send("logs", msgspec.structs.replace(writer, signal="logs").lines(one.session, self._view))

    def _files(self, one: ReadySession, folder: Path) -> Iterator[Path]:
        if isinstance(self._writer, HfTracesWriter) and _is_raw_trace(one):
            yield from _raw_trace(one, folder)
            return
        ending = ".jsonl" if isinstance(self._writer, HfTracesWriter) else self._writer.suffixes[0]
        yield from self.to_file(one, folder / file_name(one.session.id, ending))

    def _table(self, sessions: Iterable[ReadySession], path: Path) -> None:
        if path.suffix == ".parquet":
            write_parquet((row for one in sessions for row in transcript_rows(one.session, self._view)), path)
        else:
            chunks = (chunk for one in sessions for chunk in self._writer.chunks(one.session, self._view))
            write_atomically(path, chunks)

    def _made(self, path: Path, told: Callable[[Path], None]) -> None:
        self.summary.files += 1
        self.summary.bytes += path.stat().st_size
        told(path)

    def _count(self, one: ReadySession) -> None:
        made, traces, report = self.summary, self._traces, one.report
        made.sessions += 1
        if report is not None:
            made.places, made.rules = made.places + report.replaced, report.rules
            traces.rules = report.rules
            traces.found.update({(count.kind, count.rule): count.places - count.kept for count in report.found})
        if isinstance(self._writer, MessagesWriter | ShareGptWriter):
            made.left_out = dict(Counter(made.left_out) + left_out_counts(one.session, self._view))
        if isinstance(self._writer, HfTracesWriter):
            _count_trace(traces, one.session, self._library)


def _count_trace(counts: TraceCounts, session: Session, library: Library) -> None:
    counted = figures(session, library.prices)
    counts.sessions, counts.turns = counts.sessions + 1, counts.turns + counted.turns
    counts.calls += counted.tool_calls + counted.agent_tool_calls
    counts.tokens += (counted.usage + counted.agents_usage).total
    counts.agents[session.agent] += 1
    counts.models.update({call.model for call in counted.models if call.model})


def _is_raw_trace(one: ReadySession) -> bool:
    """Whether a log may go as it is: the Hub knows its agent, it is lines, and holds nothing that is to be left out."""
    known = is_known(one.log.agent_id) and by_id(one.log.agent_id).hub_traces
    return known and not one.shortened and one.log.path.endswith(".jsonl") and Path(one.log.path).is_file()


def _raw_trace(one: ReadySession, folder: Path) -> Iterator[Path]:
    """The log itself, and those of subagents in a folder of its name. Torn lines stay behind: no reader of datasets
    takes them."""
    main = folder / file_name(one.session.id, ".jsonl")
    inner = folder / file_name(one.session.id, "")
    places = [(one.log.path, main)]
    places += [
        (agent.path, inner / "subagents" / file_name(Path(agent.path).stem, ".jsonl")) for agent in one.log.agents
    ]
    for source, path in places:
        with Path(source).open("rb") as stream:
            write_atomically(path, (line for line in stream if isinstance(decode_line(line), dict)))
        yield path


class ExportTarget(NamedTuple):
    """Where many sessions go: a folder, or a collector."""

    folder: Path | None = None
    client: OtlpClient | None = None


def export_many(
    exporter: SessionExporter,
    names: Iterable[str | FoundLog],
    target: ExportTarget,
    told: Callable[[Path], None] = lambda _: None,
) -> ExportSummary:
    """Export sessions, one in memory at a time; what cannot be read is told in the summary, and the rest goes on."""
    sessions = exporter.ready(names)
    if target.client is not None:
        exporter.to_collector(sessions, target.client)
    elif target.folder is not None:
        exporter.to_folder(sessions, target.folder, told)
    return exporter.summary
