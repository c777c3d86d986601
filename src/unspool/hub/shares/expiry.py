"""The end of a share: by its owner, or by its time. Its files go; its row stays, so that its owner sees why."""

from unspool.hub.people import holds
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database
from unspool.hub.store.opening import Store
from unspool.hub.trouble import Held

_LOT = 500


def expire(store: Store) -> int:
    """End every share whose time has come and that no legal hold is on; how many."""
    db, count, last = store.db, 0, ""
    while rows := db.rows(
        "SELECT address FROM share WHERE ended IS NULL AND expires <= ? AND address > ? ORDER BY address LIMIT ?",
        now(), last, _LOT,
    ):  # fmt: skip
        count += sum(_expired(db, address) for (address,) in rows)
        last = rows[-1][0]
    return count


def _expired(db: Database, address: str) -> bool:
    try:
        with db.transaction():
            holds.free(db, "share", address)
            return _end(db, address, "expires <= ?", now())
    except Held:
        return False


def delete(db: Database, address: str) -> bool:
    """End a share for good, its title included; whether it was there. Held where a legal hold is on it."""
    with db.transaction():
        holds.free(db, "share", address)
        if not _end(db, address, "1 = ?", 1):
            return False
        db.run("UPDATE share SET title = '' WHERE address = ?", address)
        return True


def _end(db: Database, address: str, only: str, value: int) -> bool:
    """End it if it still is as it should be; what it held is swept once nothing refers to it."""
    done = db.run(
        f"UPDATE share SET ended = ?, password = '', facts = '{{}}', size = 0"  # noqa: S608
        f" WHERE address = ? AND ended IS NULL AND {only}",
        now(), address, value,
    )  # fmt: skip
    if done:
        db.run("DELETE FROM share_file WHERE address = ?", address)
    return bool(done)
