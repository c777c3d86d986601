"""An object store that goes away, refuses or says nothing is told of, and comes back by itself."""

import os
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.hub.servers import SECRET, Servers, patient
from tests.waiting import ending
from unspool.errors import UsageProblem
from unspool.hub.errors import HubError, StoreFull, StoreUnavailable
from unspool.hub.store.blobs import MadeFile
from unspool.hub.store.connect import Store, StorePlace, open_store
from unspool.hub.store.s3 import Bucket


def test_an_object_store_that_is_away_is_told_and_comes_back(
    servers: Servers, servers_store: Store, tmp_path: Path
) -> None:
    """Every operation says so; what was kept is there again, what was not kept is not."""
    store = servers_store
    blob = store.blobs.keep(b"kept")
    (tmp_path / "large").write_bytes(bytes(9 * 1024 * 1024))
    large = MadeFile("large", tmp_path / "large", "0" * 64, 1, "", "")
    servers.s3.stop()
    try:
        for ask in (
            lambda: store.blobs.keep(b"new"),
            lambda: store.blobs.keep_file(large),
            lambda: list(store.blobs.read(blob.digest)),
            lambda: store.objects.size(blob.key),
            lambda: store.objects.delete(blob.key),
            lambda: list(store.objects.keys("blobs/")),
        ):
            with pytest.raises(StoreUnavailable, match="does not answer"):
                ask()
        assert not store.objects.well()
    finally:
        servers.s3.start()
    assert store.objects.well()
    assert b"".join(store.blobs.read(blob.digest)) == b"kept"
    assert store.db.row("SELECT count(*) FROM blob") == (1,)


def test_an_object_store_that_stops_in_the_middle_is_told(servers: Servers, servers_store: Store) -> None:
    """Of one who reads, and of one who writes: nothing of that is there afterwards."""
    store, large = servers_store, [os.urandom(1024 * 1024)] * 24
    store.objects.put("large", large)
    reading = store.objects.get("large")
    next(reading)

    def stopping() -> Iterator[bytes]:
        yield from large[:18]
        servers.s3.stop()
        yield from large[18:]

    try:
        with pytest.raises(StoreUnavailable):
            store.objects.put("new", stopping())
        with pytest.raises(StoreUnavailable):
            list(reading)
    finally:
        servers.s3.start()
    assert list(store.objects.keys("")) == ["large"]


def test_an_upload_that_breaks_off_is_taken_back(
    servers: Servers, servers_store: Store, on_servers: StorePlace
) -> None:
    """No part of it stays in the store."""

    def broken() -> Iterator[bytes]:
        yield from [bytes(1024 * 1024)] * 30
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        servers_store.objects.put("blobs/new", broken())
    prefix = on_servers.bucket.removeprefix("s3://").partition("?")[0]
    folder = servers.s3.folder / prefix
    patient(lambda: not [path for path in folder.rglob("*") if path.is_file()], lambda: "parts stay in the bucket")


def test_an_object_store_that_says_nothing_is_told_of(on_servers: StorePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes connections and never answers."""
    monkeypatch.setattr("unspool.hub.store.s3._SILENCE", timedelta(seconds=1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"s3://hub/x?endpoint=http://127.0.0.1:{silent.getsockname()[1]}&region=us-east-1"
        store = open_store(on_servers._replace(bucket=address))
        with ending():
            assert not store.objects.well()
        store.db.close()


class _Answering(BaseHTTPRequestHandler):
    """A store that answers everything alike."""

    status, body = 507, b""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(507, "", StoreFull), (500, "XStorageFull", StoreFull), (503, "SlowDown in 507 ms", StoreUnavailable)],
)
def test_a_store_without_room_is_told_from_one_in_trouble(
    credentials: None, status: int, code: str, kind: type[Exception]
) -> None:
    """By what it answers, and by nothing else that stands in its answer."""
    handler = type("Handler", (_Answering,), {"status": status, "body": f"<Error><Code>{code}</Code></Error>".encode()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        bucket = Bucket(f"s3://hub/507 x?endpoint=http://127.0.0.1:{server.server_port}&region=us-east-1")
        with pytest.raises(HubError) as raised:
            bucket.put("blobs/507", [b"x"])
        server.shutdown()
    assert type(raised.value) is kind


def test_a_bucket_that_is_not_there_or_not_ours_is_told(
    on_servers: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another name, another secret."""
    absent = open_store(on_servers._replace(bucket=on_servers.bucket.replace("s3://hub/", "s3://none/")))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET + "x")
    refused = open_store(on_servers)
    for store, reason in ((absent, "does not exist"), (refused, "does not let the hub in")):
        assert not store.objects.well()
        with pytest.raises(StoreUnavailable, match=reason):
            store.blobs.keep(b"x")
        store.db.close()


@pytest.mark.parametrize(
    "address",
    [
        "s3://",
        "s3:///prefix",
        "s3://key:secret@bucket/x",
        "s3://bucket?colour=red",
        "s3://bucket?endpoint",
        "gs://bucket",
    ],
)
def test_an_address_that_is_none_is_no_use(tmp_path: Path, address: str) -> None:
    """And nothing is made before that is seen."""
    with pytest.raises(UsageProblem):
        open_store(StorePlace(tmp_path / "hub", bucket=address))
    assert not (tmp_path / "hub").exists()
