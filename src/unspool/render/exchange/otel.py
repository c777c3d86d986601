"""A session as OpenTelemetry spans, at the times when it happened: OTLP as JSON lines, for a file or a collector.

A trace is a prompt: its turn holds requests and tool calls, and a subagent stands below the call that began it. Ids are
made of the session's own, so that what is sent twice is the same twice. Where a log tells no time, what came before
lends its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal

import msgspec

from unspool.agents.telemetry import (
    Attributes,
    AttributeValue,
    Observed,
    ObservedCall,
    ObservedNotice,
    ObservedRequest,
    ObservedTurn,
    SpanShape,
    TelemetryNames,
)
from unspool.figures.spending import PricedRequest
from unspool.model import Agent, Json, Notice, Prompt, Session, ToolCall, Usage
from unspool.render.exchange.otel_names import GenAiNames
from unspool.render.exchange.steps import (
    AnswerStep,
    ExchangeStep,
    PromptStep,
    SessionWalk,
    agents_of,
    is_sent,
    json_line,
)
from unspool.render.view import View

SCHEMA = "https://opentelemetry.io/schemas/gen-ai/1.42.0"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BATCH = 100
"""Spans or records of one line, and so of one request to a collector."""
_INTERNAL, _CLIENT, _FAILED, _INFO = 1, 3, 2, 9
_Data = dict[str, Json]


class OtelWriter(msgspec.Struct, frozen=True):
    """OTLP as JSON lines: spans, or the events that an agent tells of the same; a file holds one of them."""

    content: bool = False
    """Whether words are told, and not only shapes, sizes and figures."""
    names: TelemetryNames = GenAiNames()
    signal: Literal["traces", "logs"] = "traces"

    name: ClassVar[str] = "otel"
    suffixes: ClassVar[tuple[str, ...]] = (".otlp.jsonl",)
    description: ClassVar[str] = "OpenTelemetry GenAI spans as OTLP JSON lines, for collectors and dashboards"
    binary: ClassVar[bool] = False

    @property
    def has_events(self) -> bool:
        """Whether there is more to tell than spans."""
        return not isinstance(self.names, GenAiNames)

    def chunks(self, session: Session, view: View, folder: Path | None = None) -> Iterator[bytes]:
        for line in self.lines(session, view):
            yield from json_line(session, line)

    def lines(self, session: Session, view: View) -> Iterator[_Data]:
        """The lines as data, each of which a collector takes by itself."""
        told = _Telling(session, view, self.names, content=self.content)
        told.tell()
        resource = {"attributes": _attributes({"service.name": self.names.service(session), **_version(session)})}
        scope = {"name": "unspool"}
        made, several, one = (
            (told.spans, "Spans", "spans") if self.signal == "traces" else (told.records, "Logs", "logRecords")
        )
        for start in range(0, max(len(made), 1), _BATCH):
            held = {"scope": scope, one: made[start : start + _BATCH], "schemaUrl": SCHEMA}
            yield {f"resource{several}": [{"resource": resource, f"scope{several}": [held]}]}


def _version(session: Session) -> Attributes:
    return {"service.version": session.versions[-1]} if session.versions else {}


class _Place(msgspec.Struct, frozen=True):
    """Where a span goes: its trace, and the span above it."""

    trace: str
    parent: str


class _Telling:
    """Makes the spans and records of one session."""

    def __init__(self, session: Session, view: View, names: TelemetryNames, *, content: bool) -> None:
        self._session, self._names, self._content = session, names, content
        self._walk = SessionWalk(session, View(thinking=view.thinking, prices=view.prices))
        self._shared = names.shared(session)
        self._clock = session.started or session.log.modified or _EPOCH
        """The last time that was told."""
        self._ids: dict[str, int] = {}
        self._agents: set[str] = set()
        """Subagents that were told of."""
        self.spans: list[_Data] = []
        self.records: list[_Data] = []

    def tell(self) -> None:
        """All turns, those of ways that were left included, then what no answer shows."""
        self._member(self._session, None, None)

    def _member(self, member: Session, agent: Agent | None, place: _Place | None) -> None:
        """The conversation of the session, or of a subagent below the call that began it."""
        ways = [(0, self._walk.steps(member))]
        ways += [(branch.number, self._walk.branch_steps(member, branch)) for branch in member.branches]
        for branch, steps in ways:
            for _, turn in groupby(steps, lambda step: step.turn):
                self._turn(list(turn), member, agent, place, branch)
        for inner in member.agents:
            if inner.id not in self._agents:
                self._agent(inner, place)
        self._unshown(member, agent.id if agent is not None else "", place)

    def _agent(self, agent: Agent, place: _Place | None) -> None:
        self._agents.add(agent.id)
        self._member(agent.session, agent, place)

    def _turn(
        self, steps: list[ExchangeStep], member: Session, agent: Agent | None, place: _Place | None, branch: int
    ) -> None:
        """The span of a turn and all below it; nothing where it was copied from another session, which tells it."""
        if all(step.copied for step in steps):
            called = (call.call_id for step in steps if isinstance(step, AnswerStep) for call in step.calls)
            self._agents |= {inner.id for call in called for inner in member.agents if inner.call_id == call}
            return
        number = steps[0].turn
        prompt = next((step.prompt for step in steps if isinstance(step, PromptStep)), None)
        name = agent.id if agent is not None else ""
        key = prompt.id if prompt is not None and prompt.id else f"{branch}.{number}"
        place = place or _Place(self._id("trace", name, key, size=16), "")
        own = self._id("turn", name, key)
        started = self._since(prompt.time if prompt is not None else _first_time(steps))
        model = next((step.model for step in steps if isinstance(step, AnswerStep) and step.model), "")
        kind = agent.kind if agent is not None else ""
        turn = ObservedTurn(self._session, number, prompt, name, kind, model, branch, started, 0)
        at = len(self.spans)
        inside = _Place(place.trace, own) if self._shape(turn) is not None else place
        self._steps(steps, member, name, inside)
        turn = msgspec.structs.replace(turn, milliseconds=_milliseconds(started, self._clock))
        shape = self._shape(turn)
        if shape is not None and (prompt is not None or len(self.spans) > at):
            self.spans.insert(at, self._span(shape, place, own, (started, self._clock)))
        self._record(turn, inside)

    def _shape(self, turn: ObservedTurn) -> SpanShape | None:
        return self._names.turn(turn, content=self._content)

    def _steps(self, steps: Sequence[ExchangeStep], member: Session, agent: str, place: _Place) -> None:
        heard: list[Prompt | ToolCall | Notice] = []
        compacted = False
        for step in steps:
            if isinstance(step, PromptStep):
                heard.append(step.prompt)
            elif isinstance(step, AnswerStep):
                if not step.copied:
                    self._requests(step, agent, place, tuple(heard), compacted=compacted)
                    self._calls(step.calls, member, agent, place)
                heard, compacted = [call for call in step.calls if call.result is not None], False
            elif isinstance(step.block, Notice):
                heard += [step.block] if is_sent(step.block) or step.block.kind == "system-prompt" else []
                compacted = compacted or step.block.kind == "compaction"
                self._clock = max(self._clock, step.block.time or self._clock)  # it may tell of what went on before
                self._record(ObservedNotice(self._session, step.block, agent, self._clock), place)

    def _requests(
        self,
        step: AnswerStep,
        agent: str,
        place: _Place,
        heard: tuple[Prompt | ToolCall | Notice, ...] = (),
        *,
        compacted: bool = False,
    ) -> None:
        """A span for each request of an answer, words with the first; of an agent that logs no usage, one without."""
        about, begun = step.about, self._clock
        requests = step.requests or ((_unlogged(step),) if step.model and step.blocks else ())
        for number, one in enumerate(requests):
            first = number == 0
            ended = self._since((about.ended if about is not None and first else None) or one.time or step.time)
            started = begun if first else ended
            observed = ObservedRequest(
                session=self._session,
                model=one.model,
                usage=one.usage,
                cost=one.cost,
                message=step.message,
                request=one.id,
                stop=about.stop if about is not None else "",
                effort=about.effort if about is not None else "",
                speed=one.speed,
                subagent=agent,
                compacted=compacted and first,
                heard=heard if first else (),
                thoughts=step.thoughts if first else "",
                words=step.words if first else "",
                calls=step.calls if first else (),
                time=started,
                milliseconds=_milliseconds(started, ended),
            )
            shape = self._names.request(observed, content=self._content)
            own = self._id("request", agent, step.message, str(number))
            self.spans.append(self._span(shape, place, own, (started, ended)))
            self._record(observed, _Place(place.trace, own))

    def _calls(self, calls: Iterable[ToolCall], member: Session, agent: str, place: _Place) -> None:
        """Calls of one answer begin when it was given, and run beside each other."""
        begun = latest = self._clock
        for call in calls:
            self._clock = begun
            started = self._since(call.time)
            own = self._id("call", agent, call.call_id)
            at = len(self.spans)
            for inner in agents_of(call, member):
                self._agent(inner, _Place(place.trace, own))
            ended = max(self._clock, self._since(call.result.time if call.result is not None else None))
            observed = ObservedCall(self._session, call, agent, started, _milliseconds(started, ended))
            shape = self._names.call(observed, content=self._content)
            self.spans.insert(at, self._span(shape, place, own, (started, ended), call.end))
            self._record(observed, _Place(place.trace, own))
            latest = max(latest, ended)
        self._clock = latest

    def _unshown(self, member: Session, agent: str, place: _Place | None) -> None:
        """Requests that no answer shows, each by itself."""
        for step in self._walk.unshown(member):
            above = place or _Place(self._id("trace", agent, step.message, size=16), "")
            self._since(step.requests[0].time or step.time)
            self._requests(step, agent, above)

    def _since(self, time: datetime | None) -> datetime:
        """A time, from when on others are told; where it is not known, the one before."""
        self._clock = time or self._clock
        return self._clock

    def _id(self, *parts: str, size: int = 8) -> str:
        """The same for the same thing of the same session, in any export; a second thing of that name has another."""
        name = "\0".join((self._session.id, *parts))
        self._ids[name] = number = self._ids.get(name, 0) + 1
        said = name if number == 1 else f"{name}\0{number}"
        return sha256(said.encode(errors="replace")).hexdigest()[: 2 * size]

    def _span(
        self, shape: SpanShape, place: _Place, own: str, when: tuple[datetime, datetime], end: str = "ok"
    ) -> _Data:
        started, ended = when
        return {
            "traceId": place.trace,
            "spanId": own,
            **({"parentSpanId": place.parent} if place.parent else {}),
            "name": shape.name,
            "kind": _CLIENT if shape.remote else _INTERNAL,
            "startTimeUnixNano": _nanoseconds(started),
            "endTimeUnixNano": _nanoseconds(max(started, ended)),
            "attributes": _attributes({**self._shared, **shape.attributes}),
            "status": {} if end == "ok" else {"code": _FAILED, "message": end},
        }

    def _record(self, what: Observed, place: _Place) -> None:
        for event in self._names.events(what, content=self._content):
            sequence: Attributes = {"event.sequence": len(self.records)}
            time = _nanoseconds(what.time)
            self.records.append(
                {
                    "timeUnixNano": time,
                    "observedTimeUnixNano": time,
                    "severityNumber": _INFO,
                    "severityText": "INFO",
                    "body": {"stringValue": event.name},
                    "attributes": _attributes({**self._shared, **event.attributes, **sequence}),
                    "traceId": place.trace,
                    **({"spanId": place.parent} if place.parent else {}),
                    "eventName": event.name,
                }
            )


def _unlogged(step: AnswerStep) -> PricedRequest:
    """A request that nobody knows more of than that there was an answer."""
    return PricedRequest("", step.model, Usage(), step.time, None)


def _first_time(steps: Iterable[ExchangeStep]) -> datetime | None:
    return next((time for time in map(_step_time, steps) if time is not None), None)


def _step_time(step: ExchangeStep) -> datetime | None:
    if isinstance(step, PromptStep):
        return step.prompt.time
    return step.time if isinstance(step, AnswerStep) else step.block.time


def _milliseconds(started: datetime, ended: datetime) -> int:
    return max(0, (ended - started) // timedelta(milliseconds=1))


def _nanoseconds(time: datetime) -> str:
    """OTLP writes numbers of 64 bits as strings."""
    return str(max(0, (time - _EPOCH) // timedelta(microseconds=1)) * 1000)


def _attributes(values: Attributes) -> list[_Data]:
    return [{"key": name, "value": _value(value)} for name, value in values.items()]


def _value(value: AttributeValue) -> _Data:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
        case _:
            return {"stringValue": value}
