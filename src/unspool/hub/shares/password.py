"""The password of a share: kept so that it cannot be read, and remembered by a browser for a while."""

import hashlib
import hmac
import secrets

from unspool.hub.shares.secret import signed
from unspool.hub.store.blobs import now
from unspool.hub.store.database import Database

COOKIE = "unspool-share"
LASTS = 12 * 3600
"""Seconds for which a browser is not asked again."""
_COST, _BLOCK = 2**14, 8


def hashed(password: str) -> str:
    """What is kept of a password; empty for none."""
    if not password:
        return ""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${_slow(password, salt).hex()}"


def fits(password: str, kept: str) -> bool:
    """Whether a password is the one that was kept."""
    salt, _, digest = kept.partition("$")
    return hmac.compare_digest(_slow(password, bytes.fromhex(salt)), bytes.fromhex(digest))


def ticket(db: Database, address: str, kept: str) -> str:
    """What a browser shows instead of the password, for this share, until its time or the password ends."""
    until = str(now() // 1000 + LASTS)
    return f"{until}.{_mark(db, address, kept, until)}"


def admits(db: Database, address: str, kept: str, shown: str) -> bool:
    """Whether a ticket holds."""
    until, _, mark = shown.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 15 and mark.isascii()):
        return False
    return int(until) * 1000 > now() and hmac.compare_digest(mark, _mark(db, address, kept, until))


def _mark(db: Database, address: str, kept: str, until: str) -> str:
    return signed(db, "ticket", address, kept, until).hex()


def _slow(password: str, salt: bytes) -> bytes:
    data = password.encode("utf-8", "replace")
    return hashlib.scrypt(data, salt=salt, n=_COST, r=_BLOCK, p=1, maxmem=64 * 1024**2, dklen=32)
