"""A share kept: its contents first, then all of it visible in one transaction, or nothing of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from unspool.hub.hub import Hub
from unspool.hub.people import holds, quota
from unspool.hub.policy import policy_of, titled
from unspool.hub.shares.making import Job, Made, Piece, make
from unspool.hub.shares.password import hashed
from unspool.hub.shares.share import BUNDLE, NOTHING, Share, file, there
from unspool.hub.shares.wish import Wish
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Value
from unspool.hub.trouble import Gone, Held, Hidden, HubError, Trouble
from unspool.hub.work import work
from unspool.library.scratch import scratch

_CHUNK = 256 * 1024


class Upload(NamedTuple):
    """Something that was sent: where it lies, where it is to be found, whose it is and how it is to be."""

    bundle: Path
    address: str
    owner: str
    wish: Wish


def keep(hub: Hub, upload: Upload) -> Share:
    """A new share; the same again where it is there already, from an upload that was tried twice."""
    before = there(hub.store.db, upload.address)
    if before is None:
        _wanted(hub, upload)
        made = _made(hub, upload, upload.wish.title or "", raw=bool(upload.wish.raw))
        password = hashed(upload.wish.password or "")
        with _or_nothing(hub, made), hub.store.db.transaction():
            if _inserted(hub, upload, made, password):
                _refer(hub, upload.address, made.pieces)
                quota.within(hub.store.db, upload.owner, hub.terms.quota)
        before = there(hub.store.db, upload.address)
    if before is None or before.ended is not None:
        raise Gone("This upload was made before, and has ended since.")
    return before


def update(hub: Hub, upload: Upload, share: Share) -> Share:
    """The same address with other content; whoever reads meanwhile has the one or the other, whole."""
    if holds.held(hub.store.db, "share", share.address):
        raise Held("A legal hold is on this.")
    _wanted(hub, upload, share.size)
    made = _made(hub, upload, _title(share, upload.wish), raw=_raw(share, upload.wish))
    with _or_nothing(hub, made):
        _swapped(hub, share, made, _wished(upload.wish), new=True)
    return _again(hub, share.address)


def change(hub: Hub, share: Share, wish: Wish) -> Share:
    """The same content, otherwise: what shows in its pages makes them anew."""
    _titled(hub, wish)
    if wish.title is not None or _raw(share, wish) != bool(share.raw):
        remake(hub, share, wish)
        return _again(hub, share.address)
    wished = _wished(wish)
    with hub.store.db.transaction():
        holds.free(hub.store.db, "share", share.address)
        _set(hub, share.address, wished)
    return _again(hub, share.address)


def remake(hub: Hub, share: Share, wish: Wish | None = None) -> None:
    """The pages of a share made anew from what was sent, by a changed wish or a newer hub."""
    wished = _wished(wish or Wish())
    with scratch() as folder:
        upload = Upload(_fetched(hub, share.address, folder / "sent"), share.address, share.owner, wish or Wish())
        made = _made(hub, upload, _title(share, upload.wish), raw=_raw(share, upload.wish), door=False)
        with hub.store.db.transaction():
            if wish is not None:
                holds.free(hub.store.db, "share", share.address)
            _swapped(hub, share, made, wished)


def _wanted(hub: Hub, upload: Upload, instead: int = 0) -> None:
    """HubError where it is clear before any work that it is not to be kept; `instead` of so many bytes."""
    _titled(hub, upload.wish)
    with hub.store.db.transaction():
        quota.within(hub.store.db, upload.owner, hub.terms.quota, upload.bundle.stat().st_size - instead)


def _titled(hub: Hub, wish: Wish) -> None:
    if wish.title and hub.terms.door:
        titled(wish.title, policy_of(hub.store.db))


@contextmanager
def _or_nothing(hub: Hub, made: Made) -> Iterator[None]:
    """Keep no content of what comes to nothing: whoever is refused would else fill the store."""
    try:
        yield
    except HubError:
        for piece in made.pieces:
            hub.store.blobs.drop(piece.digest)
        raise


def _title(share: Share, wish: Wish) -> str:
    """The title that stands in place of the session's own; empty where none does."""
    if wish.title is not None:
        return wish.title
    return share.title if share.told.own_title else ""


