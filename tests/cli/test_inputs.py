"""Logs from elsewhere: standard input, a URL, packed files, exports of other shapes."""

import gzip
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import zstandard

from tests.cli.running import finished, run, source, talk

LOG = talk("Where do gulls sleep?", "abcabcab-0000-4000-8000-000000000001").to_bytes()
LINES = [json.loads(line) for line in LOG.splitlines()]


class Handler(BaseHTTPRequestHandler):
    """Gives the log at /log, leads there from /moved, and knows nothing else."""

    def do_GET(self) -> None:
        status = {"/log": 200, "/moved": 302}.get(self.path, 404)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/log")
        self.end_headers()
        if status == 200:
            self.wfile.write(LOG)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """The address of a server on this machine."""
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


SHAPES = {
    "lines": LOG,
    "gzip": gzip.compress(LOG),
    "zstd": zstandard.compress(LOG),
    "web export": json.dumps({"loglines": LINES}).encode(),
    "bare array": json.dumps(LINES).encode(),
    "byte-order mark": b"\xef\xbb\xbf" + LOG,
    "CRLF": LOG.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_standard_input(shape: str) -> None:
    """`-` reads a log of any shape, plain or packed, from standard input."""
    done = run("show", "-", stdin=SHAPES[shape])
    assert done.code == 0, done.err
    assert done.out.startswith("Where do gulls sleep?\n")
    assert "Aye." in done.out


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_of_any_shape(shape: str, tmp_path: Path) -> None:
    """A path reads the same, whatever the file is called."""
    path = tmp_path / "log.json"
    path.write_bytes(SHAPES[shape])
    assert run("show", str(path), "--no-thinking").out.startswith("Where do gulls sleep?\n")


def test_standard_input_of_a_process() -> None:
    """The same in a real pipe, to info and to export."""
    assert "abcabcab" in finished("info", "-", stdin=LOG).out
    assert finished("export", "-", "-f", "json", stdin=LOG).out.startswith('{"schema"')


def test_nothing_on_standard_input() -> None:
    """An empty log ends with 3 and a sentence."""
    done = run("show", "-", stdin=b"")
    assert done.code == 3
    assert "Traceback" not in done.err


@pytest.mark.parametrize("data", [b"no log at all\n", b'{"name": "x"}', b'[{"sessionId": "x"}]', b"\0"])
@pytest.mark.parametrize("command", ["show", "info", "export", "json -o OUT", "lint", "clone -n"])
def test_what_no_known_agent_wrote_is_refused_with_a_sentence(command: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "thing.json"
    path.write_bytes(data)
    name, *more = (str(tmp_path / "out") if word == "OUT" else word for word in command.split())
    done = run(name, str(path), *more)
    assert (done.code, done.out) == (14, "")
    said = "holds no session of an agent that unspool knows; `unspool agents` lists them."
    assert done.err == f"unspool: {path} {said}\n"


def test_what_comes_by_standard_input_is_judged_alike() -> None:
    done = run("show", "-", stdin=b"not a log at all\n")
    assert done.code == 14


@pytest.mark.parametrize("command", [("show",), ("info",), ("export", "-f", "text"), ("clone", "-n"), ("lint",)])
def test_a_bundle_of_ours_is_a_session_wherever_one_is_asked_for(command: tuple[str, ...], tmp_path: Path) -> None:
    log = talk("Where do gulls sleep?")
    bundle = tmp_path / "gulls.tar.gz"
    assert run("share", log.session_id, *source(tmp_path, log), "--bundle", "-o", str(bundle), "--yes").code == 0
    name, *more = command
    done = run(name, str(bundle), *more)
    assert done.code == 0, done.err
    assert "\0" not in done.out
    assert "gulls" in done.out or name in ("clone", "lint")


def test_a_session_that_was_exported_as_json_is_read_back(tmp_path: Path) -> None:
    log = talk("Where do gulls sleep?")
    path = tmp_path / "gulls.json"
    assert run("export", log.session_id, *source(tmp_path, log), "-o", str(path)).code == 0
    done = run("show", str(path))
    assert done.code == 0, done.err
    assert "Where do gulls sleep?" in done.out


def test_an_archive_is_a_source(tmp_path: Path) -> None:
    log = talk("Where do gulls sleep?")
    where = source(tmp_path / "logs", log)
    assert run("sync", *where, "--archive", str(tmp_path / "kept")).code == 0
    shutil.rmtree(tmp_path / "logs")
    done = run("show", log.session_id, "--source", str(tmp_path / "kept"))
    assert done.code == 0, done.err
    assert "Where do gulls sleep?" in done.out


@pytest.mark.parametrize("path", ["/log", "/moved"])
def test_a_url(path: str) -> None:
    """An address is fetched, redirects included."""
    with served() as address:
        done = run("show", address + path)
    assert done.code == 0, done.err
    assert done.out.startswith("Where do gulls sleep?\n")


def test_a_url_that_gives_none() -> None:
    """An address that answers with an error ends with 6 and says what it answered."""
    with served() as address:
        done = run("info", f"{address}/elsewhere")
    assert done.code == 6
    assert done.err == f"unspool: {address}/elsewhere answered 404 Not Found.\n"


def test_an_address_nobody_answers() -> None:
    """A server that is not there ends with 6."""
    done = run("info", "http://127.0.0.1:1/log")
    assert done.code == 6
    assert done.err.startswith("unspool: http://127.0.0.1:1/log could not be fetched: ")


@pytest.mark.parametrize("command", ["info", "lint", "clone -n", "fork -n --at 1"])
def test_a_log_that_begins_with_a_very_long_line_is_known_all_the_same(command: str, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(talk("x" * 600_000).to_bytes())
    name, *more = command.split()
    done = run(name, str(path), *more)
    assert done.code == 0, done.err
