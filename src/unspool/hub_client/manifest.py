"""The manifest of a push: the files of a session, each cut into pieces at line ends and named by digest."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

PIECE = 16 * 1024 * 1024
"""Bytes of a piece at most."""
PACKED = 4 * 1024 * 1024
"""Bytes of a piece at most as it is sent."""
MANIFEST = 16 * 1024 * 1024
"""Bytes of a manifest at most."""
LOG = ".jsonl"
_NAME = re.compile(r"(?!\.)[A-Za-z0-9._@+=-]{1,200}")
_DEEPEST = 8
_FILES = 20_000

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class FilePiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch of a file, by the digest of what it is."""

    digest: Digest
    size: Annotated[int, Meta(ge=1, le=PIECE)]


class ManifestFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file: `KEY.jsonl` for the log, `KEY/…` for what goes along."""

    name: str
    pieces: Annotated[tuple[FilePiece, ...], Meta(min_length=1)]

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)


class PushManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    """The session's own id."""
    files: tuple[ManifestFile, ...]
    state: Digest
    """Of all the rest: the same for the same."""
    agent: str = ""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def pieces(self) -> Iterator[FilePiece]:
        """Of every file, in order."""
        return (piece for file in self.files for piece in file.pieces)


def make_manifest(key: str, files: Iterable[ManifestFile], agent: str = "") -> PushManifest:
    ordered = tuple(sorted(files, key=lambda file: file.name))
    return PushManifest(key, ordered, content_digest(key, ordered), agent)


def content_digest(key: str, files: Iterable[ManifestFile]) -> str:
    return sha256(msgspec.json.encode((key, tuple(files)), order="deterministic")).hexdigest()


def is_file_name(name: str, key: str) -> bool:
    """Whether a file of a session may be called so: no name leads anywhere else."""
    if name == f"{key}{LOG}":
        return True
    first, *rest = name.split("/", _DEEPEST + 1)
    return first == key and 0 < len(rest) <= _DEEPEST and all(map(_NAME.fullmatch, rest))


def manifest_fault(given: PushManifest) -> str:
    """Why a manifest cannot be taken; empty where it can."""
    names = [file.name for file in given.files]
    if not _NAME.fullmatch(given.key):
        return "its key is none that a file could have"
    if f"{given.key}{LOG}" not in names or len(names) > _FILES:
        return f"it has the log {given.key}{LOG} and at most {_FILES:,} files"
    if not all(is_file_name(name, given.key) for name in names):
        return f"its files are the log and what lies below {given.key}/"
    folders = {name[:at] for name in names for at, letter in enumerate(name) if letter == "/"}
    if len(set(names)) < len(names) or not folders.isdisjoint(names):
        return "it names something twice"
    if given.state != content_digest(given.key, given.files):
        return "its state is not the digest of what it says"
    return ""


_USUAL = 1024 * 1024
_MOST = 3 * 1024 * 1024
"""Bytes of a piece, so that it can be sent even where it does not pack."""


def file_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_USUAL):
            yield chunk + file.readline(_MOST - _USUAL)


def file_pieces(path: Path) -> tuple[FilePiece, ...]:
    """What the pieces of a file are known by."""
    return tuple(FilePiece(sha256(chunk).hexdigest(), len(chunk)) for chunk in file_chunks(path))
