"""Damaged packs, mended with bytes that are whole elsewhere: before the damage in the pack itself, or in the source."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import zstandard

from unspool.archive.archive import Archive, shown
from unspool.archive.chain import digest
from unspool.archive.numbering import renumbered
from unspool.archive.packer import Packer
from unspool.archive.packing import PACK, packed
from unspool.errors import UnspoolError

_STEP = 4096


class _Slice(NamedTuple):
    place: int
    size: int
    digest: bytes


def mend(archive: Archive) -> int:
    """Mend what can be mended; how many pieces of files were. What cannot stays as it is, and is named by verify."""
    healed = 0
    packer = Packer(archive)
    try:
        with archive.writing():
            packer.begin()
            for pack in _bad(archive):
                healed += _mend(archive, pack, packer)
            packer.flush()
            healed += sum(_fill(archive, file, packer) for file in _torn(archive))
            packer.flush()
    finally:
        packer.close()
    return healed


def _bad(archive: Archive) -> list[int]:
    """Packs with damage, those that others are compressed against first."""
    rows = archive.db.execute("SELECT DISTINCT pack FROM piece")
    bad = [pack for (pack,) in list(rows) if not _whole(archive, pack)]
    bases = {base for (base,) in archive.db.execute("SELECT DISTINCT base FROM pack WHERE base IS NOT NULL")}
    return sorted(bad, key=lambda pack: (pack not in bases, pack))


def _whole(archive: Archive, pack: int) -> bool:
    try:
        raw = archive.unpacked(pack)
    except UnspoolError:
        return False
    finally:
        archive.unshelve(pack)
    return all(
        digest(memoryview(raw)[one.place : one.place + one.size]) == one.digest for one in _slices(archive, pack)
    )


def _slices(archive: Archive, pack: int) -> list[_Slice]:
    query = "SELECT DISTINCT place, size, digest FROM piece WHERE pack = ? ORDER BY place, size"
    return [_Slice(*row) for row in list(archive.db.execute(query, (pack,)))]


def _mend(archive: Archive, pack: int, packer: Packer) -> int:
    if _whole(archive, pack):
        return 0  # its base was mended
    slices, rest = _slices(archive, pack), _rest(archive, pack)
    found = {one: data for one in slices if (data := _found(archive, pack, one, rest)) is not None}
    if len(found) == len(slices):
        _restore(archive, pack, found)
    else:
        _move(archive, pack, found, packer)
    return len(found)


def _found(archive: Archive, pack: int, one: _Slice, rest: bytes) -> bytes | None:
    """The bytes of a slice, from the pack as far as it can be read, or from a source that still has them."""
    inside = rest[one.place : one.place + one.size]
    if digest(inside) == one.digest:
        return inside
    query = (
        "SELECT root, path, start FROM piece JOIN generation ON generation.id = piece.generation"
        " JOIN file ON file.id = generation.file JOIN origin ON origin.id = file.origin"
        " WHERE piece.pack = ? AND place = ? AND piece.size = ?"
    )
    for root, path, start in list(archive.db.execute(query, (pack, one.place, one.size))):
        data = _source(Path(root) / shown(path), start, one.size)
        if digest(data) == one.digest:
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


def _rest(archive: Archive, pack: int) -> bytes:
    """What of a damaged pack still comes out, from its beginning to where it ends; none of it is sure to be right."""
    try:
        row: Any = archive.db.execute("SELECT base, data FROM pack WHERE id = ?", (pack,)).fetchone()
    except apsw.Error:
        return b""
    if row is None or not isinstance(row[1], bytes):
        return b""
    base = None if row[0] is None else _base(archive, row[0])
    return b"" if row[0] is not None and base is None else _partly(row[1], base)


def _base(archive: Archive, pack: int) -> bytes | None:
    try:
        return archive.unpacked(pack)
    except UnspoolError:
        return None


def _partly(data: bytes, base: bytes | None) -> bytes:
    dictionary = None if base is None else zstandard.ZstdCompressionDict(base, zstandard.DICT_TYPE_RAWCONTENT)
    reader = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << 27).decompressobj()
    out = bytearray()
    try:
        for at in range(0, len(data), _STEP):
            out += reader.decompress(data[at : at + _STEP])
            if len(out) > PACK or reader.eof:
                break
    except zstandard.ZstdError:
        pass
    return bytes(out[:PACK])


def _restore(archive: Archive, pack: int, found: dict[_Slice, bytes]) -> None:
    """All of a pack is known again: it is stored under its number, so that what is compressed against it holds."""
    raw = bytearray(max((one.place + one.size for one in found), default=0))
    for one, data in found.items():
        raw[one.place : one.place + one.size] = data
    query = "INSERT OR REPLACE INTO pack VALUES(?, ?, NULL, ?)"
    archive.db.execute(query, (pack, len(raw), packed(bytes(raw))))
    archive.unshelve(pack)


def _move(archive: Archive, pack: int, found: dict[_Slice, bytes], packer: Packer) -> None:
    """What is whole of a pack goes into another one."""
    for one, data in found.items():
        query = "UPDATE piece SET pack = ?, place = ? WHERE pack = ? AND place = ? AND size = ?"
        archive.db.execute(query, (*packer.put(data), pack, one.place, one.size))


# Generations of which the very note is gone what they consist of


def _torn(archive: Archive) -> list[int]:
    """Files with a generation whose pieces do not add up."""
    query = (
        "SELECT DISTINCT file FROM generation WHERE size !="
        " (SELECT coalesce(sum(piece.size), 0) FROM piece WHERE piece.generation = generation.id)"
    )
    return [file for (file,) in list(archive.db.execute(query))]


def _fill(archive: Archive, file: int, packer: Packer) -> int:
    """Take what is missing from the source, where all that is not missing is the same there."""
    query = "SELECT root FROM origin JOIN file ON file.origin = origin.id WHERE file.id = ?"
    root, filled = archive.db.execute(query, (file,)).get, 0
    for kept in archive.generations(file):
        pieces = archive.pieces(kept.generation)
        data = _source(Path(root) / kept.path, 0, kept.size)
        same = all(digest(data[one.start : one.start + one.size]) == one.digest for one in pieces)
        if len(data) == kept.size and same and sum(one.size for one in pieces) != kept.size:
            filled += _filled(archive, kept.generation, data, packer)
    renumbered(archive, file)
    return filled


def _filled(archive: Archive, generation: int, data: bytes, packer: Packer) -> int:
    at, filled = 0, 0
    ends = [(one.start, one.start + one.size) for one in archive.pieces(generation)]
    for start, end in [*ends, (len(data), len(data))]:
        while at < start:
            part = data[at : min(start, at + PACK)]
            row = (generation, at, len(part), *packer.put(part), digest(part))
            archive.db.execute("INSERT INTO piece VALUES(?, ?, ?, ?, ?, ?)", row)
            at, filled = at + len(part), filled + 1
        at = max(at, end)
    return filled
