"""`unspool import` into the archive: what somebody sent can be read like one's own, or nothing is kept."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.cli.running import run, source
from tests.store.library.test_bundle import HOSTILE, SESSION, bundle, log, member, packed
from unspool import http
from unspool.store.archive.database import archive_folder

PLANNING = "1a0b0c0d-1111-4222-8333-444455556666"
BUNDLE = bundle(member("source-session.jsonl", log(PLANNING, "Plan it.")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "talk.tar.gz"
    made.write_bytes(BUNDLE)
    return made


def imported(*arguments: object) -> dict[str, Any]:
    done = run("import", *map(str, arguments), "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def listed() -> dict[str, dict[str, Any]]:
    done = run("list", "--json")
    assert done.code == 0, done.err
    return {one["id"]: one for one in json.loads(done.out)["sessions"]}


def test_a_bundle_is_kept_and_read_like_any_session(path: Path) -> None:
    """Listed, shown, found by its words, and given back byte for byte; nothing is written to the agent's folder."""
    told = imported(path)
    assert [one["session"] for one in told["sessions"]] == [SESSION, PLANNING]
    assert told["outcome"] == "kept"
    assert set(listed()) == {SESSION, PLANNING}
    assert "Packed." in run("show", SESSION).out
    assert SESSION[:8] in run("search", "Pack me").out
    assert run("restore", SESSION, "--to", str(path.parent / "back")).code == 0
    (back,) = (path.parent / "back").rglob(f"{SESSION}.jsonl")
    assert back.read_bytes() == log()
    assert not (Path.home() / ".claude").exists()
    assert run("verify").code == 0


def test_what_is_kept_goes_on_here(path: Path, tmp_path: Path) -> None:
    imported(path)
    done = run("move", SESSION, "--to", str(tmp_path / "tool"), "--json")
    assert done.code == 0, done.err
    assert run("lint", json.loads(done.out)["files"][0]["path"]).code == 0


def test_the_same_is_kept_once_and_what_changed_beside_it(path: Path) -> None:
    imported(path)
    assert imported(path)["outcome"] == "already kept"
    path.write_bytes(packed(member("session.jsonl", log(SESSION, "Pack me anew."))))
    assert imported(path)["outcome"] == "kept"
    assert set(listed()) == {SESSION, PLANNING}
    assert "Pack me anew." in run("show", SESSION).out


def test_other_imports_and_syncs_leave_it(path: Path, tmp_path: Path) -> None:
    imported(path)
    other = "2a0b0c0d-1111-4222-8333-444455556666"
    path.write_bytes(packed(member("session.jsonl", log(other))))
    imported(path)
    assert run("sync").code == 0
    assert set(listed()) == {SESSION, PLANNING, other}


def test_a_session_of_ones_own_is_not_doubled(path: Path, home: Path) -> None:
    own = home / ".claude" / "projects" / "-home-eve-tool" / f"{SESSION}.jsonl"
    own.parent.mkdir(parents=True)
    own.write_bytes(log())
    done = run("import", str(path))
    assert done.code == 10
    assert str(own) in done.err
    assert not (archive_folder() / "archive.db").exists()


def test_what_was_forgotten_does_not_come_back(path: Path) -> None:
    imported(path)
    assert run("forget", SESSION, "--yes").code == 0
    done = run("import", str(path))
    assert done.code == 2
    assert "forgotten" in done.err
    assert run("sync").code == 0
    assert set(listed()) == {PLANNING}


def test_it_is_as_old_as_what_was_said_in_it(path: Path) -> None:
    """So that it is not the latest session of whoever took it in."""
    imported(path)
    assert listed()[SESSION]["log"]["modified"] == listed()[SESSION]["ended"]


BARE = {
    "log.jsonl": log(),
    "log.jsonl.gz": gzip.compress(log()),
    "log.jsonl.zst": zstandard.compress(log()),
    "export.json": json.dumps({"loglines": [json.loads(line) for line in log().splitlines()]}).encode(),
    "log": log(),
}


@pytest.mark.parametrize("name", BARE)
def test_a_log_by_itself_is_kept_too(tmp_path: Path, name: str) -> None:
    """Packed, or one document, and whatever it is called; --to goes on with it."""
    (tmp_path / name).write_bytes(BARE[name])
    assert [one["session"] for one in imported(tmp_path / name)["sessions"]] == [SESSION]
    assert "Packed." in run("show", SESSION).out
    told = imported(tmp_path / name, "--to", tmp_path / "tool")
    assert told["sessions"][0]["source_path"] == str(tmp_path / name)


