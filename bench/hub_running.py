"""Hub processes as an operator starts them: one on files, or several on one PostgreSQL and one object store."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

from bench.answers import UNSPOOL
from bench.family import Family, spent
from bench.serving import HOST, Server, free_port, started
from tests.hub.servers import KEY, SECRET, ObjectServer, Postgresql, Servers, postgresql_programs, rclone
from unspool.hub.people.tokens import create_token
from unspool.hub.people.users import add_user
from unspool.hub.store.connect import Store, StorePlace, open_store

PROCESSES = 2
"""On servers."""
_FAILED = re.compile(r'^unspool_hub_requests_total\{.*status="5\d\d"\} (\d+)$', re.MULTILINE)
_PATIENCE = 60.0


class Hubs(NamedTuple):
    """Processes that serve one hub, and its store."""

    servers: tuple[Server, ...]
    store: Store
    admin: str
    """A token."""
    database: int = 0
    """The process of the database server, where there is one."""

    @property
    def addresses(self) -> list[str]:
        return [server.address for server in self.servers]

    def failed(self) -> int:
        """Answers of 5xx since the start, of all processes, as they say themselves."""
        return sum(failures(_asked(server, "/metrics", self.admin)) for server in self.servers)

    def spent(self) -> tuple[float, float]:
        """Seconds of all cores that the hub and its database have used so far."""
        return sum(spent(one.process.pid) for one in self.servers), spent(self.database) if self.database else 0.0

    def memory(self) -> list[Family]:
        """The most that each process and those below it held."""
        return [server.memory for server in self.servers]


def failures(metrics: str) -> int:
    """Answers of 5xx among those that a process counted."""
    if "unspool_hub_requests_total" not in metrics:
        raise RuntimeError("the hub does not tell how it answered")
    return sum(map(int, _FAILED.findall(metrics)))


@contextmanager
def real_servers() -> Iterator[Servers]:
    """A PostgreSQL that keeps what it says it kept and cleans up after itself, and an object store."""
    postgresql = Postgresql(
        postgresql_programs(), shared_buffers="512MB", autovacuum="on", fsync="on", full_page_writes="on"
    )
    try:
        s3 = ObjectServer(rclone())
        try:
            yield Servers(postgresql, s3)
        finally:
            s3.forget()
    finally:
        postgresql.forget()


@contextmanager
def on_files(folder: Path) -> Iterator[StorePlace]:
    """A place in a folder."""
    yield StorePlace(folder / "hub")


@contextmanager
def on_servers(servers: Servers, folder: Path) -> Iterator[StorePlace]:
    """A fresh place on servers."""
    with servers.place(folder / "unused", tables=False) as place:
        yield place


@contextmanager
def running(place: StorePlace, processes: int, on: Servers | None = None) -> Iterator[Hubs]:
    """A hub at a place, once it is ready; `on` tells which servers that place is on."""
    os.environ.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    store = open_store(place)
    with ExitStack() as stack:
        stack.callback(store.db.close)
        admin = add_user(store.db, "bench", "person", admin=True)
        servers = tuple(stack.enter_context(_process(place)) for _ in range(processes))
        database = int((on.postgresql.folder / "data/postmaster.pid").read_text().split()[0]) if on else 0
        yield Hubs(servers, store, create_token(store.db, admin, "bench"), database)


@contextmanager
def _process(place: StorePlace) -> Iterator[Server]:
    port = free_port()
    where = ["--database", place.database, "--objects", place.bucket] if place.database else []
    command = [UNSPOOL, "hub", "--data", str(place.folder), *where, "--port", str(port), "--quiet"]
    with started([*command, "--an-hour", "100000000"], port) as server:
        end = time.monotonic() + _PATIENCE
        while not _asked(server, "/readyz"):
            if server.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the hub never came up: {server.last_words}")
            time.sleep(0.05)
        yield server


def _asked(server: Server, path: str, token: str = "") -> str:
    """What is answered; empty where it is no success."""
    connection = HTTPConnection(HOST, server.port, timeout=60)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, HTTPException):
        return ""
    finally:
        connection.close()
    return text if answer.status == 200 else ""
