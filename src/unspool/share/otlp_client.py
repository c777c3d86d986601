"""Sends OTLP to a collector over HTTP, batch by batch, again where it is busy; what it refused is told."""

import gzip
import time
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

import msgspec

from unspool.errors import FetchFailed, UsageProblem
from unspool.http import HttpStatusError, checked_address, post

_PATHS = {"traces": "/v1/traces", "logs": "/v1/logs"}
_AGAIN = (429, 502, 503, 504)
"""Answers after which the protocol has a client try again."""
_TRIES, _LONGEST = 6, 30.0
_SECONDS = 60.0
_TOLD = 200
Wait = Callable[[float], None]


class OtlpReport(msgspec.Struct):
    """How a collector took what it was sent."""

    batches: int = 0
    refused: int = 0
    """Spans or records that it did not take."""
    said: dict[str, None] = {}
    """What it said of that, each once."""


class _Partial(msgspec.Struct, rename="camel"):
    rejected_spans: int | str = 0
    rejected_log_records: int | str = 0
    error_message: str = ""


class _Answer(msgspec.Struct, rename="camel"):
    partial_success: _Partial | None = None


class OtlpClient:
    """One collector. Plain http is for this machine alone, as with every service that may be given a secret."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None, wait: Wait = time.sleep) -> None:
        self._base = checked_address(address)
        for path in _PATHS.values():
            self._base = self._base.removesuffix(path)
        self._headers = dict(headers or {})
        self._wait = wait
        self.report = OtlpReport()

    def send(self, signal: str, lines: Iterable[object]) -> None:
        """Send batches of spans (`traces`) or records (`logs`); FetchFailed where the collector does not take them."""
        for line in lines:
            body = gzip.compress(msgspec.json.encode(line), mtime=0)
            self._hear(self._post(f"{self._base}{_PATHS[signal]}", body))
            self.report.batches += 1

    def _post(self, url: str, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip", "User-Agent": "unspool"}
        for number in range(1, _TRIES + 1):
            pause: float | None = None
            try:
                return post(url, headers | self._headers, body, _SECONDS)
            except HttpStatusError as answer:
                if 200 <= answer.code < 300:
                    return b""
                if answer.code not in _AGAIN or number == _TRIES:
                    told = answer.body.decode("utf-8", "replace")[:_TOLD].strip()
                    why = f": {told}" if told.isprintable() and told else ""
                    raise FetchFailed(f"{urlsplit(url).netloc} answered {answer.code}{why}.") from None
                pause = answer.pause
            except FetchFailed:
                if number == _TRIES:
                    raise
            self._wait(min(_LONGEST, pause if pause is not None else 2.0 ** (number - 1)))
        raise AssertionError("the last try ends it")

    def _hear(self, answer: bytes) -> None:
        """Take note of what a collector says that it left out."""
        try:
            partial = msgspec.json.decode(answer, type=_Answer, strict=False).partial_success if answer else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # an answer in another encoding still was one of success
        if partial is not None:
            self.report.refused += _count(partial.rejected_spans) + _count(partial.rejected_log_records)
            if partial.error_message:
                self.report.said[partial.error_message[:_TOLD]] = None


def _count(value: int | str) -> int:
    """OTLP writes numbers of 64 bits as strings."""
    return int(value) if str(value).isdecimal() else 0


def parse_headers(given: Iterable[str]) -> dict[str, str]:
    """Headers as they are given, `Name: value` or `Name=value`; UsageProblem for one that is none."""
    found: dict[str, str] = {}
    for one in given:
        at = min((place for place in (one.find(":"), one.find("=")) if place > 0), default=-1)
        name, value = one[:at].strip(), one[at + 1 :].strip()
        if at < 0 or not name.replace("-", "").isalnum() or not name.isascii() or not value.isprintable():
            raise UsageProblem("A header is given as NAME: VALUE, and one of those is not.")
        found[name] = value
    return found
