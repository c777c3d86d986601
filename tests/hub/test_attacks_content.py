"""Attacks on a hub by what is sent to it: disguised secrets, made-up figures and names, contents that vanish."""

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import msgspec
import pytest
import zstandard

from tests.hub.people.folk import ROOT
from tests.hub.running import Answer, running
from tests.hub.sessions.team import CWD, Member, team
from tests.hub.shares.bundles import GZIP, bundle, counts
from tests.hub.shares.bundles import log as shared_log
from tests.hub.shares.conftest import Place, place
from tests.log_builder.builder import LogBuilder
from tests.share import made
from unspool.hub import auth
from unspool.hub.errors import BadRequest, StoreUnavailable
from unspool.hub.people import erasure, tokens
from unspool.hub.routes import Hub, HubSettings
from unspool.hub.shares import share_store
from unspool.hub.shares.share import live_share
from unspool.hub.store.connect import Store
from unspool.hub.store.words import as_tokens, word_number
from unspool.hub.workers import WorkerPool, WorkLimits
from unspool.hub_client.manifest import FilePiece, ManifestFile, PushManifest, make_manifest, manifest_fault

KEY = "11111111-2222-4333-8444-555555555555"
SECRET = made.SECRETS["prompt"]


@pytest.fixture
def ann(files_store: Store) -> Iterator[Member]:
    """Somebody who may push to a project."""
    with team(files_store) as crew:
        yield crew.member("ann")


@pytest.fixture
def hub(files_store: Store) -> Iterator[Place]:
    """A hub on files, with people who share."""
    with running(files_store, HubSettings(url="https://hub.example", upload=20_000_000)) as client:
        yield place(files_store, client)


def said(text: str) -> bytes:
    """A session in which somebody says something."""
    log = LogBuilder(session_id=KEY, cwd=CWD)
    log.prompt(text).assistant(log.text("So it is."))
    (data,) = [data for name, data in log.tree().items() if name.endswith(".jsonl")]
    return data


def pushed(member: Member, files: dict[str, bytes]) -> Answer:
    """Files sent as they are, as a client without manners does."""
    way, parts = "/api/projects/harbour", []
    for name, data in sorted(files.items()):
        digest = sha256(data).hexdigest()
        assert member.client.ask("PUT", f"{way}/blobs/{digest}", zstandard.compress(data)).status == 204
        parts.append(ManifestFile(name, (FilePiece(digest, len(data)),)))
    return member.client.send("POST", f"{way}/sessions", msgspec.to_builtins(make_manifest(KEY, parts)))


# Disguises


def test_a_secret_in_a_packed_log_of_a_share_is_not_let_in(hub: Place) -> None:
    packed = {"subagents/agent-1.jsonl.gz": gzip.compress(said(f"my key is {SECRET}"))}
    assert hub.ann.ask("POST", "/api/shares", bundle(None, **packed), GZIP).status in (400, 422)


@pytest.mark.parametrize(
    "packed",
    [gzip.compress, zstandard.compress, lambda data: data.decode().encode("utf-16")],
    ids=["gzip", "zstd", "utf-16"],
)
@pytest.mark.parametrize("name", [f"{KEY}.jsonl", f"{KEY}/subagents/agent-1.jsonl.gz"], ids=["log", "subagent"])
def test_a_secret_in_a_packed_log_is_not_let_in(ann: Member, name: str, packed: Callable[[bytes], bytes]) -> None:
    """A reader would unpack what the door looked past."""
    answer = pushed(ann, {f"{KEY}.jsonl": said("hello"), name: packed(said(f"my key is {SECRET}"))})
    assert answer.status in (400, 422), answer
    assert ann.get("/api/archive").json["sessions"] == []


