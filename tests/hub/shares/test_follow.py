"""A share that grows with its session: sent by a real process, asked for by readers."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import run, source
from tests.hub.running import Answer, Client, running
from tests.hub.shares.bundles import SESSION, bundle, log
from tests.hub.shares.conftest import Place, place
from tests.waiting import PATIENCE, until
from unspool.hub.store.connect import Store


@pytest.fixture
def at(files_store: Store, tmp_path: Path) -> Iterator[Place]:
    """A hub where Ann is signed in by the command."""
    with running(files_store) as client:
        here = place(files_store, client)
        (tmp_path / "token").write_text(here.ann.token)
        assert run("login", client.address, "--token-file", str(tmp_path / "token")).code == 0
        yield here


def version(client: Client, address: str) -> int:
    return told(client.get(f"/{address}/version.js"))[0]


def told(answer: Answer) -> tuple[int, int]:
    """The version, and when it came."""
    found = re.fullmatch(r'document\.documentElement\.dataset\.shared = "(\d+) (\d+)";\n', answer.body.decode())
    assert found, answer
    return int(found[1]), int(found[2])


def test_readers_ask_for_the_version_and_are_told_little(hub: Place) -> None:
    address = hub.share()
    first = hub.anybody.get(f"/{address}/version.js")
    assert told(first)[0] == 1
    known = {"If-None-Match": first.headers["etag"]}
    assert hub.anybody.ask("GET", f"/{address}/version.js", None, known).status == 304
    page = hub.anybody.get(f"/{address}/")
    assert "last-modified" in page.headers
    assert b"connect-src" not in page.body
    assert b"assets/follow-" in page.body
    hub.ann.ask("PUT", f"/api/shares/{address}", bundle(log("more")), {"Content-Type": "application/gzip"})
    assert hub.anybody.ask("GET", f"/{address}/version.js", None, known).status == 200
    reads = hub.store.db.rows("SELECT 1 FROM audit WHERE what = 'share.read' AND target LIKE '%version%'")
    assert reads == []


def test_a_password_keeps_the_version_too(hub: Place) -> None:
    address = hub.share(Share_Password="open sesame")
    assert hub.anybody.get(f"/{address}/version.js").status == 404
    opened = hub.anybody.ask("POST", f"/{address}/", b"password=open+sesame")
    cookie = {"Cookie": opened.headers["set-cookie"].partition(";")[0]}
    answer = hub.anybody.ask("GET", f"/{address}/version.js", None, cookie)
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")


def test_follow_is_for_a_hub_and_for_a_log_on_this_machine(at: Place, tmp_path: Path) -> None:
    given = source(tmp_path / "logs", log())
    done = run("share", SESSION, *given, "--bundle", "--follow", "--yes")
    assert (done.code, "add --hub" in done.err) == (2, True)
    sent = tmp_path / "sent.tar.gz"
    sent.write_bytes(bundle())
    done = run("share", str(sent), "--hub", "--follow", "--yes")
    assert (done.code, "whose log lies on this machine" in done.err) == (2, True)


def test_a_share_grows_with_its_session_until_it_is_interrupted(at: Place, tmp_path: Path) -> None:
    one = log()
    given = source(tmp_path / "logs", one)
    command = [sys.executable, "-m", "unspool", "share", SESSION, *given, "--hub", "--yes", "--follow"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy())
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        found = re.search(r"/([\w-]{22})\n", process.stdout.readline().decode())
        assert found
        address = found[1]
        assert version(at.anybody, address) == 1
        while b"Following" not in (line := process.stderr.readline()):
            assert line, "it ended"
        one.prompt("And the moon?").assistant(one.text("The moon is full."))
        one.write(tmp_path / "logs")
        until(lambda: version(at.anybody, address) == 2)
        assert b"The moon is full." in at.anybody.get(f"/{address}/page-001.html").body
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()
    assert version(at.anybody, address) == 2, "what is shown stays"


def test_following_ends_with_the_share(at: Place, tmp_path: Path) -> None:
    one = log()
    given = source(tmp_path / "logs", one)
    command = [sys.executable, "-m", "unspool", "share", SESSION, *given, "--hub", "--yes", "--follow"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy())
    assert process.stdout is not None
    try:
        address = process.stdout.readline().decode().strip().rpartition("/")[2]
        assert at.ann.ask("DELETE", f"/api/shares/{address}").status == 200
        one.prompt("More?").assistant(one.text("More."))
        one.write(tmp_path / "logs")
        assert process.wait(PATIENCE) == 3
    finally:
        process.kill()
        process.communicate()
