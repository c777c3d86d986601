"""People who upload again and again while things break, and remember what they were promised."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException

from tests.hub.running import Client
from tests.hub.shares.bundles import GZIP, bundle, log
from unspool.hub.store.connect import Store


class Load:
    """Uploads by several at once; each is tried until it is acknowledged, as a client does."""

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.promised: dict[str, str] = {}
        """What each acknowledged share says, by its address."""
        self.answers: Counter[int] = Counter()
        self._threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(3)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, once what has begun is answered."""
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self._threads)

    def more(self, count: int, seconds: float = 60.0) -> None:
        """Wait until so many more were acknowledged."""
        goal, until = len(self.promised) + count, time.monotonic() + seconds
        while len(self.promised) < goal:
            assert time.monotonic() < until, f"only {len(self.promised)} of {goal} were acknowledged: {self.answers}"
            time.sleep(0.05)

    def _work(self, number: int) -> None:
        at = number
        while not self._stop.is_set():
            word = f"needle{secrets.token_hex(6)}"
            body = bundle(log(f"{word} was found. " + "wave after wave, " * 200))
            headers = {**GZIP, "Idempotency-Key": secrets.token_hex(16)}
            while not self._stop.is_set():
                at += 1
                if self._tried(self._clients[at % len(self._clients)], body, headers, word):
                    break
                time.sleep(0.05)

    def _tried(self, client: Client, body: bytes, headers: dict[str, str], word: str) -> bool:
        try:
            answer = client.ask("POST", "/api/shares", body, headers)
        except (OSError, HTTPException):
            return False
        with self._lock:
            self.answers[answer.status] += 1
            if answer.status == 201:
                self.promised[str(answer.json["address"])] = word
        return answer.status == 201


@contextmanager
def loaded(clients: list[Client]) -> Iterator[Load]:
    """Uploads going on."""
    load = Load(clients)
    load.start()
    try:
        yield load
    finally:
        load.stop()


def kept(client: Client, store: Store, promised: dict[str, str]) -> None:
    """Every promised share is there and says what it should; nothing is there by half."""
    for address, word in promised.items():
        answer = client.get(f"/{address}/")
        assert answer.status == 200, (address, answer.status)
        assert any(word in client.get(f"/{address}/{page}").body.decode() for page in pages(store, address))
    for address, digest in store.db.rows("SELECT address, digest FROM share_file"):
        blob = store.blobs.find(digest)
        assert blob is not None, (address, digest)
        assert store.objects.size(blob.key) == blob.stored, (address, digest)
    bare = "SELECT address FROM share WHERE address NOT IN (SELECT address FROM share_file)"
    assert store.db.rows(bare) == []


def pages(store: Store, address: str) -> list[str]:
    """The names of a share's pages."""
    sql = "SELECT name FROM share_file WHERE address = ? AND name LIKE ?"
    return [name for (name,) in store.db.rows(sql, address, "%.html")]
