"""Repairs an archive: damaged packs mended, the rest taken from the sources."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from unspool.errors import Unreadable, UnspoolError, UsageProblem
from unspool.store.archive.archive import ArchiveDatabase, path_from_database
from unspool.store.archive.chain import bytes_digest
from unspool.store.archive.database import ARCHIVE, sqlite_errors_told
from unspool.store.archive.pack_writer import Packer, packing, renumber
from unspool.store.archive.packs import PACK, Damaged, compress, decompressor
from unspool.store.archive.page_checksums import PAGE, mend_page
from unspool.store.archive.salvage import UNUSED_PACKS, salvage
from unspool.store.archive.verify import Progress, VerifyResult, verify_archive

_STEP = 4096


class _Slice(NamedTuple):
    place: int
    size: int
    digest: bytes


def mend_packs(archive: ArchiveDatabase) -> int:
    """Mend what can be mended; how many pieces of files were. What cannot stays as it is, and is named by verify."""
    with archive.writing(), packing(archive) as packer:
        healed = sum(_mend(archive, pack, packer) for pack in _bad(archive))
        packer.flush()
        return healed + sum(_fill(archive, file, packer) for file in _torn(archive))


def _bad(archive: ArchiveDatabase) -> list[int]:
    """Packs with damage, those that others are compressed against first."""
    rows = archive.db.execute("SELECT DISTINCT pack FROM piece")
    bad = [pack for (pack,) in list(rows) if not _whole(archive, pack)]
    bases = {base for (base,) in archive.db.execute("SELECT DISTINCT base FROM pack WHERE base IS NOT NULL")}
    return sorted(bad, key=lambda pack: (pack not in bases, pack))


def _whole(archive: ArchiveDatabase, pack: int) -> bool:
    try:
        raw = archive.unpacked(pack)
    except UnspoolError:
        return False
    finally:
        archive.drop_cached(pack)
    return all(
        bytes_digest(memoryview(raw)[one.place : one.place + one.size]) == one.digest for one in _slices(archive, pack)
    )


def _slices(archive: ArchiveDatabase, pack: int) -> list[_Slice]:
    query = "SELECT DISTINCT place, size, digest FROM piece WHERE pack = ? ORDER BY place, size"
    return [_Slice(*row) for row in list(archive.db.execute(query, (pack,)))]


def _mend(archive: ArchiveDatabase, pack: int, packer: Packer) -> int:
    if _whole(archive, pack):
        return 0  # its base was mended
    slices, rest = _slices(archive, pack), _rest(archive, pack)
    found = {one: data for one in slices if (data := _found(archive, pack, one, rest)) is not None}
    if len(found) == len(slices):
        _restore(archive, pack, found)
        return len(found)
    query = "UPDATE piece SET pack = ?, place = ? WHERE pack = ? AND place = ? AND size = ?"
    for one, data in found.items():  # what is whole of the pack goes into another one
        archive.db.execute(query, (*packer.put(data), pack, one.place, one.size))
    return len(found)


def _found(archive: ArchiveDatabase, pack: int, one: _Slice, rest: bytes) -> bytes | None:
    """The bytes of a slice, from the pack as far as it can be read, or from a source that still has them."""
    inside = rest[one.place : one.place + one.size]
    if bytes_digest(inside) == one.digest:
        return inside
    query = (
        "SELECT root, path, start FROM piece JOIN generation ON generation.id = piece.generation"
        " JOIN file ON file.id = generation.file JOIN origin ON origin.id = file.origin"
        " WHERE piece.pack = ? AND place = ? AND piece.size = ?"
    )
    for root, path, start in list(archive.db.execute(query, (pack, one.place, one.size))):
        data = _source(Path(root) / path_from_database(path), start, one.size)
        if bytes_digest(data) == one.digest:
            return data
    return None


def _source(path: Path, start: int, size: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as stream:
            stream.seek(start)
            return stream.read(size)
    except (OSError, ValueError):
        return b""


def _rest(archive: ArchiveDatabase, pack: int) -> bytes:
    """What of a damaged pack still comes out, from its beginning to where it ends; none of it is sure to be right."""
    try:
        row: Any = archive.db.execute("SELECT base, data FROM pack WHERE id = ?", (pack,)).fetchone()
    except apsw.Error:
        return b""
    if row is None or not isinstance(row[1], bytes):
        return b""
    try:
        base = None if row[0] is None else archive.unpacked(row[0])
    except UnspoolError:
        return b""
    reader, out = decompressor(base).decompressobj(), bytearray()
    with suppress(Damaged):
        for at in range(0, len(row[1]), _STEP):
            out += reader.decompress(row[1][at : at + _STEP])
            if len(out) > PACK or reader.eof:
                break
    return bytes(out[:PACK])


def _restore(archive: ArchiveDatabase, pack: int, found: dict[_Slice, bytes]) -> None:
    """All of a pack is known again: it is stored under its number, so that what is compressed against it holds."""
    raw = bytearray(max((one.place + one.size for one in found), default=0))
    for one, data in found.items():
        raw[one.place : one.place + one.size] = data
    query = "INSERT OR REPLACE INTO pack VALUES(?, ?, NULL, ?)"
    archive.db.execute(query, (pack, len(raw), compress(bytes(raw))))
    archive.drop_cached(pack)


# Generations of which the very note is gone what they consist of


def _torn(archive: ArchiveDatabase) -> list[int]:
    """Files with a generation whose pieces do not add up."""
    query = (
        "SELECT DISTINCT file FROM generation WHERE size !="
        " (SELECT coalesce(sum(piece.size), 0) FROM piece WHERE piece.generation = generation.id)"
    )
    return [file for (file,) in list(archive.db.execute(query))]


def _fill(archive: ArchiveDatabase, file: int, packer: Packer) -> int:
    """Take what is missing from the source, where all that is not missing is the same there."""
    query = "SELECT root FROM origin JOIN file ON file.origin = origin.id WHERE file.id = ?"
    root, filled = archive.db.execute(query, (file,)).get, 0
    for kept in archive.generations(file):
        pieces = archive.pieces(kept.generation)
        data = _source(Path(root) / kept.path, 0, kept.size)
        same = all(bytes_digest(data[one.start : one.start + one.size]) == one.digest for one in pieces)
        if len(data) == kept.size and same and sum(one.size for one in pieces) != kept.size:
            filled += _filled(archive, kept.generation, data, packer)
    renumber(archive, file)
    return filled


def _filled(archive: ArchiveDatabase, generation: int, data: bytes, packer: Packer) -> int:
    at, filled = 0, 0
    ends = [(one.start, one.start + one.size) for one in archive.pieces(generation)]
    for start, end in [*ends, (len(data), len(data))]:
        while at < start:
            part = data[at : min(start, at + PACK)]
            packer.store(generation, at, part)
            at, filled = at + len(part), filled + 1
        at = max(at, end)
    return filled


_MOST_PAGES = 5_000


class RepairReport(msgspec.Struct, frozen=True):
    """What was done, and how the archive stands now."""

    proof: VerifyResult
    """After it; what it names is lost, unless another archive that has it is merged."""
    pages: int = 0
    """Pages put right by their sums."""
    pieces: int = 0
    """Pieces of files restored."""
    broken: str = ""
    """Where the broken file is, if the archive had to be put together anew."""


def repair_archive(
    folder: Path, proof: VerifyResult, *, key: str | None = None, progress: Progress = lambda _: None
) -> RepairReport:
    """Mend what `proof` found, as far as it can be."""
    fixed, broken = 0, ""
    if proof.damaged_pages and key is None:
        fixed = _mend_pages(folder, proof.damaged_pages)
        proof = verify_archive(folder, key=key, progress=progress) if fixed else proof
    if proof.refused:
        broken = str(salvage(folder, key))
        proof = verify_archive(folder, key=key, progress=progress)
    pieces = 0
    if not proof.clean:
        pieces = _mend_content(folder, key, proof)
        proof = verify_archive(folder, key=key, progress=progress)
    return RepairReport(proof, fixed, pieces, broken)


def _mend_content(folder: Path, key: str | None, proof: VerifyResult) -> int:
    with ArchiveDatabase.open(folder, key=key) as archive:
        pieces = mend_packs(archive) if proof.damages or proof.problems else 0
        with archive.writing():
            for query in UNUSED_PACKS:
                archive.db.execute(query)
        if proof.damaged_pages:
            archive.compact()  # writes every page anew
    return pieces


def _mend_pages(folder: Path, damaged: tuple[int, ...]) -> int:
    """Put right the pages of which a single byte changed; how many there were."""
    fixed = 0
    with (folder / ARCHIVE).open("r+b", buffering=0) as stream:
        held = _held(folder)
        for number in damaged[:_MOST_PAGES]:
            stream.seek((number - 1) * PAGE)
            page = mend_page(stream.read(PAGE), number)
            if page is not None:
                stream.seek((number - 1) * PAGE)
                stream.write(page)
                fixed += 1
        os.fsync(stream.fileno())
        if held is not None:  # before the file is closed, for that would end the lock
            held.close()
    return fixed


def _held(folder: Path) -> ArchiveDatabase | None:
    """The archive, locked against everybody; None where it cannot even be opened, which nobody else can either."""
    try:
        archive = ArchiveDatabase.open(folder)
    except (Unreadable, UsageProblem):
        return None
    with sqlite_errors_told(archive.path):
        archive.db.execute("BEGIN EXCLUSIVE")
    return archive
