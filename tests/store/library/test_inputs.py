"""The same log from a file, a pipe or a web address, plain or packed, within limits."""

import gzip
import io
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from tests.log_builder.builder import LogBuilder
from tests.reading.reading import prompts, texts
from unspool.errors import FetchFailed, NotFound, Unreadable
from unspool.http import fetch
from unspool.store.library import Library, open_session


def built() -> LogBuilder:
    log = LogBuilder().prompt("go")
    return log.assistant(log.text("Done."))


LOG = built()
PLAIN = LOG.to_bytes()
PACKED = {
    "plain": PLAIN,
    "gzip": gzip.compress(PLAIN),
    "two gzip members": gzip.compress(PLAIN[:100]) + gzip.compress(PLAIN[100:]),
    "zstd": zstandard.compress(PLAIN),
    "two zstd frames": zstandard.compress(PLAIN[:100]) + zstandard.compress(PLAIN[100:]),
    "UTF-16": PLAIN.decode().encode("utf-16"),
}


@pytest.mark.parametrize("how", list(PACKED))
def test_a_file_is_unpacked_whatever_it_is_called(how: str, tmp_path: Path) -> None:
    path = tmp_path / "log.dat"
    path.write_bytes(PACKED[how])
    read = open_session(path)
    assert ([prompt.text for prompt in prompts(read)], texts(read)) == (["go"], ["Done."])


@pytest.mark.parametrize(("suffix", "how"), [(".jsonl.gz", "gzip"), (".jsonl.zst", "zstd")])
def test_packed_logs_are_found_among_the_others(suffix: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-p" / f"{LOG.session_id}{suffix}"
    path.parent.mkdir(parents=True)
    path.write_bytes(PACKED[how])
    there = Library([tmp_path])
    (shown,) = there.overviews()
    assert (shown.id, shown.turns) == (LOG.session_id, 1)
    assert texts(there.open(LOG.session_id)) == ["Done."]


@pytest.mark.parametrize("how", ["plain", "gzip", "zstd"])
def test_standard_input_is_read(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(PACKED[how]))))
    read = open_session("-")
    assert (read.id, texts(read)) == (LOG.session_id, ["Done."])


def test_standard_input_without_lines_is_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b""))))
    with pytest.raises(NotFound):
        open_session("-")


DAMAGED = {
    "gzip cut short": gzip.compress(PLAIN)[:-20],
    "no gzip at all": b"\x1f\x8bnot gzip at all",
    "gzip overwritten": gzip.compress(PLAIN)[:60] + b"\0" * 60,
    "zstd cut short": zstandard.compress(PLAIN * 2000)[:-20],
    "no zstd at all": b"\x28\xb5\x2f\xfdnot zstd",
}


@pytest.mark.parametrize("how", list(DAMAGED))
def test_a_damaged_archive_is_said_to_be_damaged(how: str, tmp_path: Path) -> None:
    path = tmp_path / "log.packed"
    path.write_bytes(DAMAGED[how])
    with pytest.raises(Unreadable):
        open_session(path)


def test_a_damaged_archive_among_others_fails_alone(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    (folder / f"{LOG.session_id}.jsonl").write_bytes(PLAIN)
    (folder / "bbbbbbbb-0000-4000-8000-000000000002.jsonl.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    (folder / "bbbbbbbb-0000-4000-8000-000000000003.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdnot zstd")
    listing = Library([tmp_path]).listing()
    assert LOG.session_id in {shown.id for shown in listing.overviews}
    assert len(listing.failures) + len(listing.overviews) == 3


HEARD_ALL: list[str] = []
"""Slow answers that somebody listened to until their end."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/log")
            self.end_headers()
            return
        body = {"/log": PLAIN, "/gz": PACKED["gzip"], "/big": b"x" * 3_000_000, "/slow": b"x" * 600}.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if self.path == "/slow":
            for _ in range(600):  # for a minute, unless nobody listens any more
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.1)
            HEARD_ALL.append(self.path)
            return
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("path", ["/log", "/gz", "/moved"])
def test_a_web_address_is_read(web: str, path: str) -> None:
    read = open_session(web + path)
    assert (read.id, texts(read), read.log.path) == (LOG.session_id, ["Done."], web + path)


def test_a_page_that_is_not_there_is_said_with_its_answer(web: str) -> None:
    with pytest.raises(FetchFailed, match="404"):
        open_session(f"{web}/nothing")


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(FetchFailed):
        fetch("http://127.0.0.1:9/log", seconds=2)


def test_more_bytes_than_the_limit_are_refused(web: str) -> None:
    with pytest.raises(FetchFailed, match="larger"):
        fetch(f"{web}/big", limit=1024 * 1024)


def test_a_body_of_just_the_limit_is_taken(web: str) -> None:
    assert len(fetch(f"{web}/big", limit=3_000_000)) == 3_000_000


def test_a_server_that_trickles_is_given_up_in_time(web: str) -> None:
    with pytest.raises(FetchFailed):
        fetch(f"{web}/slow", seconds=0.3)
    assert not HEARD_ALL, "it was waited for to the end"
