"""One app of a kind: the second start finds the first, and what a dead one left misleads nobody."""

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from unspool.app.instance import AppInstance, RunningApp

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions of this kind are POSIX")


def answering(words: bytes) -> tuple[socket.socket, str]:
    """A server that says the same to everybody."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            while True:
                link, _ = listener.accept()
                with link:
                    link.recv(65536)
                    link.sendall(words)
        except OSError:
            return

    threading.Thread(target=serve, daemon=True).start()
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nticket"


def test_who_comes_second_finds_who_was_first() -> None:
    listener, url = answering(OK)
    with listener, AppInstance("archive") as first, AppInstance("archive") as second, AppInstance("other") as other:
        first.announce(RunningApp(url, "secret", 1))
        assert first.running() is None
        assert second.running() == (RunningApp(url, "secret", 1), "ticket")
        assert other.running() is None
    with AppInstance("archive") as third:
        assert third.running() is None


def test_the_note_is_for_nobody_else(home: Path) -> None:
    with AppInstance("archive") as place:
        place.announce(RunningApp("http://127.0.0.1:1", "secret", 1))
        files = list((home / "xdg_runtime_dir" / "unspool").iterdir())
        assert len(files) == 2
        assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
        assert stat.S_IMODE(files[0].parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("words", [b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", b"\0\0\0", b""])
def test_a_stranger_on_its_port_is_not_taken_for_it(words: bytes) -> None:
    listener, url = answering(words)
    with listener, AppInstance("archive") as first, AppInstance("archive") as second:
        first.announce(RunningApp(url, "secret", 1))
        assert second.running(0.2) is None


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b'{"url": 1}', b'{"url": "file:///x", "token": "", "pid": 1}', b"\xff"]
)
def test_a_damaged_note_is_none(home: Path, note: bytes) -> None:
    with AppInstance("archive") as first, AppInstance("archive") as second:
        first.announce(RunningApp("http://127.0.0.1:1", "secret", 1))
        (path,) = (home / "xdg_runtime_dir" / "unspool").glob("*.json")
        path.write_bytes(note)
        assert second.running(0.1) is None


def test_a_note_without_its_holder_is_stale(home: Path) -> None:
    """Killed, it leaves the note; the next one has the place at once, and the note is gone."""
    script = (
        "import os, signal\nfrom unspool.app.instance import AppInstance, RunningApp\n"
        "place = AppInstance('archive').__enter__()\nplace.announce(RunningApp('http://127.0.0.1:1', 'secret', 1))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    (path,) = (home / "xdg_runtime_dir" / "unspool").glob("*.json")
    assert msgspec.json.decode(path.read_bytes())["token"] == "secret"
    with AppInstance("archive") as place:
        assert place.running() is None
        assert not path.exists()


def test_without_a_folder_for_it_every_start_is_its_own(home: Path) -> None:
    (home / "xdg_runtime_dir").write_text("no folder")
    with AppInstance("archive") as place:
        place.announce(RunningApp("http://127.0.0.1:1", "secret", 1))
        assert place.running(0) is None
