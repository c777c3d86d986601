"""Digests, and the chain that makes a change anywhere in a file's history show."""

from typing import NamedTuple


class Origin(NamedTuple):
    """A place that files came from."""

    machine: str
    user: str
    root: str
    agent: str


def digest(data: "bytes | memoryview") -> bytes:
    from hashlib import sha256  # dear to load, and who only reads needs no digest

    return sha256(data).digest()


def first_link(path: str, number: int, before: bytes) -> bytes:
    """Where the chain of a generation begins: its file, its number, and the end of the generation before it."""
    return digest(b"\0".join([path.encode(errors="surrogateescape"), str(number).encode(), before]))


def next_link(chain: bytes, size: int, piece: bytes) -> bytes:
    """The chain, one piece longer."""
    return digest(chain + size.to_bytes(8) + piece)


def lines_of(path: str, session: str) -> str:
    """The name that the lines of a session have in a file of all sessions, for tombstones."""
    return f"{path}\0{session}"


def name_digest(salt: str, path: str) -> bytes:
    """What a tombstone knows of a file: enough to meet it again, not enough to tell what it was."""
    return digest(b"\0".join([salt.encode(), path.encode(errors="surrogateescape")]))
