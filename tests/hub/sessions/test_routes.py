"""The pages of pushed sessions: as they lie in the store, for whoever may, made anew by a newer program."""

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hub.sessions.team import Machine
from tests.hub_client.pushing import write
from tests.log_builder.builder import LogBuilder
from tests.waiting import PATIENCE
from unspool.demo import write_demo
from unspool.hub.routes import Hub
from unspool.hub.sessions import routes, session_store
from unspool.hub.sessions.process_push import MadeSession
from unspool.hub.store.connect import Store
from unspool.site.build.manifest import fingerprint


def test_pages_are_served_as_they_lie_and_are_whole(machine: Machine) -> None:
    write_demo(machine.source)
    machine.push()
    for one in machine.member.get("/api/archive?limit=200").json["sessions"]:
        plain = machine.member.get(f"/sessions/{one['id']}/")
        packed = machine.member.client.ask(
            "GET", f"/sessions/{one['id']}/index.html", headers={"Accept-Encoding": "gzip"}
        )
        assert plain.headers["content-type"] == "text/html; charset=utf-8"
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body
        assert str(machine.source).encode() not in plain.body
        again = machine.member.client.ask(
            "GET", f"/sessions/{one['id']}/", headers={"If-None-Match": packed.headers["etag"]}
        )
        assert (again.status, again.body) == (304, b"")
        for asset in set(plain.body.decode().split('"')):
            if asset.startswith("../../assets/"):
                assert machine.member.get(asset.removeprefix("../..")).status == 200
    assert machine.member.get(f"/sessions/{one['id']}/nothing.html").status == 404


def test_pages_are_made_when_somebody_looks_and_again_after_a_push(machine: Machine) -> None:
    """A push keeps what is needed for lists and search, and no page."""
    log = LogBuilder().prompt("Where do boats moor?")
    log.assistant(log.text("At the quay.")).write(machine.source)
    machine.push()
    db, get = machine.member.store.db, machine.member.get
    (one,) = get("/api/archive").json["sessions"]
    where = f"/sessions/{one['id']}"
    assert machine.rows("session_page") == 0
    assert [found["session"]["id"] for found in get("/api/search?q=quay").json["found"]] == [one["id"]]
    parts = db.rows("SELECT * FROM text_part")
    with ThreadPoolExecutor(9) as readers:
        pages = list(readers.map(get, [f"{where}/page-001.html"] * 9))
    assert [page.status for page in pages] == [200] * 9
    assert all(b"At the quay." in page.body for page in pages)
    assert db.rows("SELECT * FROM text_part") == parts, "nothing but pages is made anew"
    made = machine.rows("session_page")
    assert made > 0
    assert get(f"{where}/nothing.html").status == 404
    log.prompt("And at night?").assistant(log.text("In the harbour.")).write(machine.source)
    assert [done.outcome for done in machine.push()] == ["pushed"]
    assert machine.rows("session_page") == 0
    assert b"In the harbour." in get(f"{where}/page-001.html").body


def test_who_looks_while_a_session_is_pushed_sees_what_was_pushed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder().prompt("Where do boats moor?")
    log.assistant(log.text("At the quay.")).write(machine.source)
    machine.push()
    (one,) = machine.member.get("/api/archive").json["sessions"]
    keep, left = session_store.keep_made, [1]

    def keep_late(store: Store, made: MadeSession) -> None:
        keep(store, made)
        if made.pages and left:
            left.clear()
            log.prompt("And at night?").assistant(log.text("In the harbour.")).write(machine.source)
            machine.push()

    monkeypatch.setattr(session_store, "keep_made", keep_late)
    page = machine.member.get(f"/sessions/{one['id']}/page-001.html")
    assert not left
    assert b"In the harbour." in page.body


def test_who_waits_for_pages_keeps_nobody_else_waiting(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    log = LogBuilder().prompt("Where do boats moor?")
    log.assistant(log.text("At the quay.")).write(machine.source)
    machine.push()
    get = machine.member.get
    (one,) = get("/api/archive").json["sessions"]
    write_pages, begun, going_on = routes._write_pages, threading.Semaphore(0), threading.Event()

    def write_late(here: Hub, session: str) -> bool:
        begun.release()
        assert going_on.wait(PATIENCE)
        return write_pages(here, session)

    monkeypatch.setattr(routes, "_write_pages", write_late)
    with ThreadPoolExecutor(24) as readers:
        pages = [readers.submit(get, f"/sessions/{one['id']}/") for _ in range(24)]
        try:
            assert all(begun.acquire(timeout=PATIENCE) for _ in range(routes._LOOKS))
            assert get("/api/archive").status == 200
            assert not any(page.done() for page in pages)
        finally:
            going_on.set()
    assert [page.result().status for page in pages] == [200] * 24


def test_a_newer_program_makes_the_pages_anew_when_they_are_asked_for(machine: Machine) -> None:
    write(machine.source.parent, 1)
    (machine.source / "projects").mkdir(exist_ok=True)
    for path in (machine.source.parent / ".claude/projects").iterdir():
        path.rename(machine.source / "projects" / path.name)
    machine.push()
    db = machine.member.store.db
    (one,) = machine.member.get("/api/archive").json["sessions"]
    before = machine.member.get(f"/sessions/{one['id']}/").body
    db.run("UPDATE session SET made = 'older'")
    db.run("DELETE FROM session_page WHERE name <> 'index.html'")
    db.run("UPDATE session_page SET digest = ?", "0" * 64)
    assert machine.member.get(f"/sessions/{one['id']}/").body == before
    assert db.row("SELECT made FROM session") == (fingerprint(),)
    assert machine.member.get(f"/sessions/{one['id']}/page-001.html").status == 200


def test_a_session_of_before_is_told_how_its_calls_ended_with_its_pages(machine: Machine) -> None:
    log = LogBuilder().prompt("go").failed("Bash", {"command": "x"}, "boom")
    refused, open_ = log.use("Bash"), log.use("Bash")
    log.assistant(refused).rejected(refused, "not that").assistant(open_).prompt("on").write(machine.source)
    machine.push()
    db = machine.member.store.db
    (one,) = machine.member.get("/api/archive").json["sessions"]
    ends = {"errors": 1, "refused": 1, "interrupted": 0, "unanswered": 1}
    assert {name: one[name] for name in ends} == ends
    db.run("UPDATE session SET made = 'older', errors = 3, refused = 0, unanswered = 0")
    page = machine.member.get(f"/sessions/{one['id']}/").body.decode()
    (again,) = machine.member.get("/api/archive").json["sessions"]
    assert {name: again[name] for name in ends} == ends
    told = "1 failed, 1 refused, 1 without a result"
    assert told in page
    assert told in machine.member.get("/sessions").body.decode()
