"""Which files are the lake. Whoever reads it by its manifest sees it before a write or after it, never between."""

import re
from hashlib import sha256
from pathlib import PurePosixPath

import msgspec

from unspool.build_info import VERSION
from unspool.errors import NotFound, Unreadable
from unspool.lake.storage import LOCK, OWN, LakeStorage
from unspool.lake.tables import TABLES

MANIFEST = f"{OWN}/manifest.json"
RUNS = f"{OWN}/runs"
"""The folder of files that a write has not put in their places yet."""
SHARDS = f"{OWN}/shards"
"""The folder of files that processes have read which each have a share of the sessions."""
KNOWN = "known"
"""The name of what is remembered of every session; it is no table of the lake."""
FORMAT = "unspool-lake-1"


class LakePart(msgspec.Struct, frozen=True, order=True):
    """One file of a table."""

    table: str
    agent: str
    month: str
    path: str
    rows: int
    size: int
    digest: str
    """SHA-256 of its bytes."""


class LakeManifest(msgspec.Struct, frozen=True, kw_only=True):
    format: str = FORMAT
    made_with: str = f"unspool {VERSION}"
    tables: dict[str, int] = {}
    """The version of every table."""
    results: bool = True
    """Whether what tools answered is in it."""
    redacted: bool = False
    """Whether its logs were redacted before they were read."""
    parts: tuple[LakePart, ...] = ()
    known: tuple[LakePart, ...] = ()

    def of(self, table: str) -> list[LakePart]:
        """The files of a table, in order."""
        return sorted(part for part in self.parts if part.table == table)

    @property
    def paths(self) -> set[str]:
        return {part.path for part in (*self.parts, *self.known)}


TABLE_VERSIONS = {table.name: table.version for table in TABLES}
_OURS = re.compile(
    rf"(?:{'|'.join(TABLE_VERSIONS)})/agent=[^/]+/month=[^/]+/\.?part-[0-9a-f]{{16}}\.parquet(?:\.part)?"
    rf"|{OWN}/(?:{KNOWN}|runs|shards)/.+|{re.escape(LOCK)}|{re.escape(MANIFEST)}"
)


def leftovers(storage: LakeStorage, manifest: LakeManifest, *, shards: bool = False) -> list[str]:
    """Files of a lake that it is not made of: a write that ended too soon left them; with `shards`, theirs too."""
    known = {*manifest.paths, MANIFEST, LOCK}
    found = [file.path for file in storage.files() if file.path not in known and _OURS.fullmatch(file.path)]
    return found if shards else [path for path in found if not path.startswith(f"{SHARDS}/")]


def has_strangers(storage: LakeStorage) -> bool:
    """Whether there are files that no lake has."""
    return any(_OURS.fullmatch(file.path) is None for file in storage.files())


def load_manifest(storage: LakeStorage) -> LakeManifest | None:
    """The manifest of a lake; None where there is none yet."""
    try:
        data = storage.read(MANIFEST)
    except NotFound:
        return None
    try:
        found = msgspec.json.decode(data, type=LakeManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"The manifest of the lake in {storage.url} is damaged: {error}.") from None
    if found.format != FORMAT:
        raise Unreadable(f"The lake in {storage.url} was written by another version of unspool ({found.made_with}).")
    if any(not is_part_path(path) for path in found.paths):
        raise Unreadable(f"The manifest of the lake in {storage.url} names files outside of it.")
    return found


def is_part_path(path: str) -> bool:
    """Whether a path leads to a file below the lake's folder: a manifest may come from anyone."""
    pure = PurePosixPath(path)
    return bool(path) and not pure.is_absolute() and ".." not in pure.parts and "\\" not in path


def save_manifest(storage: LakeStorage, manifest: LakeManifest) -> None:
    storage.put(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))


def part_path(table: str, agent: str, month: str, digest: str) -> str:
    """Where a file of a table belongs: the folders tell the columns that are no part of it."""
    name = f"part-{digest[:16]}.parquet"
    return f"{OWN}/{KNOWN}/{agent}/{name}" if table == KNOWN else f"{table}/agent={agent}/month={month}/{name}"


class VerifiedLake(msgspec.Struct, frozen=True):
    """What the files of a lake are like."""

    sound: int
    damaged: list[str]
    """A sentence for each that is gone, or another than was written."""
    left: list[str]
    """Files that are no part of it."""


def verify_lake(storage: LakeStorage, manifest: LakeManifest) -> VerifiedLake:
    """Compare every file with its digest."""
    damaged = []
    for part in (*manifest.parts, *manifest.known):
        try:
            data = storage.read(part.path)
        except NotFound:
            damaged.append(f"{part.path} is gone")
            continue
        if sha256(data).hexdigest() != part.digest:
            damaged.append(f"{part.path} is not as it was written")
    sound = len(manifest.parts) + len(manifest.known) - len(damaged)
    return VerifiedLake(sound, damaged, leftovers(storage, manifest))
