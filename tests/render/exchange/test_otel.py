"""OpenTelemetry spans, decoded by the protocol's own classes: past times, stable ids, the right parents, true sums."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.agents.stories import STORIES
from tests.log_builder.builder import LogBuilder
from tests.render.build import everything, session
from tests.render.exchange.given import PRICES, WHOLE, damaged, demo, real_logs
from unspool.agents import by_id
from unspool.figures import figures
from unspool.model import Session
from unspool.render.exchange.otel import OtelWriter
from unspool.store.library import Library

_IDS = ("traceId", "spanId", "parentSpanId")


def as_proto(value: Any) -> Any:
    """OTLP writes ids in hex where the JSON of protocol buffers has base64."""
    if isinstance(value, list):
        return [as_proto(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in _IDS else as_proto(one)
        for key, one in value.items()
    }


def decoded(one: Session, writer: OtelWriter | None = None) -> list[Any]:
    """All spans, as a collector reads them."""
    found: list[Any] = []
    for line in b"".join((writer or OtelWriter()).chunks(one, WHOLE)).splitlines():
        request = ParseDict(as_proto(json.loads(line)), ExportTraceServiceRequest())
        for resource in request.resource_spans:
            assert attributes(resource.resource)["service.name"] == one.agent
            found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


def attributes(of: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in of.attributes}


def named(spans: list[Any], name: str) -> list[Any]:
    return [span for span in spans if span.name.split()[0] == name]


def mended(folder: Path) -> Session:
    """Two prompts, a command, and a subagent with a command of its own."""
    log = LogBuilder(session_id="0a11ce00-0000-4000-8000-000000000001", cwd="/quay", model="claude-sonnet-4-5")
    log.prompt("Mend the quay").assistant(log.text("I look."))
    log.ran("make", "done")
    log.assistant(use := log.agent_use("explorer", "Look around", "Look"))
    log.subagent(use, "explorer", "Look around", lambda child: child.ran("ls", "a\n").assistant(child.text("Seen.")))
    log.assistant(log.text("Mended.")).prompt("And the lighthouse").assistant(log.text("Lit."))
    return Library([folder]).open(log.write(folder))


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    return demo(tmp_path_factory.mktemp("demo"))


def test_a_prompt_is_a_trace_with_its_requests_tools_and_subagents_inside(tmp_path: Path) -> None:
    spans = decoded(mended(tmp_path))
    by_id_ = {span.span_id: span for span in spans}
    roots = [span for span in spans if not span.parent_span_id]
    assert [span.name for span in roots] == ["invoke_agent claude-code"] * 2
    assert len({span.trace_id for span in roots}) == 2
    (inner,) = [span for span in named(spans, "invoke_agent") if span.parent_span_id]
    above = by_id_[inner.parent_span_id]
    assert (inner.name, above.name) == ("invoke_agent explorer", "execute_tool Agent")
    below = [span.name for span in spans if span.parent_span_id == inner.span_id]
    assert below == ["chat claude-sonnet-4-5", "execute_tool Bash", "chat claude-sonnet-4-5"]


def test_spans_happen_when_the_session_did(tmp_path: Path) -> None:
    one = mended(tmp_path)
    spans = decoded(one)
    assert one.started is not None
    assert one.ended is not None
    first, last = min(span.start_time_unix_nano for span in spans), max(span.end_time_unix_nano for span in spans)
    assert datetime.fromtimestamp(first / 1e9, UTC) == one.turns[0].started
    assert datetime.fromtimestamp(last / 1e9, UTC) == one.ended
    by_id_ = {span.span_id: span for span in spans}
    for span in spans:
        assert span.start_time_unix_nano <= span.end_time_unix_nano
        if span.parent_span_id:
            assert by_id_[span.parent_span_id].start_time_unix_nano <= span.start_time_unix_nano
    asked = next(turn.prompt for turn in one.turns if turn.prompt is not None)
    chat = named(spans, "chat")[0]
    assert asked.time is not None
    assert chat.start_time_unix_nano == round(asked.time.timestamp() * 1e6) * 1000  # a request lasts from the prompt on


def check_tree(spans: list[Any]) -> None:
    ids = [span.span_id for span in spans]
    assert len(set(ids)) == len(ids)
    traces = {span.span_id: span.trace_id for span in spans}
    for span in spans:
        assert (len(span.trace_id), len(span.span_id)) == (16, 8)
        assert not span.parent_span_id or traces[span.parent_span_id] == span.trace_id


def check_sums(one: Session, spans: list[Any]) -> None:
    chats = [attributes(span) for span in named(spans, "chat")]
    counted = figures(one, PRICES)
    used = counted.usage + counted.agents_usage
    prefix = "gen_ai.usage"
    assert sum(chat.get(f"{prefix}.input_tokens", 0) for chat in chats) == used.context
    assert sum(chat.get(f"{prefix}.output_tokens", 0) for chat in chats) == used.output
    assert sum(chat.get(f"{prefix}.cache_read.input_tokens", 0) for chat in chats) == used.cache_read
    assert sum(chat.get(f"{prefix}.cost", 0) for chat in chats) == pytest.approx(float(counted.cost.amount))
    for name in ("invoke_agent", "execute_tool"):
        assert not [key for span in named(spans, name) for key in attributes(span) if key.startswith(prefix)]


def test_what_was_used_stands_on_requests_alone_and_adds_up_to_info(sessions: list[Session]) -> None:
    for one in sessions:
        spans = decoded(one)
        check_tree(spans)
        check_sums(one, spans)


def test_real_logs_add_up_to_info(shared: Path) -> None:
    for library, log in real_logs(shared, 4):
        one = library.open(log)
        spans = decoded(one)
        check_tree(spans)
        check_sums(one, spans)


def test_damaged_logs_make_sound_traces(tmp_path: Path) -> None:
    for one in (*damaged(tmp_path, 24), everything(), session()):
        check_tree(decoded(one))


def test_what_nobody_logged_is_not_zero(tmp_path: Path) -> None:
    """An agent that logs no tokens has requests without usage."""
    STORIES["kiro"].write(tmp_path)
    library = Library([tmp_path])
    chats = named(decoded(library.open(library.logs()[0])), "chat")
    assert all(not key.startswith("gen_ai.usage") for chat in chats for key in attributes(chat))


def test_both_generations_of_names_are_there(tmp_path: Path) -> None:
    chat = attributes(named(decoded(mended(tmp_path)), "chat")[0])
    assert chat["gen_ai.provider.name"] == chat["gen_ai.system"] == "anthropic"
    assert chat["session.id"] == chat["gen_ai.conversation.id"]
    pair = ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens")
    assert chat[pair[0]] == chat[pair[1]]
    assert chat["gen_ai.operation.name"] == "chat"


def test_the_same_session_has_the_same_ids_and_a_longer_one_keeps_them(tmp_path: Path) -> None:
    one = mended(tmp_path)
    ids = [(span.trace_id, span.span_id) for span in decoded(one)]
    assert ids == [(span.trace_id, span.span_id) for span in decoded(one)]
    shorter = msgspec.structs.replace(one, turns=one.turns[:-1])
    before = [(span.trace_id, span.span_id) for span in decoded(shorter) if span.name != "chat claude-sonnet-4-5"]
    assert set(before) <= set(ids)


def test_words_are_told_only_where_they_are_wanted(tmp_path: Path) -> None:
    one = mended(tmp_path)
    plain = b"".join(OtelWriter().chunks(one, WHOLE)).decode()
    assert not [words for words in ("Mend the quay", "I look.", "make", "Mended.", "Look around") if words in plain]
    spans = decoded(one, OtelWriter(content=True))
    first = attributes(named(spans, "chat")[0])
    assert json.loads(first["gen_ai.input.messages"])[-1]["parts"][0]["content"] == "Mend the quay"
    assert json.loads(first["gen_ai.output.messages"])[0]["parts"][0] == {"type": "text", "content": "I look."}
    tool = attributes(named(spans, "execute_tool")[0])
    assert json.loads(tool["gen_ai.tool.call.arguments"])["command"] == "make"


def test_a_call_that_failed_is_an_error(sessions: list[Session]) -> None:
    failed = [call for one in sessions for span in decoded(one) if span.status.code == 2 for call in [attributes(span)]]
    assert failed
    assert {call["error.type"] for call in failed} <= {"failed", "refused", "interrupted", "unanswered"}


def test_copied_history_is_told_by_the_session_that_paid_it(tmp_path: Path) -> None:
    log = LogBuilder(session_id="0a11ce00-0000-4000-8000-000000000001", cwd="/quay", model="claude-sonnet-4-5")
    log.prompt("Mend the quay").assistant(log.text("Mended."))
    other = log.copied("0a11ce00-0000-4000-8000-000000000002", fork=True)
    other.prompt("And the lighthouse").assistant(other.text("Lit."))
    log.write(tmp_path)
    fork = Library([tmp_path]).open(other.write(tmp_path))
    check_sums(fork, decoded(fork))
    assert [turn.copied for turn in fork.turns] == [True, False]
    numbers = {attributes(span).get("unspool.turn") for span in named(decoded(fork), "invoke_agent")}
    assert not numbers & {turn.number for turn in fork.turns if turn.copied}


def test_times_that_are_missing_are_lent(tmp_path: Path) -> None:
    """An agent that logs no times still makes spans, at the time of its log."""
    one = mended(tmp_path)
    bare = msgspec.convert(without_times(msgspec.to_builtins(one)), Session)
    spans = decoded(bare)
    check_tree(spans)
    assert {span.start_time_unix_nano for span in spans} == {0}


def without_times(value: Any) -> Any:
    times = ("time", "started", "ended", "modified")
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in times}
    return [without_times(one) for one in value] if isinstance(value, list | tuple) else value


class TestLikeTheAgent:
    """The names that Claude Code itself has for the same."""

    names = by_id("claude-code").telemetry

    def test_spans_have_its_names_and_figures(self, tmp_path: Path) -> None:
        assert self.names is not None
        one = mended(tmp_path)
        spans = decoded(one, OtelWriter(names=self.names))
        check_tree(spans)
        assert {span.name for span in spans} == {
            "claude_code.interaction", "claude_code.llm_request", "claude_code.tool",
        }  # fmt: skip
        requests = [attributes(span) for span in spans if span.name == "claude_code.llm_request"]
        counted = figures(one, PRICES)
        for name, field in (
            ("input_tokens", "input"),
            ("output_tokens", "output"),
            ("cache_read_tokens", "cache_read"),
        ):
            both = getattr(counted.usage, field) + getattr(counted.agents_usage, field)
            assert sum(request[name] for request in requests) == both
        assert {request["query_source"] for request in requests} == {"main", "subagent"}

    def test_events_are_records_of_their_own(self, tmp_path: Path) -> None:
        assert self.names is not None
        one = mended(tmp_path)
        records: list[Any] = []
        for line in b"".join(OtelWriter(names=self.names, signal="logs").chunks(one, WHOLE)).splitlines():
            request = ParseDict(as_proto(json.loads(line)), ExportLogsServiceRequest())
            records += [r for group in request.resource_logs for scope in group.scope_logs for r in scope.log_records]
        told = [attributes(record)["event.name"] for record in records]
        counted = figures(one, PRICES)
        assert told.count("user_prompt") == 2
        assert told.count("tool_result") == counted.tool_calls + counted.agent_tool_calls
        cost = sum(attributes(record).get("cost_usd", 0) for record in records)
        assert cost == pytest.approx(float(counted.cost.amount))
        assert [attributes(record)["event.sequence"] for record in records] == list(range(len(records)))
        assert not any("prompt" in attributes(record) for record in records)
