"""Opens what was sealed, as the script of a sealed page does."""

import hmac
import json
from base64 import urlsafe_b64decode

from unspool.errors import Unreadable
from unspool.share.encryption import SealedData, ShareSecret, chunk_nonces, derive_keys
from unspool.store.archive.keys import SHARE_ROUNDS


def unseal(found: SealedData, secret: ShareSecret) -> bytes:
    """What was sealed; Unreadable where the secret is another one, or anything was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    facts = json.loads(found.header)
    key, commitment = derive_keys(secret, from_base64(facts["salt"]), facts.get("iterations", SHARE_ROUNDS))
    if not hmac.compare_digest(commitment, from_base64(facts["commitment"])):
        raise Unreadable("This key does not open this page.")
    nonces = chunk_nonces(from_base64(facts["prefix"]), len(found.chunks))
    try:
        pieces = [AESGCM(key).decrypt(*pair, found.header) for pair in zip(nonces, found.chunks, strict=True)]
    except InvalidTag:
        raise Unreadable("This page was changed or damaged since it was made.") from None
    return b"".join(pieces)


def from_base64(value: str) -> bytes:
    """The bytes that were so written."""
    return urlsafe_b64decode(value + "=" * (-len(value) % 4))
