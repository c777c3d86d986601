"""Bytes of a log from wherever it is: a file, standard input, a URL; unpacked."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
import zstandard

from unspool.agents.lines import document_entries, starts_document
from unspool.errors import NotFound, Unreadable
from unspool.http import fetch

_CHUNK = 1 << 17


class ZstdReader(io.RawIOBase):
    """The plain bytes of a stream of one or more frames; EOFError where the last is not whole."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._rest = b""
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        while not self._plain:
            given = self._rest or self._packed.read(_CHUNK)
            self._rest = b""
            if not given:
                if self._frame is not None:
                    raise EOFError("the data ends in the middle of a frame")
                return 0
            self._plain = memoryview(self._unpack(given))
        size = min(len(into), len(self._plain))
        into[:size] = self._plain[:size]
        self._plain = self._plain[size:]
        return size

    def _unpack(self, given: bytes) -> bytes:
        self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        try:
            plain = self._frame.decompress(given)
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from None
        if self._frame.eof:
            self._rest, self._frame = self._frame.unused_data, None
        return plain


_TAR = slice(257, 262)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UTF16 = (b"\xff\xfe{\0", b"\xff\xfe[\0", b"\xfe\xff\0{", b"\xfe\xff\0[")
"""How a log begins that a shell wrote in two-byte characters."""
_BUFFER = 1 << 20


def is_url(name: str) -> bool:
    return name.startswith(("http://", "https://"))


def is_bundle(path: Path) -> bool:
    """Whether a file is a tar, packed or not, as a session is sent in."""
    try:
        with path.open("rb") as stream:
            return _plain(stream).read(_TAR.stop)[_TAR] == b"ustar"
    except (OSError, ValueError, EOFError, zlib.error):
        return False


@contextmanager
def open_log(name: str, size: int | None = None, buffer: int = _BUFFER) -> Iterator[BinaryIO]:
    """The log called `name`: "-", an http(s) URL, or a path; of a file, no more than its first `size` bytes. `buffer`
    is how many bytes are read at once."""
    try:
        if name == "-":
            yield _plain(sys.stdin.buffer)
        elif is_url(name):
            yield _plain(io.BytesIO(fetch(name)))
        else:
            with _file(Path(name), buffer if size is None else 0) as stream:
                yield _plain(stream if size is None else _Head(stream, size))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unreadable(f"{name} is damaged: its compressed data ends or breaks ({error}).") from None


@contextmanager
def hold_stream(data: bytes) -> Iterator[BinaryIO]:
    """The log whose bytes these are."""
    try:
        yield _plain(io.BytesIO(data))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unreadable(f"A log is damaged: its compressed data ends or breaks ({error}).") from None


@contextmanager
def _file(path: Path, buffer: int) -> Iterator[BinaryIO]:
    try:
        stream: Any = path.open("rb", buffering=buffer)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise Unreadable(f"{path} is a folder; name a log in it, or use --source {path}.") from None
    except PermissionError:
        raise Unreadable(f"No permission to read {path}.") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"Cannot read {path}: {error}.") from None
    with stream:
        yield stream


class _Head(io.RawIOBase):
    """The beginning of a stream, which is read without a buffer of its own."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream: Any = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        size: int = self._stream.readinto(memoryview(buffer)[: self._left])
        self._left -= size
        return size


def _plain(stream: object) -> BinaryIO:
    """The stream, unpacked if it is packed; always one that can be peeked into."""
    buffered = _buffered(stream)
    head = cast("io.BufferedReader", buffered).peek(4)[:4]
    if head.startswith(_GZIP):
        return _buffered(gzip.open(buffered))
    if head.startswith(_ZSTD):
        return _buffered(ZstdReader(buffered))
    if head.startswith(_UTF16):
        return _buffered(io.BytesIO(buffered.read().decode("utf-16", "replace").encode()))
    return buffered


def _buffered(stream: object) -> BinaryIO:
    made = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream), _BUFFER)
    return cast("BinaryIO", made)


_HEAD = 4096


def as_lines(path: str, folder: Path) -> Path | None:
    """The entries of a document as a log in a folder; None where it has lines already, or can be read only once."""
    if path == "-" or is_url(path):
        return None
    with open_log(path) as stream:
        head = stream.read(_HEAD)
        found = document_entries(head + stream.read()) if starts_document(head) else None
    if found is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "document.jsonl"
    made.write_bytes(b"".join(msgspec.json.encode(one.data) + b"\n" for one in found if one.data is not None))
    return made
