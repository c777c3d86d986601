"""The pages of pushed sessions: as they lie in the store, for whoever may, made anew by a newer program."""

import gzip

from tests.hub.sessions.team import Machine
from tests.hub_client.pushing import write
from tests.log_builder.builder import LogBuilder
from unspool.demo import write_demo
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
