"""Sessions as they leave people's machines, sent to a hub by its protocols; redacted before, so only the hub works.

A client that redacts costs its own machine time; here it would take it from the hub that is measured.
"""

import gzip
import io
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

import zstandard

from bench.hub_running import Hubs
from unspool.errors import Declined
from unspool.hub_client.client import HubClient, UploadBody
from unspool.hub_client.login import HubEntry, parse_address
from unspool.hub_client.manifest import ManifestFile, file_chunks, file_pieces, make_manifest
from unspool.hub_client.prepare import PushRedaction, prepare_push
from unspool.redact.policy import RedactionPolicy
from unspool.store.library import Library

SENDERS = 4
"""At the same time."""
_KEY = b"a key of nobody's, for the bench"
_PREPARED = "prepared"
_Asked = TypeVar("_Asked")


class Ready(NamedTuple):
    """A session that may leave."""

    key: str
    agent: str
    files: tuple[tuple[str, Path], ...]
    size: int
    """Bytes of all files."""


class Sending(NamedTuple):
    """How much was sent, and what that took."""

    sessions: int
    size: int
    seconds: float
    cpu: float
    """Seconds of all cores in the hub."""
    database: float

    @property
    def told(self) -> str:
        rate = f"{self.sessions / self.seconds:.1f} a second"
        rate += f", {self.size / self.seconds / 1e6:.1f} MB/s of logs" if self.size else ""
        behind = f" and {1000 * self.database / self.sessions:.0f} ms of the database" if self.database else ""
        return f"{rate}; {1000 * self.cpu / self.sessions:.0f} ms of a core{behind} each"


def ready(source: Path, folder: Path) -> list[Ready]:
    """The sessions of a source, redacted by the usual policy into a folder."""
    found = []
    for number, log in enumerate(Library((source,)).logs()):
        made = prepare_push(log, PushRedaction(RedactionPolicy(), _KEY, {}), folder / f"{_PREPARED}-{number}")
        if made.files and made.files[0][0].endswith(".jsonl"):
            found.append(Ready(made.key, log.agent_id, made.files, made.size))
    return found


def client(address: str, token: str) -> HubClient:
    """A person's, for one thread."""
    return HubClient(parse_address(address), HubEntry(token))


def push(asked: HubClient, project: str, one: Ready) -> str:
    """Push a session; its id at the hub."""
    way = f"/api/projects/{project}"
    for _, path in one.files:
        for data in file_chunks(path):
            packed = zstandard.ZstdCompressor(6).compress(data)
            asked.send("PUT", f"{way}/blobs/{sha256(data).hexdigest()}", UploadBody(packed, "application/zstd"))
    whole = make_manifest(one.key, (ManifestFile(name, file_pieces(path)) for name, path in one.files), one.agent)
    session: str = asked.ask("POST", f"{way}/sessions", whole)["session"]
    return session


def view(asked: HubClient, session: str) -> str:
    """Look at the first page of a session; its address."""
    address = f"/sessions/{session}/"
    asked.send("GET", address)
    return address


def share(asked: HubClient, one: Ready) -> str:
    """Share a session's log; its address."""
    sent = UploadBody(bundle(one), "application/gzip")
    address: str = asked.send("POST", "/api/shares", sent).json()["address"]
    return address


def bundle(one: Ready) -> bytes:
    """A session's log as `unspool share` packs it."""
    meta = f"BUNDLE_VERSION=1\nSESSION_ID={one.key}\nAGENT=CC\n".encode()
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, data in (("metadata.txt", meta), ("session.jsonl", one.files[0][1].read_bytes())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(held.getvalue(), 1)


class Crowd:
    """People who send at the same time, each to one of some hubs."""

    def __init__(self, hubs: Hubs, token: str) -> None:
        self._hubs, self._token = hubs, token
        self._own = threading.local()
        self._begun = iter(range(1 << 30))

    def send(self, what: Callable[[HubClient, Ready], str], sessions: Sequence[Ready]) -> tuple[list[str], Sending]:
        """What the hub calls each that it took, in order, and how long all took."""
        made, sent = self.ask(what, sessions)
        size = sum(one.size for one, name in zip(sessions, made, strict=True) if name)
        return [name for name in made if name], sent._replace(size=size)

    def ask(self, what: Callable[[HubClient, _Asked], str], each: Sequence[_Asked]) -> tuple[list[str], Sending]:
        """What the hub says to each, empty where it declines, and how long all took."""
        began, before = time.perf_counter(), self._hubs.spent()
        with ThreadPoolExecutor(SENDERS) as senders:
            made = list(senders.map(lambda one: self._sent(what, one), each))
        seconds = time.perf_counter() - began
        cpu, database = (now - then for now, then in zip(self._hubs.spent(), before, strict=True))
        return made, Sending(sum(map(bool, made)), 0, seconds, cpu, database)

    def _sent(self, what: Callable[[HubClient, _Asked], str], one: _Asked) -> str:
        """What the hub calls it; empty where it does not take it: some logs hold no conversation."""
        try:
            return what(self._client(), one)
        except Declined:
            return ""

    def _client(self) -> HubClient:
        """This thread's."""
        if not hasattr(self._own, "client"):
            address = self._hubs.addresses[next(self._begun) % len(self._hubs.servers)]
            self._own.client = client(address, self._token)
        found: HubClient = self._own.client
        return found


def logs_only(sessions: Sequence[Ready]) -> Iterator[Ready]:
    """The same sessions without what goes along, as shares have them."""
    for one in sessions:
        yield one._replace(files=one.files[:1], size=one.files[0][1].stat().st_size)
