"""The app as a process: where it listens, what it says, how it syncs, and how it ends."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.app.opened import Opened, free_port, opened
from tests.cli.running import source, talk
from tests.thorough import tries
from tests.waiting import until
from unspool.app.background_sync import BackgroundSync
from unspool.errors import UsageProblem
from unspool.prices import PriceTable
from unspool.store.index.database import Index, discard_index
from unspool.web.server import PORT, has_browser, open_listener, server_url

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")

FIRST = "11111111-0000-4000-8000-000000000001"
SECOND = "22222222-0000-4000-8000-000000000002"


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, ...]:
    """Arguments that lead to a source with one session, and to an archive."""
    return (*source(tmp_path / "source", talk("Waves", FIRST)), "--archive", str(tmp_path / "archive"))


def keys(app: Opened) -> list[str]:
    return [one["key"] for one in app.get("/api/sessions").json["sessions"]]


# --- where -------------------------------------------------------------------------------------------


def test_it_listens_on_this_machine_alone(place: tuple[str, ...]) -> None:
    with opened(*place) as app:
        assert app.host == "127.0.0.1"
        listening = Path(f"/proc/{app.process.pid}/net/tcp").read_text("ascii") if sys.platform == "linux" else ""
        ends = [line.split()[1] for line in listening.splitlines()[1:] if line.split()[3] == "0A"]
        assert sys.platform != "linux" or [end for end in ends if end.endswith(f":{app.port:04X}")] == [
            f"0100007F:{app.port:04X}"
        ]


def test_a_port_that_is_taken_is_left_to_its_owner() -> None:
    with open_listener("127.0.0.1", None) as first, open_listener("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        with pytest.raises(UsageProblem, match="is taken"):
            open_listener("127.0.0.1", second.getsockname()[1])


def test_the_usual_port_is_taken_first() -> None:
    try:
        socket.create_server(("127.0.0.1", PORT)).close()
    except OSError:
        pytest.skip("somebody listens on the usual port of this machine")
    with open_listener("127.0.0.1", None) as door:
        assert door.getsockname()[1] == PORT


def test_a_host_that_is_none_is_said_to_be_none() -> None:
    with pytest.raises(UsageProblem, match="no host"):
        open_listener("no such host", None)
    with pytest.raises(UsageProblem, match="Cannot listen"):
        open_listener("192.0.2.1", None)


def test_addresses_are_those_that_a_browser_can_open() -> None:
    assert server_url("0.0.0.0", 80) == "http://127.0.0.1:80"  # noqa: S104
    assert server_url("::1", 8642) == "http://[::1]:8642"


def test_a_browser_needs_a_screen_or_a_name() -> None:
    assert not has_browser({}, "linux")
    assert has_browser({"DISPLAY": ":0"}, "linux")
    assert has_browser({"BROWSER": "cog"}, "linux")
    assert has_browser({}, "darwin")
    assert not has_browser({"SSH_CONNECTION": "a b"}, "darwin")


def test_another_host_is_warned_of(place: tuple[str, ...]) -> None:
    with opened(*place, "--host", "0.0.0.0") as app:  # noqa: S104
        assert app.ask("GET", "/").status == 401
        app.stop()
        assert app.process.stderr is not None
        assert b"can read all your sessions" in app.process.stderr.read()


def test_the_token_stands_in_the_address_and_nowhere_else(place: tuple[str, ...], tmp_path: Path) -> None:
    """Not among the arguments of any process, not on standard error, not in any file of the archive."""
    with opened(*place) as app:
        app.synced()
        app.get(f"/?token={app.token}")
        assert app.token not in listed("axww")
        app.stop()
        assert app.process.stdout is not None
        assert app.process.stderr is not None
        assert app.token.encode() not in app.process.stdout.read() + app.process.stderr.read()
        kept = [path for path in (tmp_path / "archive").rglob("*") if path.is_file()]
        assert kept
        assert not any(app.token.encode() in path.read_bytes() for path in kept)


def test_the_browser_gets_a_token_for_one_use(place: tuple[str, ...], tmp_path: Path) -> None:
    """The program that is started as a browser is told an address that leads in once, and never again."""
    told = tmp_path / "told"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {told}.new\nmv {told}.new {told}\n')
    program.chmod(0o700)
    starts = "from unspool.cli.open_cmd import command; command()"
    environment = {**os.environ, "BROWSER": str(program), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", starts, *place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            app = Opened(process, process.stdout.readline().decode())
            until(told.exists)
            given = told.read_text().strip().partition(f":{app.port}")[2]
            assert app.token not in given
            assert (app.ask("GET", given).status, app.ask("GET", given).status) == (303, 401)
        finally:
            process.kill()


# --- the sync behind it ------------------------------------------------------------------------------


def test_it_answers_before_anything_is_read_and_then_follows(place: tuple[str, ...], tmp_path: Path) -> None:
    """The first page is there at once; what is written later appears by itself."""
    with opened(*place) as app:
        assert app.get("/api/state").status == 200
        app.synced()
        assert keys(app) == [FIRST]
        before = app.get("/api/state").json
        assert (before["report"]["new"], before["round"]) == (1, 1)
        talk("More waves", SECOND).write(tmp_path / "source")
        until(lambda: sorted(keys(app)) == [FIRST, SECOND])
        until(lambda: app.get("/api/state").json["round"] > before["round"])


def test_reading_only_syncs_nothing(place: tuple[str, ...], tmp_path: Path) -> None:
    with opened(*place, "--read-only") as app:
        assert app.get("/api/state").json["read_only"] is True
        assert app.get("/api/sessions").status == 404
        assert app.get("/api/state").json["state"] == "idle"
        assert children(app.process.pid) == set(), "somebody syncs"
        assert not (tmp_path / "archive").exists()


def test_without_any_logs_there_is_an_empty_list(tmp_path: Path) -> None:
    with opened("--archive", str(tmp_path / "archive")) as app:
        until(lambda: app.get("/api/sessions").status == 200)
        assert app.get("/api/sessions").json == {"sessions": [], "total": 0, "next": None}


def test_two_at_once_share_the_archive(place: tuple[str, ...], tmp_path: Path) -> None:
    """Where another port is asked for, there is another app."""
    with opened(*place) as one, opened(*place, "--port", str(free_port())) as other:
        assert one.port != other.port
        one.synced()
        other.synced()
        talk("More waves", SECOND).write(tmp_path / "source")
        until(lambda: len(keys(one)) == len(keys(other)) == 2)
        assert one.get("/api/sessions", Cookie=f"unspool-{other.port}={other.token}").status == 200
        assert one.ask("GET", "/", {"Cookie": f"unspool-{other.port}={other.token}"}).status == 401


def test_an_index_made_anew_is_taken_up(place: tuple[str, ...], tmp_path: Path) -> None:
    """Connections to the index of before are not held on to."""
    with opened(*place) as app:
        app.synced()
        assert keys(app) == [FIRST]
        discard_index(tmp_path / "archive")
        while (answer := app.get("/api/sessions")).status == 503:
            assert answer.json["error"] == "Your sessions are being read"
            Index.open(tmp_path / "archive").close()
        assert answer.json["total"] == 0


def test_a_source_that_vanishes_is_said_and_its_sessions_stay(place: tuple[str, ...], tmp_path: Path) -> None:
    """What is kept of it is shown from the archive; and the agent's usual folder is not taken instead."""
    usual = Path(os.environ["CLAUDE_CONFIG_DIR"])
    talk("Of somebody else", SECOND).write(usual)
    with opened(*place) as app:
        app.synced()
        (tmp_path / "source").rename(tmp_path / "elsewhere")
        assert app.get("/api/state").json["missing"] == [str(tmp_path / "source")]
        assert keys(app) == [FIRST]
        for path in ("/", "/live", f"/s/{FIRST}/", f"/api/sessions/{FIRST}/document"):
            assert app.get(path).status == 200, path
        assert app.get(f"/api/sessions/{SECOND}/document").status == 404


