"""The quick way to the requests of a log finds what the parser finds: on whole, strange and damaged logs."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.mutate import mutant
from tests.log_builder import demo_sessions
from tests.log_builder.builder import LogBuilder
from tests.log_builder.story.requests import advised, watched
from tests.reading.reading import FORMAT, stream
from unspool.model import Call
from unspool.model.events import calls_in
from unspool.reading.ledger import CallLedger
from unspool.store.library.inputs import open_log


def quick(data: bytes) -> list[Call]:
    ledger = CallLedger()
    ledger.add(FORMAT.billed_calls(stream(data)))
    return list(ledger)


def parsed(data: bytes) -> list[Call]:
    ledger = CallLedger()
    ledger.add(calls_in(FORMAT.events(stream(data))))
    return list(ledger)


def line(**changes: Any) -> dict[str, Any]:
    """An assistant's line as the agent writes it."""
    usage = {
        "input_tokens": 3, "output_tokens": 40, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 6000,
        "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 5000},
        "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 2}, "service_tier": "standard",
    }  # fmt: skip
    message = {"id": "msg_1", "model": "opus", "role": "assistant", "usage": {**usage, **changes.pop("usage", {})}}
    message |= changes.pop("message", {})
    return {"type": "assistant", "uuid": "u1", "requestId": "req_1", "timestamp": "2026-01-05T12:00:00.500Z",
            "message": message, **changes}  # fmt: skip


def written(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in lines)


def test_a_request_is_found_with_all_its_figures() -> None:
    (call,) = quick(written(line(message={"stop_reason": "end_turn"})))
    used = call.usage
    assert (used.input, used.output, used.cache_read, used.cache_write, used.cache_write_1h) == (3, 40, 500, 6000, 5000)
    assert (used.web_searches, used.web_fetches, used.floor, call.model) == (1, 2, False, "opus")
    assert call.time is not None
    assert call.time.isoformat() == "2026-01-05T12:00:00.500000+00:00"


def each(name: str, *values: Any) -> list[dict[str, Any]]:
    """A line a value of a figure, each of another request."""
    return [line(usage={name: value}, requestId=f"r{number}") for number, value in enumerate(values)]


STRANGE: list[list[dict[str, Any]]] = [
    [line(), line(uuid="u2", timestamp="2026-01-05T12:00:01.500Z"), line(usage={"output_tokens": 90})],
    [line(timestamp="2026-01-05T12:00:09.500Z"), line(timestamp="2026-01-05T12:00:00.500Z")],
    [line(timestamp="2026-01-05T12:00:00+02:00"), line(timestamp="2026-01-05T11:00:00+00:00")],
    [line(timestamp="2026-01-05T12:00:00"), line(timestamp=1767614400000), line(timestamp=None), line(timestamp="x")],
    [line(message={"id": None}), line(message={"id": None}, uuid="u2"), line(message={"id": 5}, uuid="u3")],
    [line(message={"id": None}, uuid=None), line(message={"id": ""}, uuid=None), line(uuid=7)],
    [line(requestId=None), line(requestId="req_2"), line(requestId="req_3"), line(requestId=8)],
    [line(message={"model": "<synthetic>"}), line(message={"model": None}), line(message={"model": 4})],
    [line(message={"usage": None}), line(message={"usage": []}), line(message={"usage": "much"})],
    each("input_tokens", -4, 2.7, True, "9", None, 2**60, 2**70, 1e300, []),
    each("cache_creation", None, [], "x", {"ephemeral_1h_input_tokens": "4"}, {}),
    each("server_tool_use", None, [], {"web_search_requests": 3.0}),
    [line(usage={"speed": "fast", "service_tier": "batch", "inference_geo": "us"}), line(requestId="r")],
    [line(usage={"speed": "standard", "service_tier": 3, "inference_geo": "global"})],
    [line(message={"stop_reason": 5}), line(message={"stop_reason": ""}), line(message={"stop_reason": "tool_use"})],
    [{**line(), "message": None}, line(type="user"), line(type=["assistant"]), line(type="progress"), {"usage": 1}],
    [{"type": "user", "uuid": "u9", "toolUseResult": {"usage": {"input_tokens": 9}, "text": 'a "usage" b'}}, line()],
    [line(session_id="s", requestId="a"), line(isApiErrorMessage=True, requestId="b"), line(isSidechain=True)],
]  # fmt: skip


