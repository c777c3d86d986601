"""Uploads that mean harm: refused with a reason, nothing left behind, nothing revealed, and the hub goes on."""

import gzip
import io
import os
import resource
import select
import socket
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import repeat
from pathlib import Path

import pytest
import zstandard

from tests.hub.shares.bundles import GZIP, bundle, counts, form, lines, log, named, ndjson, packed, tarred
from tests.hub.shares.conftest import Place
from tests.site.browser import hostile
from tests.waiting import PATIENCE, until
from unspool.hub.errors import StoreFull
from unspool.hub.shares import upload
from unspool.hub.shares.upload import ShareJob, make_share
from unspool.hub.workers import WorkerPool, WorkLimits, worker_pool

NOTHING = {"share": 0, "share_file": 0, "blob": 0}


@pytest.fixture
def attacked(hub: Place, home: Path) -> Iterator[Place]:
    """A hub that has kept nothing when the test is over."""
    yield hub
    assert counts(hub.store) == NOTHING
    assert list(hub.store.objects.keys("")) == []
    assert left(home) == []


def left(home: Path) -> list[Path]:
    """Files and folders of uploads that are still there. A folder that goes while one looks is no longer there."""
    found = ((Path(base), (*folders, *files)) for base, folders, files in os.walk(home))
    return [base / name for base, names in found if base.name == "scratch" for name in names]


def member(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    """A bundle that is good but for one member."""
    size = len(data) if kind == tarfile.REGTYPE else 0
    good = [(named("session.jsonl", len(lines())), lines())]
    return gzip.compress(tarred([*good, (named(name, size, kind, link), data)]), 1)


def lying(size: int) -> bytes:
    """A bundle with a member that says it is as large as this, and is not."""
    info = named("session.jsonl", size)
    return gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + lines() + b"\0" * 1024)


