"""Passwords of shares, and the hub's signing secret."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database

_SETTING = "secret"


def sign(db: Database, *words: str) -> bytes:
    """What only this hub can say of some words; 32 bytes."""
    said = "\0".join(f"{len(word)} {word}" for word in words)
    return hmac.new(_secret(db), said.encode("utf-8", "replace"), sha256).digest()


def new_address(db: Database, owner: str, key: str) -> str:
    """The address of a new share, of 128 bits: by chance, or where a key came along, the same for the same one.

    A client that does not know whether an upload arrived sends it again with its key, and nothing is there twice.
    """
    if not key:
        return secrets.token_urlsafe(16)
    return urlsafe_b64encode(sign(db, "address", owner, key)[:16]).decode().rstrip("=")


def _secret(db: Database) -> bytes:
    found = db.row("SELECT value FROM setting WHERE key = ?", _SETTING)
    if found is None:
        made = secrets.token_hex(32)
        db.run("INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO NOTHING", _SETTING, made)
        found = db.row("SELECT value FROM setting WHERE key = ?", _SETTING)
    return bytes.fromhex(found[0]) if found is not None else b""


COOKIE = "unspool-share"
LASTS = 12 * 3600
"""Seconds for which a browser is not asked again."""
_COST, _BLOCK = 2**14, 8


def hash_password(password: str) -> str:
    """What is kept of a password; empty for none."""
    if not password:
        return ""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${_slow(password, salt).hex()}"


def password_fits(password: str, kept: str) -> bool:
    """Whether a password is the one that was kept."""
    salt, _, digest = kept.partition("$")
    return hmac.compare_digest(_slow(password, bytes.fromhex(salt)), bytes.fromhex(digest))


def issue_ticket(db: Database, address: str, kept: str) -> str:
    """What a browser shows instead of the password, for this share, until its time or the password ends."""
    until = str(now() // 1000 + LASTS)
    return f"{until}.{_mark(db, address, kept, until)}"


def ticket_holds(db: Database, address: str, kept: str, shown: str) -> bool:
    until, _, mark = shown.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 15 and mark.isascii()):
        return False
    return int(until) * 1000 > now() and hmac.compare_digest(mark, _mark(db, address, kept, until))


def _mark(db: Database, address: str, kept: str, until: str) -> str:
    return sign(db, "ticket", address, kept, until).hex()


def _slow(password: str, salt: bytes) -> bytes:
    data = password.encode("utf-8", "replace")
    return hashlib.scrypt(data, salt=salt, n=_COST, r=_BLOCK, p=1, maxmem=64 * 1024**2, dklen=32)
