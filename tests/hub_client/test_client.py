"""Requests to a hub, against a server that misbehaves as it is told."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from unspool.errors import Declined, FetchFailed, NotAllowed, NotFound
from unspool.hub_client.client import HubClient, UploadBody
from unspool.hub_client.login import HubEntry, parse_address


class Script:
    """What a server answers, one after the other, and what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, bytes, dict[str, str]] | None] = []
        """None closes the connection without an answer."""
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.connections = 0
        self.port = 0

    def client(self) -> HubClient:
        self.waits: list[float] = []
        return HubClient(
            parse_address(f"http://127.0.0.1:{self.port}/team"), HubEntry("uns_secret"), pause=self.waits.append
        )


@pytest.fixture
def script() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            script.connections += 1
            super().setup()

        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            script.seen.append((self.command, self.path, dict(self.headers.items()), self.rfile.read(size)))
            answer = script.answers.pop(0) if script.answers else (200, b"{}", {})
            if answer is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, body, headers = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield script
    server.shutdown()
    server.server_close()
    thread.join()


def test_json_goes_and_comes_with_the_token_on_one_connection(script: Script) -> None:
    script.answers = [(200, b'{"name": "ann"}', {}), (201, b"[1]", {})]
    client = script.client()
    assert client.ask("GET", "/api/me") == {"name": "ann"}
    assert client.ask("POST", "/api/x", {"a": 1}) == [1]
    (_, path, headers, _), (_, _, _, body) = script.seen
    assert path == "/team/api/me"
    assert headers["Authorization"] == "Bearer uns_secret"
    assert body == b'{"a":1}'
    assert script.connections == 1
    client.close()


def test_a_busy_hub_is_waited_for_as_long_as_it_says(script: Script) -> None:
    script.answers = [(429, b"{}", {"Retry-After": "7"}), (503, b"{}", {}), (200, b"3", {})]
    client = script.client()
    assert client.ask("GET", "/x") == 3
    assert script.waits[0] == 7
    assert 0 < script.waits[1] <= 1
    client.close()


def test_a_lost_connection_is_made_again_and_the_file_sent_from_its_beginning(script: Script, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 200_000)
    script.answers = [None, None, (200, b"{}", {})]
    client = script.client()
    client.send("PUT", "/x", UploadBody(tmp_path / "file", "application/gzip"))
    assert [len(body) for *_, body in script.seen] == [200_000] * 3
    assert len(script.waits) == 2
    client.close()


def test_patience_ends_and_the_waits_grow(script: Script) -> None:
    script.answers = [(503, b'{"error": "x", "reason": "The database rests."}', {})] * 20
    with pytest.raises(FetchFailed, match="The database rests"):
        script.client().ask("GET", "/x")
    assert len(script.seen) == 6
    assert len(script.waits) == 5
    assert all(later > earlier / 2 for earlier, later in pairwise(script.waits))


def test_nobody_there_is_told_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = HubClient(parse_address(f"http://127.0.0.1:{port}"), pause=lambda _: None)
    with pytest.raises(FetchFailed, match="cannot be reached"):
        client.ask("GET", "/x")


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, NotAllowed), (403, NotAllowed), (404, NotFound), (400, Declined), (409, Declined), (413, Declined),
     (422, Declined), (507, Declined), (500, FetchFailed), (302, FetchFailed)],
)  # fmt: skip
def test_what_a_hub_refuses_is_raised_in_its_own_words_at_once(
    script: Script, status: int, error: type[Exception]
) -> None:
    script.answers = [(status, b'{"error": "Phrase", "reason": "Because so."}', {"Location": "http://evil.example"})]
    with pytest.raises(error, match="Because so"):
        script.client().ask("GET", "/x")
    assert len(script.seen) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"reason": 3}', b"\xff"])
def test_an_error_that_says_nothing_is_told_by_its_number(script: Script, body: bytes) -> None:
    script.answers = [(400, body, {})]
    with pytest.raises(Declined, match="answered 400"):
        script.client().ask("GET", "/x")


def test_an_answer_that_is_no_json_is_no_hubs(script: Script) -> None:
    script.answers = [(200, b"<html>hello</html>", {})]
    client = script.client()
    with pytest.raises(FetchFailed, match="no JSON"):
        client.ask("GET", "/x")
    client.close()


def test_a_token_is_not_sent_where_others_can_read_it() -> None:
    open_address = parse_address("http://hub.example")
    with pytest.raises(NotAllowed, match="--insecure"):
        HubClient(open_address, HubEntry("uns_secret"))
    HubClient(open_address)
    HubClient(open_address, HubEntry("uns_secret", insecure=True))


def test_a_rate_is_kept(script: Script, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    pauses: list[float] = []
    client = HubClient(parse_address(f"http://127.0.0.1:{script.port}"), rate=600_000, pause=pauses.append)
    client.send("PUT", "/x", UploadBody(tmp_path / "file", "application/gzip"))
    assert sum(pauses) == pytest.approx(0.5)
    assert max(pauses) < 0.3  # a little after each piece, not all at the end
    client.close()


@pytest.fixture
def impostor(tmp_path: Path) -> Iterator[int]:
    """The port of a server whose certificate nobody signed."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl: it makes the certificate of a server that is not to be trusted")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_hub_that_does_not_prove_who_it_is_gets_no_token(impostor: int) -> None:
    waits: list[float] = []
    client = HubClient(parse_address(f"https://localhost:{impostor}"), HubEntry("uns_secret"), pause=waits.append)
    with pytest.raises(FetchFailed, match="does not prove who it is"):
        client.ask("GET", "/x")
    assert waits == []
