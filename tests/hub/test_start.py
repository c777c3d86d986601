"""`unspool hub` as a user starts it: a real process, a real port, an end that lets go of nothing."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.hub.running import Client, started


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
        slow = threading.Thread(target=lambda: answers.append(_slowly(hub.client)))
        slow.start()
        time.sleep(0.5)
        hub.process.send_signal(signal.SIGTERM)
        slow.join(30)
        assert hub.process.wait(30) == 0
    assert answers == [200]


def _slowly(client: Client) -> int:
    """A form whose body takes two seconds to come."""
    import socket

    body = b"label=slow"
    with socket.create_connection(("127.0.0.1", client.port), 30) as line:
        line.sendall(
            b"POST /me/tokens HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer " + client.token.encode()
            + b"\r\nConnection: close\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n"
        )  # fmt: skip
        for byte in body:
            time.sleep(0.2)
            line.sendall(bytes([byte]))
        return int(line.recv(65536).split()[1])


def test_ctrl_c_ends_it_with_130(tmp_path: Path) -> None:
    with started(tmp_path) as hub:
        hub.process.send_signal(signal.SIGINT)
        assert hub.process.wait(30) == 130


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with started(tmp_path / "one") as hub:
        again = subprocess.run(
            [sys.executable, "-m", "unspool", "hub", "--data", str(tmp_path / "two"), "--port", str(hub.client.port)],
            capture_output=True, text=True, timeout=60, check=False, env=os.environ,
        )  # fmt: skip
    assert again.returncode == 2
    assert "is taken" in again.stderr


def test_a_header_is_believed_from_somewhere_or_not_at_all(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unspool", "hub", "--data", str(tmp_path), "--identity-header", "X-User"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert "--proxy" in refused.stderr
