"""Shares in the database and the object store: kept, changed, expired."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.files import scratch_folder
from unspool.hub.errors import Gone, HubError, NotVisible, StoreUnavailable, UnderLegalHold
from unspool.hub.people import holds, users
from unspool.hub.policy import check_title, policy_of
from unspool.hub.routes import Hub
from unspool.hub.shares.process_upload import MadeFile, MadeShare, ShareJob, make_share
from unspool.hub.shares.share import BUNDLE, NOTHING, HubShare, ShareOptions, any_share, hash_password, share_file
from unspool.hub.store.blobs import now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database, Value
from unspool.hub.workers import worker_pool

_CHUNK = 256 * 1024


class Upload(NamedTuple):
    """Something that was sent: where it lies, where it is to be found, whose it is and how it is to be."""

    bundle: Path
    address: str
    owner: str
    wish: ShareOptions


def keep_share(hub: Hub, upload: Upload) -> HubShare:
    """A new share; the same again where it is there already, from an upload that was tried twice."""
    before = any_share(hub.store.db, upload.address)
    if before is None:
        _wanted(hub, upload)
        made = _made(hub, upload, upload.wish.title or "", raw=bool(upload.wish.raw))
        password = hash_password(upload.wish.password or "")
        with _or_nothing(hub, made), hub.store.db.transaction():
            if _inserted(hub, upload, made, password):
                _refer(hub, upload.address, made.pieces)
                users.check_quota(hub.store.db, upload.owner, hub.terms.quota)
        before = any_share(hub.store.db, upload.address)
    if before is None or before.ended is not None:
        raise Gone("This upload was made before, and has ended since.")
    return before


def replace_content(hub: Hub, upload: Upload, share: HubShare) -> HubShare:
    """The same address with other content; whoever reads meanwhile has the one or the other, whole."""
    if holds.is_held(hub.store.db, "share", share.address):
        raise UnderLegalHold("A legal hold is on this.")
    _wanted(hub, upload, share.size)
    made = _made(hub, upload, _title(share, upload.wish), raw=_raw(share, upload.wish))
    with _or_nothing(hub, made):
        _swapped(hub, share, made, _wished(upload.wish), new=True)
    return _again(hub, share.address)


def change_options(hub: Hub, share: HubShare, wish: ShareOptions) -> HubShare:
    """The same content, otherwise: what shows in its pages makes them anew."""
    _titled(hub, wish)
    if wish.title is not None or _raw(share, wish) != bool(share.raw):
        remake_share(hub, share, wish)
        return _again(hub, share.address)
    wished = _wished(wish)
    with hub.store.db.transaction():
        holds.check_not_held(hub.store.db, "share", share.address)
        _set(hub, share.address, wished)
    return _again(hub, share.address)


def remake_share(hub: Hub, share: HubShare, wish: ShareOptions | None = None) -> None:
    """The pages of a share made anew from what was sent, by a changed wish or a newer hub."""
    wished = _wished(wish or ShareOptions())
    with scratch_folder() as folder:
        upload = Upload(
            _fetched(hub, share.address, folder / "sent"), share.address, share.owner, wish or ShareOptions()
        )
        made = _made(hub, upload, _title(share, upload.wish), raw=_raw(share, upload.wish), door=False)
        with hub.store.db.transaction():
            if wish is not None:
                holds.check_not_held(hub.store.db, "share", share.address)
            _swapped(hub, share, made, wished)


def _wanted(hub: Hub, upload: Upload, instead: int = 0) -> None:
    """HubError where it is clear before any work that it is not to be kept; `instead` of so many bytes."""
    _titled(hub, upload.wish)
    with hub.store.db.transaction():
        users.check_quota(hub.store.db, upload.owner, hub.terms.quota, upload.bundle.stat().st_size - instead)


def _titled(hub: Hub, wish: ShareOptions) -> None:
    if wish.title and hub.terms.door:
        check_title(wish.title, policy_of(hub.store.db))


@contextmanager
def _or_nothing(hub: Hub, made: MadeShare) -> Iterator[None]:
    """Keep no content of what comes to nothing: whoever is refused would else fill the store."""
    try:
        yield
    except HubError:
        for piece in made.pieces:
            hub.store.blobs.drop(piece.digest)
        raise


def _title(share: HubShare, wish: ShareOptions) -> str:
    """The title that stands in place of the session's own; empty where none does."""
    if wish.title is not None:
        return wish.title
    return share.title if share.told.own_title else ""


