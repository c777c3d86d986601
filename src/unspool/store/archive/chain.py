"""Where files came from, their digests and chain, and their state on disk."""

import os
from typing import Literal, NamedTuple


class Origin(NamedTuple):
    """A place that files came from."""

    machine: str
    user: str
    root: str
    agent: str


def bytes_digest(data: "bytes | memoryview") -> bytes:
    from hashlib import sha256  # dear to load, and who only reads needs no digest

    return sha256(data).digest()


def first_link(path: str, number: int, before: bytes) -> bytes:
    """Where the chain of a generation begins: its file, its number, and the end of the generation before it."""
    return bytes_digest(b"\0".join([path.encode(errors="surrogateescape"), str(number).encode(), before]))


def next_link(chain: bytes, size: int, piece: bytes) -> bytes:
    """The chain, one piece longer."""
    return bytes_digest(chain + size.to_bytes(8) + piece)


def session_lines_name(path: str, session: str) -> str:
    """The name that the lines of a session have in a file of all sessions, for tombstones."""
    return f"{path}\0{session}"


def name_digest(salt: str, path: str) -> bytes:
    """What a tombstone knows of a file: enough to meet it again, not enough to tell what it was."""
    return bytes_digest(b"\0".join([salt.encode(), path.encode(errors="surrogateescape")]))


Outcome = Literal["same", "new", "grown", "rewritten"]


class FileStatus(NamedTuple):
    """What the file system says of a file; equal figures mean equal content."""

    size: int
    modified: int
    changed: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "FileStatus":
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
