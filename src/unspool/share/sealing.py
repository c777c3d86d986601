"""Bytes sealed so that only their key, or their passphrase, opens them.

AES-256-GCM in the chunked form called STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015): the nonce of a chunk is seven
random bytes, its number in four, and one that says whether it is the last, so that chunks can be neither changed nor
moved, repeated or cut off. The header is authenticated with each of them. The secret is 256 random bits, or what
PBKDF2-HMAC-SHA-256 makes of a passphrase; HKDF-SHA-256 derives from it, with the same fresh salt, the key that is used
and a commitment by which a wrong secret is known before anything is opened.
"""

import hmac
import json
import os
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from hashlib import pbkdf2_hmac
from typing import Any, Final, Literal, NamedTuple

from unspool.errors import Unreadable, UsageProblem

FORMAT: Final = "unspool.sealed/1"
ITERATIONS: Final = 600_000
CHUNK: Final = 1 << 20
SHORTEST: Final = 12
"""Characters of a passphrase: whoever has the page can try as many as he has time for."""
_PURPOSE = b"unspool.sealed/1 key and commitment"
_BITS = 256


class Secret(NamedTuple):
    """What opens a sealed page."""

    how: Literal["key", "passphrase"]
    data: bytes

    @property
    def fragment(self) -> str:
        """What is added to the address of the page; nothing where a passphrase is asked for."""
        return f"#key={text(self.data)}" if self.how == "key" else ""


class Sealed(NamedTuple):
    """Everything but the secret."""

    header: bytes
    """The parameters, as JSON; authenticated."""
    chunks: tuple[bytes, ...]


def random_key() -> Secret:
    """A key that nobody has had before."""
    return Secret("key", os.urandom(_BITS // 8))


def passphrase(words: str) -> Secret:
    """A passphrase, the same however its letters are composed; UsageProblem where it is too short to protect."""
    if len(words) < SHORTEST:
        raise UsageProblem(f"A passphrase needs at least {SHORTEST} characters; several words are best.")
    return Secret("passphrase", unicodedata.normalize("NFC", words).encode("utf-8"))


def sealed(data: bytes, secret: Secret) -> Sealed:
    """The data under the secret, with fresh salt and nonces."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, prefix = os.urandom(32), os.urandom(7)
    key, commitment = _derived(secret, salt, ITERATIONS)
    facts: dict[str, Any] = {"format": FORMAT, "cipher": "AES-256-GCM", "chunk": CHUNK, "secret": secret.how}
    if secret.how == "passphrase":
        facts |= {"kdf": "PBKDF2-HMAC-SHA-256", "iterations": ITERATIONS}
    facts |= {"derive": "HKDF-SHA-256", "salt": text(salt), "prefix": text(prefix), "commitment": text(commitment)}
    header = json.dumps(facts, separators=(",", ":")).encode("ascii")
    pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)] or [b""]
    nonces = _nonces(prefix, len(pieces))
    cipher = AESGCM(key)
    made = (cipher.encrypt(nonce, piece, header) for nonce, piece in zip(nonces, pieces, strict=True))
    return Sealed(header, tuple(made))


def opened(found: Sealed, secret: Secret) -> bytes:
    """What was sealed; Unreadable where the secret is another one, or anything was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    facts = json.loads(found.header)
    key, commitment = _derived(secret, data_of(facts["salt"]), facts.get("iterations", ITERATIONS))
    if not hmac.compare_digest(commitment, data_of(facts["commitment"])):
        raise Unreadable("This key does not open this page.")
    nonces = _nonces(data_of(facts["prefix"]), len(found.chunks))
    try:
        pieces = [AESGCM(key).decrypt(*pair, found.header) for pair in zip(nonces, found.chunks, strict=True)]
    except InvalidTag:
        raise Unreadable("This page was changed or damaged since it was made.") from None
    return b"".join(pieces)


def text(data: bytes) -> str:
    """Bytes in base64 as addresses have it, without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def data_of(value: str) -> bytes:
    """The bytes that were so written."""
    return urlsafe_b64decode(value + "=" * (-len(value) % 4))


def _derived(secret: Secret, salt: bytes, iterations: int) -> tuple[bytes, bytes]:
    """The key to encrypt with, and the commitment to it."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    master = secret.data
    if secret.how == "passphrase":
        master = pbkdf2_hmac("sha256", secret.data, salt, iterations)
    both = HKDF(SHA256(), 64, salt, _PURPOSE).derive(master)
    return both[:32], both[32:]


def _nonces(prefix: bytes, count: int) -> Iterator[bytes]:
    return (prefix + number.to_bytes(4) + bytes([number == count - 1]) for number in range(count))