def test_a_secret_in_the_name_of_a_file_is_not_let_in(ann: Member) -> None:
    answer = pushed(ann, {f"{KEY}.jsonl": said("hello"), f"{KEY}/tool-results/{SECRET}.txt": b"text"})
    assert answer.status == 422
    assert SECRET not in answer.body.decode()
    sent = ann.client.ask("POST", "/api/shares", bundle(None, **{f"tool-results/{SECRET}.txt": b"text"}), GZIP)
    assert sent.status == 422
    assert SECRET not in sent.body.decode()


def test_a_secret_in_a_key_that_stands_twice_is_not_let_in(ann: Member) -> None:
    """What the line says is its last one; what is kept and given back is both."""
    data = said("hello").replace(b'"type":"user"', b'"note":"' + SECRET.encode() + b'","note":"","type":"user"', 1)
    assert SECRET.encode() in data
    assert pushed(ann, {f"{KEY}.jsonl": data}).status == 422


def test_a_secret_in_the_title_of_a_share_is_not_let_in(hub: Place) -> None:
    assert hub.ann.ask("POST", f"/api/shares?title=key%20{SECRET}", bundle(), GZIP).status == 422
    address = hub.share()
    answer = hub.ann.send("PATCH", f"/api/shares/{address}", {"title": f"key {SECRET}"})
    assert answer.status == 422
    assert SECRET not in answer.body.decode()
    assert SECRET.encode() not in hub.anybody.get(f"/{address}/").body


# What is shown to everybody else


def test_times_and_costs_of_one_session_keep_nobody_from_their_pages(files_store: Store) -> None:
    with team(files_store) as crew:
        ann = crew.member("ann")
        rows = [json.loads(line) for line in said("hello").splitlines()]
        answered = next(row for row in rows if row["type"] == "assistant")
        for number in range(300):
            usage = {"input_tokens": 1, "output_tokens": 1_300_000_000}
            message = {**answered["message"], "id": f"msg_{number}", "usage": usage, "model": "claude-opus-4-1"}
            rows.append({**answered, "uuid": f"u{number}", "requestId": f"req_{number}", "message": message,
                         "timestamp": "9999-12-31T23:59:59.999999Z"})  # fmt: skip
        data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        assert pushed(ann, {f"{KEY}.jsonl": data}).status == 200
        for path in ("/", "/sessions", "/usage", "/usage?by=person", "/search?q=hello", "/api/usage", "/api/archive",
                     "/api/usage?by=model", "/api/usage?by=month", "/me"):  # fmt: skip
            assert ann.get(path).status == 200, path


# Names and shapes


def test_a_name_of_many_parts_takes_no_memory() -> None:
    piece = (FilePiece("0" * 64, 1),)
    given = PushManifest(KEY, (ManifestFile(f"{KEY}.jsonl", piece), ManifestFile("a/" * 10_000, piece)), "0" * 64)
    tracemalloc.start()
    try:
        assert manifest_fault(given)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_what_is_deep_or_long_is_refused_with_a_reason(hub: Place) -> None:
    address = hub.share()
    deep = b'{"title":' + b"[" * 100_000
    assert hub.ann.ask("PATCH", f"/api/shares/{address}", deep).status == 400
    for way in ("/api/tokens", "/api/projects", "/api/erase", "/api/join", "/api/projects/x/have"):
        assert hub.ann.ask("POST", way, b"[" * 100_000).status < 500
        assert hub.ann.ask("POST", way, b'{"x":' + b"[" * 100_000).status < 500
    assert hub.ann.ask("POST", f"/api/shares?expires={'9' * 5000}", bundle(), GZIP).status == 400


# What is kept


@pytest.mark.parametrize("quota", [100, 5_000])
def test_what_is_over_a_quota_leaves_nothing_behind(store: Store, quota: int) -> None:
    """Neither where that is clear at once, nor where only what is made of it is too much."""
    assert 100 < len(bundle()) < 5_000
    with running(store, HubSettings(quota=quota)) as client:
        at = place(store, client)
        assert at.ann.ask("POST", "/api/shares", bundle(), GZIP).status == 429
    assert counts(store) == {"share": 0, "share_file": 0, "blob": 0}


