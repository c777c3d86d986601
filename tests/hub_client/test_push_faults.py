"""A push that is killed, a hub that is killed, two pushes at once: nothing is lost, nothing is half there."""

import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hub.conftest import credentials, files_store, on_files, on_servers, servers, servers_store  # noqa: F401
from tests.hub.running import Client, started
from tests.hub.sessions.team import Member, team
from tests.hub_client.pushing import CWD, command, ended, key, write
from unspool.hub.store.connect import Store, StorePlace, open_store

if TYPE_CHECKING:
    import subprocess

SESSIONS = 12


def logs(client: Client) -> dict[str, bytes]:
    """Every session that the hub has, with its log."""
    listed = client.get("/api/archive?limit=200").json["sessions"]
    return {one["key"]: client.get(f"/api/archive/{one['id']}/log").body for one in listed}


def whole(store: Store) -> None:
    """Nothing that is referred to is missing, and every session has all that belongs to one."""
    for (digest,) in store.db.rows("SELECT digest FROM piece UNION SELECT digest FROM session_page"):
        assert b"".join(store.blobs.read(digest))
    for table in ("piece", "session_text", "text_part", "request"):
        rows = store.db.rows(f"SELECT id FROM session WHERE id NOT IN (SELECT session FROM {table})")  # noqa: S608
        assert rows == [], table
    viewed = "SELECT id FROM session WHERE made <> '' AND id NOT IN (SELECT session FROM session_page)"
    assert store.db.rows(viewed) == []


@pytest.mark.parametrize("member", ["files", "servers"])
def test_two_that_push_at_once_do_no_harm(member: str, request: pytest.FixtureRequest, home: Path) -> None:
    store: Store = request.getfixturevalue(f"{member}_store")
    paths = {key(number): write(home, number).read_bytes() for number in range(SESSIONS)}
    with team(store) as crew:
        anne = crew.member("anne")
        both = [push(anne) for _ in range(2)]
        assert [ended(one)[0] for one in both] == [0, 0]
        assert logs(anne.client) == paths
        whole(store)


def push(member: Member, *options: str) -> "subprocess.Popen[str]":
    given = ("--yes", "--project", f"harbour={CWD}", *options)
    return command(*given, url=member.client.address, token=member.token)


def test_a_push_that_is_killed_again_and_again_comes_to_its_end(files_store: Store, home: Path) -> None:  # noqa: F811
    paths = {key(number): write(home, number).read_bytes() for number in range(SESSIONS // 2)}
    rng, kills = random.Random(3), 0
    with team(files_store) as crew:
        anne = crew.member("anne")
        process = push(anne)
        while not _ended_or_on(process, files_store, rng.randrange(1, 3)):
            process.kill()
            process.communicate()
            kills += 1
            assert logs(anne.client).items() <= paths.items()
            process = push(anne)
        assert ended(process)[0] == 0
        assert kills > 1
        assert logs(anne.client) == paths
        whole(files_store)


def _ended_or_on(process: "subprocess.Popen[str]", store: Store, steps: int) -> bool:
    """Wait until a push has ended, or until the hub took so many steps; whether it has ended."""
    count = "SELECT (SELECT count(*) FROM sent) + (SELECT count(*) FROM session)"
    before = store.db.rows(count)[0][0]
    while process.poll() is None and store.db.rows(count)[0][0] < before + steps:
        time.sleep(0.005)
    return process.poll() is not None


def test_a_hub_that_is_killed_has_all_it_acknowledged_and_the_push_goes_on(on_files: StorePlace, home: Path) -> None:  # noqa: F811
    paths = {key(number): write(home, number).read_bytes() for number in range(SESSIONS)}
    rng, token, acknowledged = random.Random(4), "", set[str]()
    for _ in range(2):
        with started(on_files.folder) as hub:
            token = hub.token or token
            client = hub.client.as_(token)
            assert acknowledged <= logs(client).keys()
            assert logs(client).items() <= paths.items()
            given = ("--yes", "--project", f"harbour={CWD}", "--limit-rate", "40K")
            process = command(*given, url=client.address, token=token)
            before, steps = len(logs(client)), rng.randrange(1, 4)
            while process.poll() is None and len(logs(client)) < before + steps:
                time.sleep(rng.uniform(0, 0.05))
            acknowledged = set(logs(client))
            hub.process.send_signal(signal.SIGKILL)
            hub.process.wait()
            process.kill()
            process.communicate()
    with started(on_files.folder) as hub:
        client = hub.client.as_(token)
        done = ended(command("--yes", "--project", f"harbour={CWD}", url=client.address, token=token))
        assert done[0] == 0, done
        assert logs(client) == paths
    store = open_store(on_files)
    whole(store)
    store.db.close()
