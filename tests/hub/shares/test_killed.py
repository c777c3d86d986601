"""A hub killed in the middle of uploads: what was acknowledged is there for good, and nothing half is visible."""

import http.client
import threading
import time
from pathlib import Path

from tests.hub.running import Client, started
from tests.hub.shares.bundles import GZIP, bundle, log
from tests.thorough import tries
from unspool.hub.store.connect import StorePlace, open_store

KILLS = tries(1, 50)


def test_no_acknowledged_share_is_lost_and_trying_again_makes_no_second_one(tmp_path: Path) -> None:
    acknowledged: dict[str, str] = {}
    token = ""
    for kill in range(KILLS):
        with started(tmp_path / "hub") as hub:
            token = token or hub.token
            threads = [
                threading.Thread(target=_uploads, args=(hub.client.as_(token), acknowledged, f"{kill}-{number}"))
                for number in range(3)
            ]
            for thread in threads:
                thread.start()
            _until_more(acknowledged, len(acknowledged) + 3)
            time.sleep(0.01 * (kill % 10))  # each somewhere else
            hub.process.kill()
            for thread in threads:
                thread.join()
    with started(tmp_path / "hub") as hub:
        client = hub.client.as_(token)
        for key, address in acknowledged.items():
            assert client.get(f"/{address}/").status == 200
            assert _sent(client, key) == address
        assert sorted(acknowledged.values()) == sorted(set(acknowledged.values()))
    _all_whole(tmp_path / "hub")


def _uploads(client: Client, acknowledged: dict[str, str], name: str) -> None:
    """Upload until the hub is gone."""
    for number in range(1000):
        key = f"a-key-of-this-test-{name}-{number}"
        try:
            acknowledged[key] = _sent(client, key)
        except (OSError, http.client.HTTPException):
            return


def _sent(client: Client, key: str) -> str:
    answer = client.ask("POST", "/api/shares", bundle(log(f"Said {key}")), {**GZIP, "Idempotency-Key": key})
    assert answer.status == 201, answer
    return str(answer.json["address"])


def _all_whole(folder: Path) -> None:
    """Every share that has a row has all its files, and each of them can be read and is what it should be."""
    store = open_store(StorePlace(folder))
    shares = store.db.rows("SELECT address FROM share")
    assert shares
    for (address,) in shares:
        files: dict[str, str] = dict(store.db.rows("SELECT name, digest FROM share_file WHERE address = ?", address))
        assert {"index.html", "bundle.tar.gz", "session-share.json", "preview.svg"} <= set(files)
    for (digest,) in store.db.rows("SELECT DISTINCT digest FROM share_file"):
        assert sum(map(len, store.blobs.read(digest))) > 0
    store.db.close()


def _until_more(acknowledged: dict[str, str], count: int) -> None:
    """Wait until so many were acknowledged."""
    end = time.monotonic() + 60
    while len(acknowledged) < count:
        assert time.monotonic() < end, "nothing was acknowledged"
        time.sleep(0.02)
