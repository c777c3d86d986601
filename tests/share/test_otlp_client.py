"""Spans sent to a collector on the loopback: packed, with headers, again where it is busy; what it refuses is told."""

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

import pytest

from unspool.errors import FetchFailed, UsageProblem
from unspool.share.otlp_client import OtlpClient, parse_headers

LINE: dict[str, list[Any]] = {"resourceSpans": []}


class Answer(NamedTuple):
    code: int = 200
    body: bytes = b"{}"
    retry_after: str = ""


class Collector:
    """Takes what is sent, and answers as it was told, then well."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.address = ""


@pytest.fixture
def collector() -> Iterator[Collector]:
    told = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            told.seen.append((self.path, headers, json.loads(gzip.decompress(data))))
            answer = told.answers.pop(0) if told.answers else Answer()
            self.send_response(answer.code)
            if answer.retry_after:
                self.send_header("Retry-After", answer.retry_after)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        told.address = f"http://127.0.0.1:{server.server_port}"
        yield told
        server.shutdown()


def test_a_batch_is_posted_packed_with_the_headers_asked_for(collector: Collector) -> None:
    client = OtlpClient(f"{collector.address}/api/otel/", {"Authorization": "Basic eDp5"})
    client.send("traces", [LINE, LINE])
    client.send("logs", [{"resourceLogs": []}])
    assert [path for path, _, _ in collector.seen] == ["/api/otel/v1/traces"] * 2 + ["/api/otel/v1/logs"]
    _, headers, body = collector.seen[0]
    assert body == LINE
    assert (headers["content-type"], headers["content-encoding"]) == ("application/json", "gzip")
    assert headers["authorization"] == "Basic eDp5"
    assert client.report.batches == 3


def test_an_address_with_the_path_of_a_signal_is_the_same(collector: Collector) -> None:
    OtlpClient(f"{collector.address}/v1/traces").send("logs", [LINE])
    assert collector.seen[0][0] == "/v1/logs"


def test_a_busy_collector_is_asked_again_when_it_said(collector: Collector) -> None:
    collector.answers = [Answer(503, retry_after="7"), Answer(429), Answer(502)]
    waited: list[float] = []
    OtlpClient(collector.address, wait=waited.append).send("traces", [LINE])
    assert waited == [7.0, 2.0, 4.0]
    assert len(collector.seen) == 4


def test_a_collector_that_stays_busy_is_an_error(collector: Collector) -> None:
    collector.answers = [Answer(503)] * 20
    with pytest.raises(FetchFailed, match="answered 503"):
        OtlpClient(collector.address, wait=lambda _: None).send("traces", [LINE])
    assert len(collector.seen) == 6


def test_a_refusal_is_told_at_once(collector: Collector) -> None:
    collector.answers = [Answer(400, b"no such tenant")]
    with pytest.raises(FetchFailed, match="answered 400: no such tenant"):
        OtlpClient(collector.address, wait=lambda _: None).send("traces", [LINE])
    assert len(collector.seen) == 1


def test_what_a_collector_left_out_is_told(collector: Collector) -> None:
    """Numbers of 64 bits are strings in OTLP; an answer in another encoding is still one of success."""
    partial = {"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}
    collector.answers = [Answer(body=json.dumps(partial).encode()), Answer(body=b"\x0a\x02"), Answer(202, b"")]
    client = OtlpClient(collector.address)
    client.send("traces", [LINE] * 3)
    assert (client.report.refused, list(client.report.said), client.report.batches) == (3, ["too old"], 3)


@pytest.mark.parametrize("address", ["http://collector.example:4318", "ftp://localhost", "https://a:b@c.example", "x"])
def test_nothing_is_sent_where_others_could_read_it(address: str) -> None:
    with pytest.raises(UsageProblem):
        OtlpClient(address)


def test_headers_are_given_as_people_write_them() -> None:
    assert parse_headers(["Authorization: Bearer a=b", "x-key=v:w"]) == {"Authorization": "Bearer a=b", "x-key": "v:w"}
    for wrong in ("nothing", ": x", "a\nb: c", "a: b\r\nc: d"):
        with pytest.raises(UsageProblem):
            parse_headers([wrong])