@pytest.mark.parametrize("lines", STRANGE, ids=range(len(STRANGE)))
def test_lines_of_a_strange_shape_count_as_the_parser_counts_them(lines: list[dict[str, Any]]) -> None:
    data = written(line(requestId="first", message={"id": "msg_0"}), *lines, line(message={"id": "msg_9"}))
    assert quick(data) == parsed(data)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n\n", b'"usage"', written(line())[:-1], written(line())[:-40], b"\xef\xbb\xbf" + written(line()),
        written(line())[:-1] + written(line(requestId="glued")), b"\0\0" + written(line()) + b"\0\0",
        written(line()).replace(b"\n", b"\r\n"), written(line()).replace(b"opus", b"\xff\xfe"),
        written(line()).replace(b"opus", b"\\ud800"), json.dumps([line(), line(requestId="2")]).encode(),
        json.dumps({"loglines": [line()]}, indent=1).encode(), b"[1, 2\n" + written(line()),
        b"{\n" + written(line()), written(line()) + b'{"type":"assistant","message":{"usage":{"input',
    ],
)  # fmt: skip
def test_bytes_that_are_no_plain_lines_count_as_the_parser_counts_them(data: bytes) -> None:
    assert quick(data) == parsed(data)


@pytest.mark.parametrize("log", [advised(), watched()], ids=["advised", "watched"])
def test_requests_beside_the_conversation_count_as_the_parser_counts_them(log: LogBuilder) -> None:
    data, logged = log.to_bytes(), {child.agent for child in log.children}
    ledger, whole = CallLedger(), CallLedger()
    ledger.add(FORMAT.billed_calls(stream(data), logged))
    whole.add(calls_in(FORMAT.events(stream(data)), logged))
    assert list(ledger) == list(whole)
    assert len(list(ledger)) == {"advised": 6, "watched": 7}[log.seed]


class Slow(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def readinto(self, buffer: Any, /) -> int:
        return super().readinto(memoryview(buffer)[: self._step])


@pytest.mark.parametrize("step", [1, 7, 100, 1000, 5000])
def test_lines_that_come_in_pieces_are_whole(step: int) -> None:
    data = written(*(line(requestId=f"r{number}", uuid="u" * number) for number in range(40)))
    ledger = CallLedger()
    ledger.add(FORMAT.billed_calls(Slow(data, step)))
    assert list(ledger) == parsed(data)


@pytest.mark.parametrize("step", [100_000, 700_000, 3_000_000])
def test_lines_longer_than_a_piece_are_whole(step: int) -> None:
    content = [{"type": "text", "text": "x" * 1_500_000}]
    lines = [line(requestId=f"r{number}", message={"content": content[: number % 2]}) for number in range(5)]
    data = written(*lines).removesuffix(b"\n")
    ledger = CallLedger()
    ledger.add(FORMAT.billed_calls(Slow(data, step)))
    assert list(ledger) == parsed(data)
    assert len(ledger) == 5


def test_copies_of_a_line_are_told_once() -> None:
    copies = [line(uuid=f"u{number}", timestamp=f"2026-01-05T12:00:0{number}.500Z") for number in range(9)]
    assert len(list(FORMAT.billed_calls(io.BytesIO(written(*copies))))) == 1


LOGS = [log.to_bytes() for log in demo_sessions()]


def piece(log: bytes, random: Random) -> bytes:
    """Some lines of a log that follow each other."""
    lines = log.splitlines(keepends=True)
    at = random.randrange(len(lines))
    return b"".join(lines[at : at + 25])


@given(st.integers(0, 2**32), st.integers(0, len(LOGS) - 1))
def test_damaged_logs_count_as_the_parser_counts_them(seed: int, number: int) -> None:
    random = Random(seed)
    data = mutant(piece(LOGS[number], random), random)
    assert quick(data) == parsed(data)


def test_real_logs_count_as_the_parser_counts_them(shared: Path) -> None:
    _compare(shared / "corpora" / "claude")


def test_made_logs_count_as_the_parser_counts_them(made_corpus: Callable[[int, int], Path]) -> None:
    _compare(made_corpus(1, 5))


def _compare(folder: Path) -> None:
    logs = sorted(folder.rglob("*.jsonl"))
    found = 0
    for path in logs:
        ledger, quickly = CallLedger(), CallLedger()
        with open_log(str(path)) as log:
            ledger.add(calls_in(FORMAT.events(log)))
        with open_log(str(path)) as log:
            quickly.add(FORMAT.billed_calls(log))
        assert list(quickly) == list(ledger), path
        found += len(ledger)
    assert found > 100