@cache
def zeros(size: int) -> bytes:
    """So many zeros, packed."""
    held = io.BytesIO()
    with gzip.GzipFile(fileobj=held, mode="wb", compresslevel=9) as out:
        for _ in range(size // 1_000_000):
            out.write(b"\0" * 1_000_000)
    return held.getvalue()


def bomb() -> bytes:
    """A member that is a hundred megabytes, in a hundred kilobytes."""
    info = named("session.jsonl", 100_000_000)
    return gzip.compress(info.tobuf()) + zeros(100_000_000)


BUNDLES: dict[str, Callable[[], bytes]] = {
    "leads out": lambda: member("../../evil"),
    "absolute": lambda: member("/etc/cron.d/evil"),
    "of another system": lambda: member("C:\\evil"),
    "a link": lambda: member("images/a.png", kind=tarfile.SYMTYPE, link="/etc/passwd"),
    "a hard link": lambda: member("images/a.png", kind=tarfile.LNKTYPE, link="/etc/passwd"),
    "a device": lambda: member("images/a.png", kind=tarfile.CHRTYPE),
    "a pipe": lambda: member("session2.jsonl", kind=tarfile.FIFOTYPE),
    "twice": lambda: member("session.jsonl"),
    "escapes": lambda: member("images/\x1b[2J.png"),
    "a long name": lambda: member("images/" + "x" * 5000),
    "too deep": lambda: member("a/" * 60 + "x"),
    "says it is huge": lambda: lying(10**12),
    "says it is larger": lambda: lying(10**6),
    "cut": lambda: bundle()[:-40],
    "not packed": lines,
    "a picture": lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    "empty": lambda: b"",
    "zstd": lambda: zstandard.compress(tarred([(named("session.jsonl", len(lines())), lines())])),
    "zeros": lambda: zeros(100_000_000),
    "bomb": bomb,
    "zstd bomb": lambda: zstandard.compress(bytes(200_000_000)),
    "bomb inside": lambda: packed({"session.jsonl": zeros(100_000_000)}.items()),
    "zstd bomb inside": lambda: packed({"session.jsonl": zstandard.compress(b"[" * 100_000_000)}.items()),
    "bomb beside": lambda: packed({"session.jsonl": lines(), "subagents/agent-x.jsonl": zeros(100_000_000)}.items()),
}


@pytest.mark.parametrize("what", BUNDLES)
def test_a_hostile_bundle_is_refused_with_a_reason(attacked: Place, home: Path, what: str) -> None:
    answer = attacked.ann.ask("POST", "/api/shares", BUNDLES[what](), GZIP)
    assert answer.status == 400, answer
    reason = str(answer.json["reason"])
    assert reason.isprintable()
    assert 10 < len(reason) <= 500
    assert not any(place in reason for place in ("scratch", "unspool", str(home), "Traceback"))


def test_the_hub_goes_on_after_attacks_and_good_uploads_leave_nothing_beside(hub: Place, home: Path) -> None:
    for what in ("leads out", "bomb", "cut"):
        assert hub.ann.ask("POST", "/api/shares", BUNDLES[what](), GZIP).status == 400
        assert hub.ann.ask("POST", "/api/sessions", bundle(), GZIP).status == 200
        assert left(home) == []


@pytest.mark.parametrize(
    "log",
    [
        b"[" * 100_000 + b"]" * 100_000 + b"\n",
        b'{"type":"user","message":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}\n",
        ndjson(*({"type": 3, "uuid": [], "message": "x", "parentUuid": {}, "timestamp": -1} for _ in range(50))),
        ndjson({"type": "user", "message": {"role": "user", "content": [[[[]]]]}, "timestamp": "9" * 100}),
    ],
    ids=["nested", "nested objects", "wrong types", "odd content"],
)
def test_a_strange_log_is_shown_or_refused(hub: Place, log: bytes) -> None:
    answer = hub.ann.ask("POST", "/api/shares", packed({"session.jsonl": log}.items()), GZIP)
    assert answer.status in (201, 400), answer


def test_hostile_sessions_are_shown_and_do_nothing(hub: Place, tmp_path: Path) -> None:
    hostile.write(tmp_path)
    for path in sorted(tmp_path.rglob("????????-bad0-*.jsonl"))[:2]:
        members = {"session.jsonl": path.read_bytes()}
        beside = path.with_suffix("")
        members |= {one.relative_to(beside).as_posix(): one.read_bytes() for one in beside.rglob("*") if one.is_file()}
        answer = hub.ann.ask("POST", "/api/shares", packed(members.items()), GZIP)
        assert answer.status == 201, answer
        assert "\n" not in str(answer.json["title"])
        address = str(answer.json["address"])
        names = hub.store.db.rows("SELECT name FROM share_file WHERE address = ? AND name LIKE ?", address, "%.html")
        for (name,) in names:
            page = hub.anybody.get(f"/{address}/{name}")
            assert (page.status, active(page.body.decode())) == (200, [])


def active(html: str) -> list[str]:
    """What of a page would run, or load something from elsewhere."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            if tag in ("iframe", "object", "embed", "base", "style", "form") or any(name[:2] == "on" for name in given):
                found.append(f"{tag} {given}")
            if tag in ("script", "img", "link") and (given.get("src") or "").partition(":")[0] in ("http", "https"):
                found.append(f"{tag} {given}")
            if tag == "script" and "src" not in given and given.get("type") != "application/json":
                found.append(tag)

    Reader().feed(html)
    return found


def test_a_form_is_no_way_around(attacked: Place) -> None:
    for data in (BUNDLES["leads out"](), BUNDLES["a link"]()):
        body, headers = form("file", data)
        assert attacked.ann.ask("POST", "/api/sessions", body, headers).status == 400
    cut, headers = form("file", bundle())
    assert attacked.ann.ask("POST", "/api/sessions", cut[:-30], headers).status == 400
    for kind in ("multipart/form-data", "multipart/form-data; boundary=" + "x" * 200):
        assert attacked.ann.ask("POST", "/api/sessions", cut, {"Content-Type": kind}).status == 400
    many = b'--e\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n' * 500
    assert (
        attacked.ann.ask("POST", "/api/sessions", many, {"Content-Type": "multipart/form-data; boundary=e"}).status
        == 400
    )


def raw(hub: Place, head: str, body: Iterator[bytes] | None = None, pause: float = 0) -> bytes:
    """What the hub answers to a request that is written by hand, with pauses between the pieces of its body."""
    lines = f"POST /api/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.ann.token}\r\n{head}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", hub.ann.port), PATIENCE) as line:
        line.sendall(lines.encode())
        try:
            for piece in body or ():
                line.sendall(piece)
                if select.select([line], [], [], pause)[0]:
                    break
        except OSError:
            pass  # it has refused already
        line.settimeout(PATIENCE)
        return line.recv(65536)


def test_a_size_that_is_too_large_is_refused_before_anything_is_read(attacked: Place) -> None:
    answer = raw(attacked, "Content-Type: application/gzip\r\nContent-Length: 99999999999")
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_without_a_size_is_cut_off_at_the_limit(attacked: Place) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(400):
            yield b"10000\r\n" + b"x" * 65536 + b"\r\n"

    answer = raw(attacked, "Content-Type: application/gzip\r\nTransfer-Encoding: chunked", endless())
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_that_stops_or_drips_is_not_waited_for(attacked: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "SILENT", 0.5)
    answer = raw(attacked, "Content-Type: application/gzip\r\nContent-Length: 1000", iter([b"x"]))
    assert answer.startswith(b"HTTP/1.1 408")
    monkeypatch.setattr(upload, "GRACE", 0.5)

    dripping = repeat(b"x", 900)
    answer = raw(attacked, "Content-Type: application/gzip\r\nContent-Length: 1000", dripping, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_body_that_breaks_off_leaves_nothing(attacked: Place, home: Path) -> None:
    with socket.create_connection(("127.0.0.1", attacked.ann.port), PATIENCE) as line:
        head = f"POST /api/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {attacked.ann.token}\r\n"
        line.sendall(f"{head}Content-Type: application/gzip\r\nContent-Length: 100000\r\n\r\n".encode() + b"x" * 5000)
        until(lambda: left(home))
    until(lambda: not left(home))


def test_work_that_is_killed_leaves_nothing_and_is_told(attacked: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = worker_pool()._bounds
    monkeypatch.setattr(worker_pool(), "_bounds", bounds._replace(seconds=0.01))
    answer = attacked.ann.ask("POST", "/api/sessions", bundle(), GZIP)
    assert answer.status == 400
    assert "seconds" in str(answer.json["reason"])
    monkeypatch.setattr(worker_pool(), "_bounds", bounds)


def test_a_disk_without_room_is_told_and_not_taken_for_a_bad_bundle(attacked: Place, tmp_path: Path) -> None:
    (tmp_path / "sent").write_bytes(bundle(log("x" * 200_000)))
    alone = WorkerPool(WorkLimits(processes=1))
    with pytest.raises(StoreFull):
        alone.run(cramped, ShareJob(tmp_path / "sent", tmp_path / "made"))
    alone.stop()


def cramped(job: ShareJob) -> object:
    """What is made where no file may be larger than a little."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    return make_share(job)


def test_a_token_that_does_not_hold_uploads_nothing(attacked: Place) -> None:
    for wrong in ("uns_wrong", "", "x" * 5000):
        answer = attacked.anybody.ask("POST", "/api/sessions", bundle(), {**GZIP, "Authorization": f"Bearer {wrong}"})
        assert answer.status in (401, 431)