def test_what_is_wrong_with_a_sync_is_told(tmp_path: Path) -> None:
    """A folder that cannot be written to is the reason on the page, and the app goes on."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    given = source(tmp_path / "source", talk("Waves", FIRST))
    with opened(*given, "--archive", str(blocked / "archive")) as app:
        until(lambda: app.get("/api/state").json["state"] == "failed")
        assert "archive" in app.get("/api/state").json["failure"]


def test_a_sync_that_dies_is_told_and_started_anew(place: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.app.background_sync._AGAIN", 0.1)
    background = BackgroundSync(Path(place[3]), (Path(place[1]),), None, PriceTable.load())
    background.start()
    try:
        until(lambda: background.state.state == "done")
        first = background._process
        assert first is not None
        first.kill()
        until(lambda: background.state.state == "failed")
        assert background.state.failure == "The sync's process ended."
        until(lambda: background.state.state == "done")
        assert background._process is not first
    finally:
        background.stop()
    assert background._process is not None
    assert not background._process.is_alive()


# --- the end -----------------------------------------------------------------------------------------


def listed(*options: str) -> str:
    """The processes of this machine."""
    return subprocess.run(["ps", *options], capture_output=True, text=True, check=True).stdout  # noqa: S607


def children(process: int) -> set[int]:
    """The processes below one, however far."""
    rows = listed("-axo", "pid=,ppid=").split()
    pairs = list(zip(map(int, rows[::2]), map(int, rows[1::2]), strict=True))
    found, todo = set[int](), {process}
    while todo:
        todo = {pid for pid, parent in pairs if parent in todo} - found
        found |= todo
    return found


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_and_leaves_nothing(place: tuple[str, ...], tmp_path: Path, number: int) -> None:
    with opened(*place, TMPDIR=str(tmp_path)) as app:
        app.synced()
        with socket.create_connection(("127.0.0.1", app.port)) as idle:
            idle.sendall(b"GET / HTTP/1.1\r\n")
            below = children(app.process.pid)
            assert below
            app.stop(number)
        until(lambda: not any(map(alive, below)))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "source"]


def test_it_ends_in_the_midst_of_a_sync(tmp_path: Path, made_corpus: Callable[[int, int], Path]) -> None:
    """A first sync of many megabytes is broken off; the archive it leaves is whole, and the next start goes on."""
    given = ("--source", str(made_corpus(1, tries(20, 50))), "--archive", str(tmp_path / "archive"))
    with opened(*given, TMPDIR=str(tmp_path)) as app:
        until(lambda: app.get("/api/state").json["done"] > 0)
        below = children(app.process.pid)
        app.stop()
        until(lambda: not any(map(alive, below)))
        assert [path.name for path in tmp_path.iterdir()] == ["archive"]
    with opened(*given) as app:
        app.synced()
        assert app.get("/api/state").json["report"]["failures"] == []
        assert app.get("/api/sessions").json["total"] > tries(40, 100)
        _end_while_asked(app)


def _end_while_asked(app: Opened) -> None:
    """It ends though many wait for answers that take long, and one follows what goes on."""
    before = _open_files(app)
    with ExitStack() as links:
        for path in ("/live/events", *["/api/stats"] * 60):
            link = links.enter_context(socket.create_connection(("127.0.0.1", app.port)))
            link.sendall(
                f"GET {path} HTTP/1.1\r\nHost: {app.own}\r\nAuthorization: Bearer {app.token}\r\n\r\n".encode()
            )
        until(lambda: _open_files(app) > before + 60)
        app.stop(signal.SIGINT)
        assert app.process.returncode in (1, 130)  # 1 is click's own, for the group is not around it here


def _open_files(app: Opened) -> int:
    return len(list(Path(f"/proc/{app.process.pid}/fd").iterdir())) if sys.platform == "linux" else sys.maxsize


def test_a_killed_app_takes_its_sync_along(place: tuple[str, ...]) -> None:
    with opened(*place) as app:
        app.synced()
        below = children(app.process.pid)
        app.process.kill()
        until(lambda: not any(map(alive, below)))