def test_contents_that_go_while_a_share_is_kept_are_not_missed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Erasing one share removes the look that another one, which is just coming in, has as well."""
    make = share_store._made
    with running(store) as client:
        at = place(store, client)
        first = at.share()

        def slow(*args: Any, **named: Any) -> Any:
            monkeypatch.setattr(share_store, "_made", make)
            found = make(*args, **named)
            erasure.erase_permanently(store, ROOT, "share", first)
            return found

        monkeypatch.setattr(share_store, "_made", slow)
        assert at.ann.ask("POST", "/api/shares", bundle(shared_log("Another one.")), GZIP).status == 503
        assert store.db.rows("SELECT name FROM share_file WHERE digest NOT IN (SELECT digest FROM blob)") == []
        assert at.ann.ask("POST", "/api/shares", bundle(shared_log("Another one.")), GZIP).status == 201


def test_a_content_that_is_just_referred_to_is_not_dropped(store: Store) -> None:
    """Whoever removes it waits for whoever has it, and looks again."""
    digest = store.blobs.keep(b"a content").digest
    begun, go_on = threading.Event(), threading.Event()

    def refer() -> None:
        with store.db.transaction():
            store.db.run("UPDATE blob SET created = created + 1 WHERE digest = ?", digest)
            store.db.run("INSERT INTO share_file VALUES('address', 'name', ?, 'kind')", digest)
            begun.set()
            go_on.wait(5)

    thread = threading.Thread(target=refer)
    thread.start()
    begun.wait(10)
    threading.Timer(0.5, go_on.set).start()
    assert not store.blobs.drop(digest)
    thread.join()
    assert store.blobs.find(digest) is not None


def test_nothing_is_left_of_the_name_of_somebody_who_was_erased(store: Store) -> None:
    secret = tokens.create_invitation(store.db, ROOT, "Ann Onymous")
    taken = tokens.accept_invitation(store.db, secret)
    erasure.erase_permanently(store, ROOT, "person", taken.person)
    assert store.db.rows("SELECT name FROM invitation WHERE name <> ''") == []


# Who waits


def test_making_pages_anew_keeps_no_thread_of_others(hub: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of a form, and pages of an older hub: each may wait minutes for a free process."""
    address = hub.share()
    waited: list[str] = []
    run = WorkerPool.run

    def watched(self: WorkerPool, *args: Any, **named: Any) -> Any:
        waited.append(threading.current_thread().name)
        return run(self, *args, **named)

    monkeypatch.setattr(WorkerPool, "run", watched)
    ours = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
    assert hub.ann.ask("POST", f"/shares/{address}", b"raw=1", ours).status == 303
    hub.store.db.run("UPDATE share SET facts = '{}' WHERE address = ?", address)
    assert hub.anybody.get(f"/{address}/").status == 200
    until = threading.Event()
    for _ in range(100):
        if len(waited) == 2:
            break
        until.wait(0.1)
    assert len(waited) == 2
    assert all(name.startswith("unspool-waiting") for name in waited), waited


def test_every_page_of_a_share_that_is_read_is_written_down(files_store: Store) -> None:
    """By whatever name; its look is not worth a line."""
    with running(files_store) as client:
        at = place(files_store, client)
        address = at.share(query="?raw=1")
        (style,) = [name for (name,) in at.store.db.rows("SELECT name FROM share_file WHERE name LIKE '%shared-%css'")]
        for name in ("", "index.html", "bundle.tar.gz", style):
            assert at.bob.get(f"/{address}/{name}").status == 200
    read = files_store.db.rows("SELECT name, target FROM audit WHERE what = 'share.read'")
    assert read == [("bob", address)] * 3


