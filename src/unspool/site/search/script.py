"""Data as a classic script, the one way a page opened from disk can load it: `unspoolShard(name, data)`."""

import zlib
from base64 import b64encode
from typing import Final

import msgspec

_ACTIVE: Final = ((b"<", b"\\u003c"), ("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029"))


def data(value: object) -> bytes:
    """JSON that is also JavaScript, and can stand inside a script element."""
    text = msgspec.json.encode(value)
    for active, escaped in _ACTIVE:
        text = text.replace(active, escaped)
    return text


def call(name: str, encoded: bytes) -> bytes:
    """The script that hands encoded data over under a name."""
    return b"unspoolShard(%b,%b)\n" % (data(name), encoded)


def shard(name: str, value: object) -> bytes:
    """The script that hands a value over under a name."""
    return call(name, data(value))


def packed(name: str, value: object) -> bytes:
    """The same, deflated and in base64: less than half the size for text, at 50 MB a second."""
    return call(name, b'"%b"' % b64encode(zlib.compress(msgspec.json.encode(value), 1, -zlib.MAX_WBITS)))
