"""The hub's own secret, made once: what it signs, all its processes believe and nobody else can make."""

import hmac
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from unspool.hub.store.database import Database

_SETTING = "secret"


def signed(db: Database, *words: str) -> bytes:
    """What only this hub can say of some words; 32 bytes."""
    said = "\0".join(f"{len(word)} {word}" for word in words)
    return hmac.new(_secret(db), said.encode("utf-8", "replace"), sha256).digest()


def address(db: Database, owner: str, key: str) -> str:
    """The address of a new share, of 128 bits: by chance, or where a key came along, the same for the same one.

    A client that does not know whether an upload arrived sends it again with its key, and nothing is there twice.
    """
    if not key:
        return secrets.token_urlsafe(16)
    return urlsafe_b64encode(signed(db, "address", owner, key)[:16]).decode().rstrip("=")


def _secret(db: Database) -> bytes:
    found = db.row("SELECT value FROM setting WHERE key = ?", _SETTING)
    if found is None:
        made = secrets.token_hex(32)
        db.run("INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO NOTHING", _SETTING, made)
        found = db.row("SELECT value FROM setting WHERE key = ?", _SETTING)
    return bytes.fromhex(found[0]) if found is not None else b""