def _wished(wish: Wish) -> dict[str, Value]:
    """What is to be otherwise, but for the content; all else stays, also where somebody changes it meanwhile."""
    said: dict[str, Value] = {
        "password": None if wish.password is None else hashed(wish.password),
        "listed": None if wish.listed is None else int(wish.listed),
        "raw": None if wish.raw is None else int(wish.raw),
    }
    ends: dict[str, Value] = {} if wish.expires is None else {"expires": wish.expires or None}
    return {name: value for name, value in said.items() if value is not None} | ends


def _raw(share: Share, wish: Wish) -> bool:
    return bool(share.raw) if wish.raw is None else wish.raw


def _again(hub: Hub, address: str) -> Share:
    found = there(hub.store.db, address)
    if found is None:
        raise Hidden(NOTHING)
    return found


def _made(hub: Hub, upload: Upload, title: str, *, raw: bool, door: bool = True) -> Made:
    """All that a share consists of, made elsewhere and kept, but not referred to yet."""
    policy = policy_of(hub.store.db) if door and hub.terms.door else None
    job = Job(upload.bundle, upload.bundle.parent / "made", url(hub, upload.address), title, raw, policy)
    made = work().run(make, job)
    for piece in made.pieces:
        hub.store.blobs.keep_packed(piece.digest, piece.size, piece.encoding, _read(piece.path))
    return made


def url(hub: Hub, address: str) -> str:
    """Where a share is found, with a slash at its end; empty where the hub does not know its own name."""
    return f"{hub.terms.url.rstrip('/')}/{address}/" if hub.terms.url else ""


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            yield piece


def _fetched(hub: Hub, address: str, to: Path) -> Path:
    """What was sent, on the disk again."""
    with to.open("xb") as out:
        out.writelines(hub.store.blobs.read(file(hub.store.db, address, BUNDLE).digest))
    return to


def _inserted(hub: Hub, upload: Upload, made: Made, password: str) -> bool:
    wish, time = upload.wish, now()
    done = hub.store.db.run(
        "INSERT INTO share(address, owner, title, password, raw, listed, version, size, facts, created, updated,"
        " expires) VALUES(?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT(address) DO NOTHING",
        upload.address, upload.owner, made.title, password, int(bool(wish.raw)), int(bool(wish.listed)), made.size,
        msgspec.json.encode(made.facts).decode(), time, time, wish.expires or None,
    )  # fmt: skip
    return bool(done)


def _swapped(hub: Hub, before: Share, made: Made, wished: dict[str, Value], *, new: bool = False) -> None:
    """The share as it was made, in place of what it was; `new`: its content is another."""
    db = hub.store.db
    with db.transaction():
        if new:
            holds.free(db, "share", before.address)
        done = db.run(
            "UPDATE share SET title = ?, version = version + ?, size = ?, facts = ?, updated = ?"
            " WHERE address = ? AND ended IS NULL AND version = ? AND title = ? AND raw = ?",
            made.title, int(new), made.size, msgspec.json.encode(made.facts).decode(), now() if new else before.updated,
            before.address, before.version, before.title, before.raw,
        )  # fmt: skip
        if not done:
            raise Trouble("The share was changed or ended meanwhile; try again.")
        db.run("DELETE FROM share_file WHERE address = ?", before.address)
        _refer(hub, before.address, made.pieces)
        _set(hub, before.address, wished)
        if new:
            quota.within(db, before.owner, hub.terms.quota)


def _set(hub: Hub, address: str, wished: dict[str, Value]) -> None:
    """Have what does not show in the pages be as it is wished."""
    if wished:
        changed = ", ".join(f"{name} = ?" for name in wished)
        sql = f"UPDATE share SET {changed} WHERE address = ? AND ended IS NULL"  # noqa: S608  names of columns
        hub.store.db.run(sql, *wished.values(), address)


def _refer(hub: Hub, address: str, pieces: list[Piece]) -> None:
    if not hub.store.blobs.held(piece.digest for piece in pieces):
        raise Trouble("Something of this was removed with another share meanwhile; try again.")
    rows = [(address, piece.name, piece.digest, piece.kind) for piece in pieces]
    hub.store.db.many("INSERT INTO share_file(address, name, digest, kind) VALUES(?, ?, ?, ?)", rows)
