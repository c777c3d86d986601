"""A checksum on every page of a database file, so that a byte changed anywhere in it is found.

SQLite leaves the last bytes of each page to its file layer. This layer writes there the CRC-32 of the rest of the
page, whenever a page goes to disk. Any SQLite can read such a file.
"""

import functools
import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw

NAME = "unspool"
PAGE = 8192
RESERVED = 8
_SUM = 4
_LOCKS = 0x40000000 // PAGE + 1
"""SQLite takes locks on the bytes of this page, and never writes it."""


def _sum(page: "memoryview | bytes") -> bytes:
    return zlib.crc32(page[:-_SUM]).to_bytes(_SUM)


class _File(apsw.VFSFile):
    """The main file of a database: whole pages get their sum as they are written."""

    def xWrite(self, data: "bytes | memoryview", offset: int) -> None:  # noqa: N802  SQLite's name
        if len(data) == PAGE:
            data = bytes(memoryview(data)[:-_SUM]) + _sum(memoryview(data))
        super().xWrite(data, offset)


class _Checked(apsw.VFS):
    """The system's files, with sums on the pages of databases."""

    def xOpen(self, name: "apsw.URIFilename | str | None", flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB and name is not None:
            return _File("", name, flags)
        return super().xOpen(name, flags)


_installed: list[_Checked] = []
"""Kept alive as long as connections may use it."""


def checksum_layer() -> str:
    """The name of the file layer, made at the first call."""
    if not _installed:
        _installed.append(_Checked(NAME, ""))
    return NAME


def damaged_pages(path: Path) -> Iterator[int]:
    """The numbers of pages, from 1, whose sum does not fit; a torn last page is one."""
    with path.open("rb", buffering=PAGE * 64) as stream:
        number = 0
        while page := stream.read(PAGE):
            number += 1
            if not page_fits(page, number):
                yield number


def page_fits(page: bytes, number: int) -> bool:
    """Whether a page is as it was written."""
    if number == _LOCKS:
        return not any(page)
    return len(page) == PAGE and page[-_SUM:] == _sum(page)


def mend_page(page: bytes, number: int) -> bytes | None:
    """The page as it was written, where a single byte of it changed; None where more did.

    A change shows in the sum in a way that depends on its place and value alone. That of every bit is known, and
    combined to those of bytes; where just one byte at one place explains what shows, it is that.
    """
    if number == _LOCKS:
        return bytes(len(page))
    if len(page) != PAGE:
        return None
    shown = zlib.crc32(page[:-_SUM]) ^ int.from_bytes(page[-_SUM:])
    found = [(PAGE - 4 + at, shown >> 8 * (3 - at)) for at in range(_SUM) if shown == shown & 0xFF << 8 * (3 - at)]
    found += _places(shown)
    if len(found) != 1:
        return None
    (place, change), fixed = found[0], bytearray(page)
    fixed[place] ^= change
    return bytes(fixed) if page_fits(bytes(fixed), number) else None


def _places(shown: int) -> list[tuple[int, int]]:
    """Where a change of one byte, and which, would show like this in the sum."""
    last = {entry: value for value, entry in enumerate(_table()) if value}
    found = []
    for back in range(PAGE - _SUM):  # `shown`, taken back over `back` bytes, must be what the last byte alone shows
        if (value := last.get(shown)) is not None:
            found.append((PAGE - _SUM - 1 - back, value))
        shown = _back(shown)
    return found


def _back(shown: int) -> int:
    """What a change shows in the sum, as it was a byte earlier."""
    high = _highs()[shown >> 24]
    return ((shown ^ _table()[high]) << 8 | high) & 0xFFFFFFFF


@functools.cache
def _table() -> list[int]:
    """What a change of the last byte by some value shows in the sum: the CRC's own table."""
    return [zlib.crc32(bytes([value])) ^ zlib.crc32(b"\0") for value in range(256)]


@functools.cache
def _highs() -> dict[int, int]:
    return {entry >> 24: value for value, entry in enumerate(_table())}