@pytest.mark.parametrize("how", ["PUT", "freshen", "PATCH"])
def test_a_password_that_is_set_while_pages_are_made_stays(
    hub: Place, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Whoever looks at an old page has it made anew, and must not open by that what its owner just closed."""
    address, make = hub.share(), share_store._made
    share = live_share(hub.store.db, address)

    def meanwhile(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(share_store, "_made", make)
        assert hub.ann.send("PATCH", f"/api/shares/{address}", {"password": "high tide", "expires": "1h"}).status == 200
        return make(*args, **named)

    monkeypatch.setattr(share_store, "_made", meanwhile)
    if how == "PUT":
        hub.ann.ask("PUT", f"/api/shares/{address}", bundle(shared_log("Another one.")), GZIP)
    elif how == "PATCH":
        hub.ann.send("PATCH", f"/api/shares/{address}", {"title": "Another one"})
    else:
        share_store.remake_share(Hub(hub.store), share)
    assert hub.anybody.get(f"/{address}/").status == 401
    assert live_share(hub.store.db, address).expires is not None


def test_a_title_that_is_changed_while_pages_are_made_anew_stays(hub: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    address, make = hub.share(query="?title=Too%20much"), share_store._made
    share = live_share(hub.store.db, address)

    def meanwhile(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(share_store, "_made", make)
        assert hub.ann.send("PATCH", f"/api/shares/{address}", {"title": "Less"}).status == 200
        return make(*args, **named)

    monkeypatch.setattr(share_store, "_made", meanwhile)
    with pytest.raises(StoreUnavailable):
        share_store.remake_share(Hub(hub.store), share)
    assert b"Too much" not in hub.anybody.get(f"/{address}/").body


def test_nothing_is_left_of_what_an_erased_session_once_said(ann: Member) -> None:
    """Also not of what a later push took the place of."""
    for text in ("the heron stood there", "nothing of it"):
        done = pushed(ann, {f"{KEY}.jsonl": said(text)})
        assert done.status == 200
    assert erasure.erase_permanently(ann.store, ROOT, "session", str(done.json["session"]))["proved"]
    heron = as_tokens([word_number(b"heron")])
    assert ann.store.db.rows("SELECT words FROM text_part") == []
    assert ann.store.db.rows("SELECT rowid FROM words_of_part WHERE words_of_part MATCH ?", heron) == []
    referred = "SELECT digest FROM session_text UNION SELECT digest FROM piece UNION SELECT digest FROM share_file"
    assert ann.store.db.rows(referred) == []
    left = [b"".join(ann.store.blobs.read(digest)) for (digest,) in ann.store.db.rows("SELECT digest FROM blob")]
    assert [data for data in left if b"heron" in data and data.startswith(b"[[")] == []


def test_a_slow_line_can_send_a_large_piece_and_nobody_waits_for_a_small_one(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "PATIENCE", 0.2)
    data = said("hello")
    for method, way, packed, status in (
        ("PUT", f"/api/projects/harbour/blobs/{sha256(data).hexdigest()}", zstandard.compress(data), 204),
        ("POST", "/api/tokens", b"{}" + b" " * 100, 400),
    ):
        head = f"{method} {way} HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {ann.token}\r\nConnection: close\r\n"
        with socket.create_connection(("127.0.0.1", ann.client.port), 20) as line:
            line.sendall(f"{head}Content-Length: {len(packed)}\r\n\r\n".encode() + packed[:50])
            time.sleep(0.6)
            line.sendall(packed[50:])
            assert int(line.recv(65536).split(b" ", 2)[1]) == status


def _stumbles(text: str) -> None:
    raise ValueError(text)


def test_work_that_stumbles_tells_the_log_no_content(capfd: pytest.CaptureFixture[str]) -> None:
    work = WorkerPool(WorkLimits(1))
    with pytest.raises(BadRequest):
        work.run(_stumbles, SECRET)
    work.stop()
    said = capfd.readouterr().err
    assert "in _stumbles" in said
    assert "ValueError" in said
    assert SECRET not in said
