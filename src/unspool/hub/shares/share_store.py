"""Shares in the database and the object store: kept, changed, expired."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.files import scratch_folder
from unspool.hub.errors import Gone, HubError, NotVisible, StoreUnavailable, UnderLegalHold
from unspool.hub.people import holds, users
from unspool.hub.policy import check_title, policy_of
from unspool.hub.routes import Hub
from unspool.hub.shares.share import BUNDLE, NOTHING, HubShare, ShareOptions, any_share, hash_password, share_file
from unspool.hub.shares.upload import MadeShare, ShareJob, make_share
from unspool.hub.store.blobs import MadeFile, now
from unspool.hub.store.connect import Store
from unspool.hub.store.database import Database, Value
from unspool.hub.workers import worker_pool


class Upload(NamedTuple):
    """Something that was sent: where it lies, where it is to be found, whose it is and how it is to be."""

    bundle: Path
    address: str
    owner: str
    options: ShareOptions


def keep_share(hub: Hub, upload: Upload) -> HubShare:
    """A new share; the same again where it is there already, from an upload that was tried twice."""
    before = any_share(hub.store.db, upload.address)
    if before is None:
        _check_wanted(hub, upload)
        options, time = upload.options, now()
        made = _made(hub, upload, options.title or "", raw=bool(options.raw))
        password = hash_password(options.password or "")
        with _or_nothing(hub, made), hub.store.db.transaction():
            inserted = hub.store.db.run(
                "INSERT INTO share(address, owner, title, password, raw, listed, version, size, facts, created,"
                " updated, expires) VALUES(?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT(address) DO NOTHING",
                upload.address, upload.owner, made.title, password, int(bool(options.raw)), int(bool(options.listed)),
                made.size, msgspec.json.encode(made.facts).decode(), time, time, options.expires or None,
            )  # fmt: skip
            if inserted:
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
    _check_wanted(hub, upload, share.size)
    made = _made(hub, upload, _title(share, upload.options), raw=_raw(share, upload.options))
    with _or_nothing(hub, made):
        _swap(hub, share, made, _changed_columns(upload.options), new=True)
    return _again(hub, share.address)


def change_options(hub: Hub, share: HubShare, options: ShareOptions) -> HubShare:
    """The same content, otherwise: what shows in its pages makes them anew."""
    _check_new_title(hub, options)
    if options.title is not None or _raw(share, options) != bool(share.raw):
        remake_share(hub, share, options)
    else:
        columns = _changed_columns(options)
        with hub.store.db.transaction():
            holds.check_not_held(hub.store.db, "share", share.address)
            _set(hub, share.address, columns)
    return _again(hub, share.address)


def remake_share(hub: Hub, share: HubShare, changed: ShareOptions | None = None) -> None:
    """The pages of a share made anew from what was sent, by changed options or a newer hub."""
    options = changed or ShareOptions()
    columns = _changed_columns(options)
    with scratch_folder() as folder:
        with (folder / "sent").open("xb") as out:
            out.writelines(hub.store.blobs.read(share_file(hub.store.db, share.address, BUNDLE).digest))
        upload = Upload(folder / "sent", share.address, share.owner, options)
        made = _made(hub, upload, _title(share, options), raw=_raw(share, options), check=False)
        with hub.store.db.transaction():
            if changed is not None:
                holds.check_not_held(hub.store.db, "share", share.address)
            _swap(hub, share, made, columns)


def _check_wanted(hub: Hub, upload: Upload, instead: int = 0) -> None:
    """HubError where it is clear before any work that it is not to be kept; `instead` of so many bytes."""
    _check_new_title(hub, upload.options)
    with hub.store.db.transaction():
        users.check_quota(hub.store.db, upload.owner, hub.terms.quota, upload.bundle.stat().st_size - instead)


def _check_new_title(hub: Hub, options: ShareOptions) -> None:
    if options.title and hub.terms.door:
        check_title(options.title, policy_of(hub.store.db))


@contextmanager
def _or_nothing(hub: Hub, made: MadeShare) -> Iterator[None]:
    """Keep no content of what comes to nothing: whoever is refused would else fill the store."""
    try:
        yield
    except HubError:
        for piece in made.pieces:
            hub.store.blobs.drop(piece.digest)
        raise


def _title(share: HubShare, options: ShareOptions) -> str:
    """The title that stands in place of the session's own; empty where none does."""
    if options.title is not None:
        return options.title
    return share.title if share.told.own_title else ""


def _changed_columns(options: ShareOptions) -> dict[str, Value]:
    """What is to change, but for the content; all else stays, also where somebody changes it meanwhile."""
    password, listed, raw = options.password, options.listed, options.raw
    columns: dict[str, Value] = {} if password is None else {"password": hash_password(password)}
    columns |= {name: int(value) for name, value in (("listed", listed), ("raw", raw)) if value is not None}
    return columns if options.expires is None else {**columns, "expires": options.expires or None}


def _raw(share: HubShare, options: ShareOptions) -> bool:
    return bool(share.raw) if options.raw is None else options.raw


def _again(hub: Hub, address: str) -> HubShare:
    found = any_share(hub.store.db, address)
    if found is None:
        raise NotVisible(NOTHING)
    return found


def _made(hub: Hub, upload: Upload, title: str, *, raw: bool, check: bool = True) -> MadeShare:
    """All that a share consists of, made elsewhere and kept, but not referred to yet."""
    policy = policy_of(hub.store.db) if check and hub.terms.door else None
    job = ShareJob(upload.bundle, upload.bundle.parent / "made", share_url(hub, upload.address), title, raw, policy)
    made = worker_pool().run(make_share, job)
    for piece in made.pieces:
        hub.store.blobs.keep_file(piece)
    return made


def share_url(hub: Hub, address: str) -> str:
    """Where a share is found, with a slash at its end; empty where the hub does not know its own name."""
    return f"{hub.terms.url.rstrip('/')}/{address}/" if hub.terms.url else ""


def _swap(hub: Hub, before: HubShare, made: MadeShare, columns: dict[str, Value], *, new: bool = False) -> None:
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
        _set(hub, before.address, columns)
        if new:
            users.check_quota(db, before.owner, hub.terms.quota)


def _set(hub: Hub, address: str, columns: dict[str, Value]) -> None:
    if columns:
        changed = ", ".join(f"{name} = ?" for name in columns)
        sql = f"UPDATE share SET {changed} WHERE address = ? AND ended IS NULL"  # noqa: S608  names of columns
        hub.store.db.run(sql, *columns.values(), address)


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
        for (last,) in rows:
            with suppress(UnderLegalHold), db.transaction():
                holds.check_not_held(db, "share", last)
                count += _end(db, last, "expires <= ?", now())
    return count


def end_share(db: Database, address: str) -> bool:
    """End a share for good, its title included; whether it was there. UnderLegalHold where a legal hold is on it."""
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
