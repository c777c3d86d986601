"""Things that break under load: what was acknowledged stays, nothing is seen by half, all goes on by itself."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.hub.loading import kept, loaded
from tests.hub.running import Process, started
from tests.hub.servers import Servers
from tests.hub.shares.bundles import GZIP, bundle, log, token
from tests.thorough import tries
from unspool.hub.store.connect import Store, StorePlace, open_store

KILLS = tries(1, 50)
CALM = {200, 201, 503}
"""What may be answered while a server is away."""


@contextmanager
def hub(place: StorePlace, **env: str) -> Iterator[Process]:
    """A hub on a place, in a process of its own."""
    where = [part for name, value in (("--database", place.database), ("--objects", place.bucket)) if value
             for part in (name, value)]  # fmt: skip
    with started(place.folder, "--an-hour", "1000000", *where, env=env) as running:
        yield running


@pytest.fixture
def uploader(store: Store) -> str:
    """A token."""
    return token(store, "ada")


def test_a_killed_hub_loses_nothing_that_it_acknowledged(place: StorePlace, store: Store, uploader: str) -> None:
    promised: dict[str, str] = {}
    for _ in range(KILLS):
        with hub(place) as running, loaded([running.client.as_(uploader)]) as load:
            load.more(4)
            running.process.kill()
            running.process.wait()
        promised |= load.promised
    with hub(place) as running:
        kept(running.client, store, promised)


def test_another_process_goes_on_where_one_was_killed(on_servers: StorePlace, servers_store: Store) -> None:
    uploader = token(servers_store, "ada")
    with ExitStack() as stack:
        first, second = stack.enter_context(hub(on_servers)), stack.enter_context(hub(on_servers))
        with loaded([first.client.as_(uploader), second.client.as_(uploader)]) as load:
            load.more(4)
            first.process.kill()
            load.more(4)
        assert set(load.answers) <= {201}
        kept(second.client, servers_store, load.promised)


def test_a_database_that_restarts_is_waited_for(servers: Servers, on_servers: StorePlace, servers_store: Store) -> None:
    uploader = token(servers_store, "ada")
    with hub(on_servers) as running, loaded([running.client.as_(uploader)]) as load:
        load.more(3)
        servers.postgresql.restart()
        load.more(3)
        servers.postgresql.kill()
        servers.postgresql.start()
        load.more(3)
        load.stop()
        assert set(load.answers) <= CALM, load.answers
        kept(running.client, servers_store, load.promised)


def test_an_object_store_that_is_away_is_said_and_waited_for(
    servers: Servers, on_servers: StorePlace, servers_store: Store
) -> None:
    uploader = token(servers_store, "ada")
    with hub(on_servers) as running, loaded([running.client.as_(uploader)]) as load:
        load.more(3)
        servers.s3.stop()
        try:
            refused = running.client.as_(uploader).ask("POST", "/api/shares", bundle(log("away")), GZIP)
            assert refused.status == 503
            assert "again" in str(refused.json["reason"]) or "answer" in str(refused.json["reason"])
            assert running.client.get("/readyz").status == 503
            assert running.client.get("/healthz").status == 200
        finally:
            servers.s3.start()
        load.more(3)
        load.stop()
        assert set(load.answers) <= CALM, load.answers
        kept(running.client, servers_store, load.promised)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or _ran("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)):
        pytest.skip("this user may not mount a small disk")
    try:
        yield disk
    finally:
        _ran("umount", "-l", str(disk))


def _ran(program: str, *given: str) -> int:
    """How a program of the system's ended."""
    return subprocess.run([shutil.which(program) or program, *given], check=False, capture_output=True).returncode


def test_a_full_disk_refuses_and_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    place = StorePlace(small_disk / "hub")
    store = open_store(place)
    uploader = token(store, "ada")
    with hub(place, XDG_CACHE_HOME=str(tmp_path / "cache")) as running:
        client = running.client.as_(uploader)
        promised: dict[str, str] = {}
        answers = []
        for number in range(60):
            noise = os.urandom(300_000).hex()
            answer = client.ask("POST", "/api/shares", bundle(log(f"needle{number} {noise}")), GZIP)
            answers.append(answer.status)
            if answer.status != 201:
                break
            promised[str(answer.json["address"])] = f"needle{number}"
        assert answers[-1] == 507, answers
        assert promised
        kept(running.client, store, promised)
        assert _ran("mount", "-o", "remount,size=60m", str(small_disk)) == 0
        again = client.ask("POST", "/api/shares", bundle(log("there is room again")), GZIP)
        assert again.status == 201
    store.db.close()
