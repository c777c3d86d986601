"""`unspool hub` as a user starts it: a real process, a real port, an end that lets go of nothing."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.hub.running import Client, started
from tests.waiting import PATIENCE


def test_a_first_start_prints_the_owners_token_once(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        assert first.client.get("/api/me").json["admin"] is True
    with started(tmp_path) as second:
        assert second.token == ""
        assert second.client.as_(first.token).get("/api/me").status == 200


def test_what_it_keeps_is_private(tmp_path: Path) -> None:
    with started(tmp_path / "hub"):
        pass
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "hub").rglob("*")} == {0}
    assert (tmp_path / "hub").stat().st_mode & 0o077 == 0


def test_asked_to_end_it_answers_what_has_begun(tmp_path: Path) -> None:
    with started(tmp_path) as hub:
        answers: list[int] = []
        begun, go_on = threading.Event(), threading.Event()
        slow = threading.Thread(target=lambda: answers.append(_slowly(hub.client, begun, go_on)))
        slow.start()
        assert begun.wait(PATIENCE)
        hub.process.send_signal(signal.SIGTERM)
        go_on.set()
        slow.join(PATIENCE)
        assert hub.process.wait(PATIENCE) == 0
    assert answers == [200]


def _slowly(client: Client, begun: threading.Event, go_on: threading.Event) -> int:
    """A form whose body comes by half before the hub is asked to end, and by half after."""
    body = b"label=slow"
    with socket.create_connection(("127.0.0.1", client.port), PATIENCE) as line:
        line.sendall(
            b"POST /me/tokens HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer " + client.token.encode()
            + b"\r\nConnection: close\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n"
        )  # fmt: skip
        line.sendall(body[:5])
        assert client.get("/healthz").status == 200  # what was sent before has been read by now
        begun.set()
        assert go_on.wait(PATIENCE)
        line.sendall(body[5:])
        return int(line.recv(65536).split()[1])


def test_ctrl_c_ends_it_with_130(tmp_path: Path) -> None:
    with started(tmp_path) as hub:
        hub.process.send_signal(signal.SIGINT)
        assert hub.process.wait(PATIENCE) == 130


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with started(tmp_path / "one") as hub:
        again = subprocess.run(
            [sys.executable, "-m", "unspool", "hub", "--data", str(tmp_path / "two"), "--port", str(hub.client.port)],
            capture_output=True, text=True, timeout=60, check=False, env=os.environ,
        )  # fmt: skip
    assert again.returncode == 2
    assert "is taken" in again.stderr


@pytest.mark.parametrize("net", ["127.0.0.1", "127.0.0.0/8", "::1", "0.0.0.0/0"])
def test_a_header_is_not_believed_from_every_program_of_this_machine(tmp_path: Path, net: str) -> None:
    """The start says what is needed: a secret that the proxy alone knows, and a long one."""
    command = [sys.executable, "-m", "unspool", "hub", "--data", str(tmp_path / "hub"), "--identity-header", "X-User"]
    command += ["--proxy", net]
    (tmp_path / "secret").write_text("short\n")
    for more in ([], ["--proxy-secret-file", str(tmp_path / "secret")]):
        refused = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=False)
        assert refused.returncode == 2
        assert "--proxy-secret-file" in refused.stderr


def test_a_proxy_of_this_machine_shows_its_secret(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret of the proxy\n")
    options = ("--identity-header", "X-User", "--proxy", "127.0.0.1", "--proxy-secret-file", str(tmp_path / "secret"))
    with started(tmp_path / "hub", *options) as hub:
        anybody = Client(hub.client.port)
        for secret, status in ((None, 401), ("a secret of the procsy", 401), ("a secret of the proxy", 200)):
            given = {"X-User": "ann"} if secret is None else {"X-User": "ann", "Proxy-Secret": secret}
            assert anybody.ask("GET", "/api/me", None, given).status == status


def test_a_header_is_believed_from_somewhere_or_not_at_all(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unspool", "hub", "--data", str(tmp_path), "--identity-header", "X-User"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert "--proxy" in refused.stderr
