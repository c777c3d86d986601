"""Many readers, slow ones and impatient ones: everybody else is served, and memory stays within bounds."""

import asyncio
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.app.opened import Opened, everything, opened, parsed
from tests.thorough import tries
from tests.waiting import PATIENCE, until
from unspool.web import server as start_protocol
from unspool.web.server import TimeoutProtocol

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")

READERS = tries(300, 1000)
MEMORY = 320 * 1024 * 1024


@pytest.fixture(scope="module")
def app(made_corpus: Callable[[int, int], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    place = tmp_path_factory.mktemp("load")
    home = {name: str(place / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    with opened("-s", str(made_corpus(1, tries(5, 50))), "--archive", str(place / "archive"), **home) as running:
        running.synced()
        yield running


@pytest.fixture(autouse=True)
def room() -> Iterator[None]:
    """As many open files as the readers need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 3 * READERS if hard == resource.RLIM_INFINITY else min(hard, 3 * READERS)
    if most < READERS + 100:
        pytest.skip("this machine gives no process so many open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def request(app: Opened, path: str) -> bytes:
    head = f"Host: {app.own}\r\nAuthorization: Bearer {app.token}\r\nConnection: close"
    return f"GET {path} HTTP/1.1\r\n{head}\r\n\r\n".encode()


async def read(app: Opened, path: str, all_here: asyncio.Barrier) -> tuple[int, int]:
    """One reader: connects, waits until everybody has, asks and reads to the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", app.port)
    await all_here.wait()
    writer.write(request(app, path))
    data = await reader.read()
    writer.close()
    return parsed(data).status, len(data)


def test_hundreds_of_readers_at_once(app: Opened) -> None:
    """All are connected before the first asks; all get what they asked for, and the server stays small."""
    keys = [one["key"] for one in app.get("/api/sessions?limit=20").json["sessions"]]
    light = ["/api/state", "/api/sessions?limit=5", "/live"]
    paths = [*light * 8, "/", "/api/sessions?limit=50", "/search?q=test", "/stats", f"/s/{keys[0]}/", "/sessions"]

    async def everybody() -> list[tuple[int, int]]:
        all_here = asyncio.Barrier(READERS)
        return await asyncio.gather(*(read(app, paths[n % len(paths)], all_here) for n in range(READERS)))

    answers = asyncio.run(asyncio.wait_for(everybody(), 5 * PATIENCE))
    assert {status for status, _ in answers} == {200}
    assert app.memory < MEMORY
    assert app.get("/api/state").status == 200


def test_slow_readers_keep_nobody_waiting(app: Opened) -> None:
    """Hundreds who send a byte now and then, and hundreds who read nothing of a large answer."""
    document = f"/api/sessions/{app.get('/api/sessions?limit=1').json['sessions'][0]['key']}/document"
    links = [socket.create_connection(("127.0.0.1", app.port)) for _ in range(400)]
    try:
        for number, link in enumerate(links):
            link.sendall(b"GET / HTTP/1.1\r\nHost: " if number % 2 else request(app, document))
        assert app.get("/api/state").status == 200
        for link in links[1::2]:
            link.sendall(b"x")
        assert app.get("/").status == 200
        assert app.memory < MEMORY
    finally:
        for link in links:
            link.close()


def test_readers_who_leave_early_are_forgotten(app: Opened) -> None:
    for _ in range(300):
        with socket.create_connection(("127.0.0.1", app.port)) as link:
            link.sendall(request(app, "/api/sessions?limit=500"))
    until(lambda: len(list(Path(f"/proc/{app.process.pid}/fd").iterdir())) <= 100)
    assert app.get("/api/state").status == 200


# --- patience ----------------------------------------------------------------------------------------


def _hello(_: Request) -> Response:
    return PlainTextResponse("hello")


def _much(_: Request) -> Response:
    return PlainTextResponse("hello" * 10_000_000)


class Hasty(NamedTuple):
    """A server that waits a second for the head of a request."""

    port: int
    server: uvicorn.Server

    @contextmanager
    def linked(self) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as link:
            yield link


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hasty]:
    monkeypatch.setattr(start_protocol, "PATIENCE", 1.0)
    monkeypatch.setattr(start_protocol, "UNREAD", 1.0)
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", _hello), Route("/much", _much)])
    server = uvicorn.Server(
        uvicorn.Config(app, http=TimeoutProtocol, lifespan="off", log_level="critical", timeout_keep_alive=3)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield Hasty(listener.getsockname()[1], server)
    server.should_exit = True
    thread.join(PATIENCE)


WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "first", [b"", b"G", WHOLE[:-2], WHOLE + b"GET / HT"], ids=["silent", "begun", "open", "second"]
)
def test_who_does_not_finish_asking_is_let_go(hasty: Hasty, first: bytes) -> None:
    with hasty.linked() as link:
        link.sendall(first)
        everything(link)  # which comes to its end only when the other side closes


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
def test_a_body_that_says_two_lengths_is_refused_and_the_line_closed(hasty: Hasty, version: bytes) -> None:
    """A proxy may take it for the other one, and what follows for a request of somebody else."""
    head = b"POST / HTTP/" + version + b"\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    with hasty.linked() as link:
        link.sendall(head + b"0\r\n\r\n" + WHOLE)
        said = everything(link)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1


def test_a_byte_now_and_then_is_not_enough(hasty: Hasty) -> None:
    with hasty.linked() as link, pytest.raises(OSError, match=r"reset|Broken pipe"):
        until(lambda: link.sendall(b"a"))


def test_who_goes_on_sending_after_the_answer_is_let_go(hasty: Hasty) -> None:
    with hasty.linked() as link:
        link.sendall(WHOLE.replace(b"GET", b"POST").replace(b"Host", b"Content-Length: 99999999\r\nHost"))
        assert link.recv(65536).startswith(b"HTTP/1.1 405 ")
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            until(lambda: link.sendall(b"a"))


def test_who_sends_the_rest_after_the_answer_is_heard_again(hasty: Hasty) -> None:
    with hasty.linked() as link:
        link.sendall(WHOLE.replace(b"GET", b"POST").replace(b"Host", b"Content-Length: 5\r\nHost"))
        assert link.recv(65536).startswith(b"HTTP/1.1 405 ")
        link.sendall(b"hello" + WHOLE)
        said = everything(link)  # until the connection is idle for long
    assert b"HTTP/1.1 200 " in said


def test_who_asks_again_and_again_in_time_is_heard(hasty: Hasty) -> None:
    """The clock is that of one head: a connection that is used may be as old as it likes."""
    until(lambda: _is_heard_for_long(hasty))


def _is_heard_for_long(hasty: Hasty) -> bool:
    """Whether requests are answered on one connection for longer than a head may take; a busy machine may be late."""
    with hasty.linked() as link, suppress(ConnectionError):
        for _ in range(5):
            link.sendall(WHOLE)
            said = b""
            while not said.endswith(b"hello"):
                piece = link.recv(65536)
                if not piece:
                    return False
                said += piece
            time.sleep(0.3)
        return True
    return False


def test_who_does_not_read_is_let_go(hasty: Hasty) -> None:
    with hasty.linked() as link:
        link.sendall(WHOLE.replace(b"GET /", b"GET /much"))
        until(lambda: hasty.server.server_state.connections, lambda: "it was not heard")
        until(lambda: not hasty.server.server_state.connections, lambda: "it was not let go")
        assert len(everything(link)) < 50_000_000


def test_who_reads_slowly_gets_everything(hasty: Hasty) -> None:
    """The clock is that of a standstill, not of the whole answer."""
    until(lambda: _gets_everything(hasty))


def _gets_everything(hasty: Hasty) -> bool:
    """Whether somebody who takes more than a second gets it all; a busy machine may stand still for longer."""
    with hasty.linked() as link, suppress(ConnectionError):
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000_000)
        link.sendall(WHOLE.replace(b"GET /", b"GET /much").replace(b"Host", b"Connection: close\r\nHost"))
        got = 0
        while piece := link.recv(1_000_000):
            got += len(piece)
            time.sleep(0.02)
        return got > 50_000_000
    return False