def _wished(wish: ShareOptions) -> dict[str, Value]:
    """What is to be otherwise, but for the content; all else stays, also where somebody changes it meanwhile."""
    said: dict[str, Value] = {
        "password": None if wish.password is None else hash_password(wish.password),
        "listed": None if wish.listed is None else int(wish.listed),
        "raw": None if wish.raw is None else int(wish.raw),
    }
    ends: dict[str, Value] = {} if wish.expires is None else {"expires": wish.expires or None}
    return {name: value for name, value in said.items() if value is not None} | ends


def _raw(share: HubShare, wish: ShareOptions) -> bool:
    return bool(share.raw) if wish.raw is None else wish.raw


def _again(hub: Hub, address: str) -> HubShare:
    found = any_share(hub.store.db, address)
    if found is None:
        raise NotVisible(NOTHING)
    return found


def _made(hub: Hub, upload: Upload, title: str, *, raw: bool, door: bool = True) -> MadeShare:
    """All that a share consists of, made elsewhere and kept, but not referred to yet."""
    policy = policy_of(hub.store.db) if door and hub.terms.door else None
    job = ShareJob(upload.bundle, upload.bundle.parent / "made", share_url(hub, upload.address), title, raw, policy)
    made = worker_pool().run(make_share, job)
    for piece in made.pieces:
        hub.store.blobs.keep_packed(piece.digest, piece.size, piece.encoding, _read(piece.path))
    return made


def share_url(hub: Hub, address: str) -> str:
    """Where a share is found, with a slash at its end; empty where the hub does not know its own name."""
    return f"{hub.terms.url.rstrip('/')}/{address}/" if hub.terms.url else ""


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            yield piece


def _fetched(hub: Hub, address: str, to: Path) -> Path:
    """What was sent, on the disk again."""
    with to.open("xb") as out:
        out.writelines(hub.store.blobs.read(share_file(hub.store.db, address, BUNDLE).digest))
    return to


def _inserted(hub: Hub, upload: Upload, made: MadeShare, password: str) -> bool:
    wish, time = upload.wish, now()
    done = hub.store.db.run(
        "INSERT INTO share(address, owner, title, password, raw, listed, version, size, facts, created, updated,"
        " expires) VALUES(?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT(address) DO NOTHING",
        upload.address, upload.owner, made.title, password, int(bool(wish.raw)), int(bool(wish.listed)), made.size,
        msgspec.json.encode(made.facts).decode(), time, time, wish.expires or None,
    )  # fmt: skip
    return bool(done)


def _swapped(hub: Hub, before: HubShare, made: MadeShare, wished: dict[str, Value], *, new: bool = False) -> None:
    """The share as it was made, in place of what it was; `new`: its content is another."""
    db = hub.store.db
    with db.transaction():
        if new:
            holds.check_not_held(db, "share", before.address)
        done = db.run(
            "UPDATE share SET title = ?, version = version + ?, size = ?, facts = ?, updated = ?"
            " WHERE address = ? AND ended IS NULL AND version = ? AND title = ? AND raw = ?",
            made.title, int(new), made.size, msgspec.json.encode(made.facts).decode(), now() if new else before.updated,
            before.address, before.version, before.title, before.raw,
        )  # fmt: skip
        if not done:
            raise StoreUnavailable("The share was changed or ended meanwhile; try again.")
        db.run("DELETE FROM share_file WHERE address = ?", before.address)
        _refer(hub, before.address, made.pieces)
        _set(hub, before.address, wished)
        if new:
            users.check_quota(db, before.owner, hub.terms.quota)


def _set(hub: Hub, address: str, wished: dict[str, Value]) -> None:
    """Have what does not show in the pages be as it is wished."""
    if wished:
        changed = ", ".join(f"{name} = ?" for name in wished)
        sql = f"UPDATE share SET {changed} WHERE address = ? AND ended IS NULL"  # noqa: S608  names of columns
        hub.store.db.run(sql, *wished.values(), address)


def _refer(hub: Hub, address: str, pieces: list[MadeFile]) -> None:
    if not hub.store.blobs.held(piece.digest for piece in pieces):
        raise StoreUnavailable("Something of this was removed with another share meanwhile; try again.")
    rows = [(address, piece.name, piece.digest, piece.kind) for piece in pieces]
    hub.store.db.many("INSERT INTO share_file(address, name, digest, kind) VALUES(?, ?, ?, ?)", rows)


_LOT = 500


def expire_shares(store: Store) -> int:
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
            holds.check_not_held(db, "share", address)
            return _end(db, address, "expires <= ?", now())
    except UnderLegalHold:
        return False


def end_share(db: Database, address: str) -> bool:
    """End a share for good, its title included; whether it was there. Held where a legal hold is on it."""
    with db.transaction():
        holds.check_not_held(db, "share", address)
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