def test_a_log_at_home_brings_its_subagents(tmp_path: Path) -> None:
    from tests.share.made import session

    source(tmp_path / "other", made := session())
    (own,) = (tmp_path / "other" / "projects").glob(f"*/{made.session_id}.jsonl")
    assert imported(own)["sessions"][0]["subagents"] == 1
    assert "Found." in run("show", made.session_id, "--with-subagents").out


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_of_a_hostile_bundle_nothing_is_kept(path: Path, home: Path, kind: str) -> None:
    path.write_bytes(HOSTILE[kind]())
    done = run("import", str(path))
    assert done.code == 5, (done.out, done.err)
    assert done.err.startswith("unspool: ")
    assert [file for file in home.rglob("*") if file.is_file()] == []


WRONG = {
    "noise": bytes(range(256)) * 40,
    "nothing": b"",
    "no objects": b"null\n7\n[]\n",
    "wrong types": b'{"type":7,"uuid":[],"message":"x","sessionId":{}}\n' * 3,
    "another kind": b'{"name":"package","version":"1.0.0"}\n',
}


@pytest.mark.parametrize("what", WRONG)
def test_a_log_that_is_none_is_refused(path: Path, home: Path, what: str) -> None:
    path.write_bytes(packed(member("session.jsonl", WRONG[what])))
    done = run("import", str(path))
    assert done.code == 5, (done.out, done.err)
    assert [file for file in home.rglob("*") if file.is_file()] == []


def test_a_packed_log_that_never_ends_is_refused(tmp_path: Path, home: Path) -> None:
    bomb = tmp_path / "bomb.jsonl.gz"
    bomb.write_bytes(gzip.compress(log() + b"\n" * 70 * 1024**2))
    for more in ((), ("--to", str(tmp_path / "tool"))):
        done = run("import", str(bomb), *more)
        assert (done.code, "more than a session" in done.err) == (5, True)
    assert [file for file in home.rglob("*") if file.is_file()] == []


def test_a_dry_run_tells_and_keeps_nothing(path: Path, home: Path) -> None:
    assert imported(path, "--dry-run")["outcome"] == "would be kept"
    assert not (archive_folder() / "archive.db").exists()


@pytest.mark.parametrize("more", [("--rename", "/a=/b"), ("-o", "x"), ("--title", "x"), ("--dsp",)], ids=str)
def test_what_is_said_of_a_copy_needs_a_place_for_it(path: Path, more: tuple[str, ...]) -> None:
    done = run("import", str(path), *more)
    assert (done.code, "--to" in done.err) == (2, True)


class _Web(BaseHTTPRequestHandler):
    """A web server that somebody else has, who means harm."""

    def do_GET(self) -> None:
        name = self.path[1:]
        if name.startswith("to/"):
            self.send_response(302)
            self.send_header("Location", name[3:].replace("HERE", f"http://{self.headers['Host']}"))
            self.end_headers()
            return
        if name == "gone":
            self.send_error(404)
            return
        data = b"<!doctype html><p>hello" if name == "page" else BUNDLE
        self.send_response(200)
        self.send_header("Content-Length", str(len(data) * (2 if name == "short" else 1)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("way", ["talk.tar.gz", "talk?download=1", "to/HERE/talk.tar.gz"])
def test_a_bundle_is_fetched(web: str, way: str) -> None:
    told = imported(f"{web}/{way}")
    assert [one["session"] for one in told["sessions"]] == [SESSION, PLANNING]
    assert SESSION in listed()


def test_a_bundle_of_the_web_goes_on_here(web: str, tmp_path: Path) -> None:
    told = imported(f"{web}/talk.tar.gz", "--to", tmp_path / "tool")
    assert [one["source_path"] for one in told["sessions"]] == [f"{web}/talk.tar.gz"] * 2
    assert run("lint", told["sessions"][0]["files"][0]["path"]).code == 0


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("to/file:///etc/passwd", 6),
        ("to/ftp://127.0.0.1/talk.tar.gz", 6),
        ("to/data:text/plain,x", 6),
        ("to/HERE/to/HERE/to/file:///etc/passwd", 6),
        ("gone", 6),
        ("short", 6),
        ("page", 5),
    ],
)
def test_what_is_no_bundle_is_told_and_leaves_nothing(web: str, home: Path, way: str, code: int) -> None:
    done = run("import", f"{web}/{way}")
    assert done.code == code, (done.out, done.err)
    assert done.err.startswith("unspool: ")
    assert web in done.err
    assert [file for file in home.rglob("*") if file.is_file()] == []


def test_what_is_too_large_is_not_fetched(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http.fetch, "__defaults__", (100, 5))
    done = run("import", f"{web}/talk.tar.gz")
    assert (done.code, "larger than" in done.err) == (6, True)


@pytest.mark.parametrize("name", ["file:///etc/hostname", "ftp://example.org/x.tar.gz", "data://x", "gopher://x/y"])
def test_other_addresses_are_not_fetched(name: str) -> None:
    done = run("import", name)
    assert (done.code, "http" in done.err) == (6, True)
