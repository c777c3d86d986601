"""`unspool open`: how it is asked for, what it says, and how it ends."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.app.opened import Opened, free_port
from tests.cli.running import finished, process, run, source, talk
from tests.waiting import until
from unspool.store.sync import sync

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")

FIRST = "11111111-0000-4000-8000-000000000001"
Started = Callable[..., Opened]


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, ...]:
    return (*source(tmp_path / "source", talk("Tides of March", FIRST)), "--archive", str(tmp_path / "archive"))


@pytest.fixture
def started(place: tuple[str, ...]) -> Iterator[Started]:
    """`started(*arguments)`: the app of one session, until the test ends."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> Opened:
        one = process("open", *place, *arguments, PYTHONUNBUFFERED="1", DISPLAY="", BROWSER="")
        running.append(one)
        assert one.stdout is not None
        assert one.stderr is not None
        return Opened(one, (one.stdout.readline() or one.stderr.read()).decode())

    yield start
    for one in running:
        one.kill()
        one.communicate()


def test_it_says_where_it_is_and_how_to_end_it(started: Started) -> None:
    app = started("--no-browser")
    assert (app.host, app.path) == ("127.0.0.1", "/")
    assert app.process.stdout is not None
    assert app.process.stdout.readline() == b"Ctrl-C ends it.\n"


@pytest.mark.parametrize("name", [FIRST, FIRST[:8], "tides", "latest"])
def test_a_session_by_any_of_its_names(started: Started, name: str) -> None:
    """The address that is printed leads to its page."""
    app = started(name)
    assert app.path == f"/s/{FIRST}/"
    answer = app.ask("GET", f"{app.path}?token={app.token}")
    assert (answer.status, answer.headers["location"]) == (303, app.path)


def test_a_session_that_only_the_archive_has(started: Started, tmp_path: Path) -> None:
    sync(tmp_path / "archive", (tmp_path / "source",))
    (log,) = (tmp_path / "source").rglob(f"{FIRST}.jsonl")
    log.unlink()
    assert started("--read-only", FIRST[:8]).path == f"/s/{FIRST}/"


def test_the_demo_has_an_archive_of_its_own(started: Started, home: Path, tmp_path: Path) -> None:
    """Whatever archive is the user's stays as it is, and none is made."""
    app = started("--demo", "storm")
    assert app.path == "/s/57024000-0e55-4d0c-8e55-000000000005/"
    app.synced()
    assert app.get("/api/sessions").json["total"] == 10
    assert [path.parent.name for path in (*home.rglob("archive.db"), *tmp_path.rglob("archive.db"))] == ["demo-archive"]


def test_a_session_that_nobody_knows(place: tuple[str, ...]) -> None:
    done = run("open", "no such session", *place)
    assert (done.code, done.out) == (3, "")


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    done = run("open", "--source", str(tmp_path / "nowhere"), "--archive", str(tmp_path / "archive"))
    assert done.code == 3
    assert "nowhere" in done.err


def test_exactly_the_port_that_is_asked_for(started: Started, place: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("open", *place, "--port", str(port))
        assert (done.code, done.out) == (2, "")
        assert f"Port {port} of 127.0.0.1 is taken" in done.err
    assert started("--port", str(port)).port == port


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_what_is_no_port(place: tuple[str, ...], port: str) -> None:
    assert run("open", *place, "--port", port).code == 2


def test_a_second_start_opens_the_page_of_the_first(started: Started, place: tuple[str, ...]) -> None:
    app = started()
    second = run("open", "tides", *place, "--no-browser")
    assert second.code == 0
    found = Opened(app.process, second.out)
    assert (found.port, found.path, found.token) == (app.port, f"/s/{FIRST}/", app.token)


def test_another_port_or_other_rules_are_another_app(started: Started) -> None:
    app, port = started(), free_port()
    assert {started("--read-only").port, started("--port", str(port)).port, app.port} >= {port, app.port}
    assert started().port == app.port


def test_one_that_was_killed_is_not_found(started: Started) -> None:
    """Its note is still there; the next start has a token of its own and answers."""
    app = started()
    app.process.kill()
    app.process.wait()
    after = started()
    assert after.token != app.token
    assert after.get("/api/state").status == 200
    assert started().token == after.token


def test_the_browser_gets_a_ticket_and_not_the_token(started: Started, place: tuple[str, ...], tmp_path: Path) -> None:
    app, said = started(), tmp_path / "said"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {said}.new\nmv {said}.new {said}\n')
    browser.chmod(0o755)
    finished("open", *place, BROWSER=f"{browser} %s")
    until(said.exists)
    (ticket,) = re.findall(r"\?token=(\S+)", said.read_text())
    assert ticket != app.token
    assert [app.ask("GET", f"/?token={ticket}").status for _ in range(2)] == [303, 401]


def test_a_window_of_its_own_where_a_browser_has_one(started: Started, place: tuple[str, ...], tmp_path: Path) -> None:
    app, said = started(), tmp_path / "said"
    browser = tmp_path / "chromium"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {said}.new\nmv {said}.new {said}\n')
    browser.chmod(0o755)
    finished("open", "--window", *place, DISPLAY=":0", PATH=f"{tmp_path}:{os.environ['PATH']}")
    until(said.exists)
    assert said.read_text().startswith(f"--app=http://127.0.0.1:{app.port}/?token=")


def test_in_the_background_it_outlives_the_command_until_it_is_stopped(place: tuple[str, ...]) -> None:
    assert finished("open", "--stop", *place).code == 3
    first = finished("open", "--background", "--no-browser", *place)
    try:
        found = re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", first.out)
        assert found is not None, first.err
        assert finished("open", "--background", "--no-browser", *place).out == first.out
    finally:
        assert finished("open", "--stop", *place).out == "Stopped.\n"
    until(lambda: finished("open", "--stop", *place).code == 3)


def test_ctrl_c_and_a_polite_end(started: Started) -> None:
    for number, code, said in ((signal.SIGINT, 130, b"Stopped.\n"), (signal.SIGTERM, 0, b"")):
        app = started()
        app.synced()
        app.stop(number)
        assert app.process.stderr is not None
        assert (app.process.returncode, app.process.stderr.read()) == (code, said)


def test_an_encrypted_archive_is_opened_with_its_key(started: Started, tmp_path: Path) -> None:
    """The key goes to the sync as well, and stands among no process's arguments."""
    key = tmp_path / "key"
    key.write_text("a long and secret passphrase\n")
    key.chmod(0o600)
    sync(tmp_path / "archive", (tmp_path / "source",))
    done = run("archive", "encrypt", "--archive", str(tmp_path / "archive"), "--new-key-file", str(key))
    assert done.code == 0, done.err
    app = started("--key-file", str(key))
    app.synced()
    assert app.get("/api/sessions").json["total"] == 1
    listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    assert "secret passphrase" not in listed
