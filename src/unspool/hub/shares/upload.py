"""Uploads: spooled to a private file within limits of size and time."""

import asyncio
import errno
import mmap
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from unspool.hub.errors import BadRequest, HubError, StoreFull, TooLarge
from unspool.web.guard import check_size

_FIELD = "file"
_HEAD, _PARTS = 16 * 1024, 100
"""Bytes in front of a part, and parts of a form."""
_MISSING = "Missing file in form data"
_BOUNDARY = re.compile(
    r""";[ \t]*boundary=(?:"([0-9A-Za-z'()+_,./:=? -]{1,70})"|([0-9A-Za-z'+_.-]{1,70}))[ \t]*(?:;|$)""", re.IGNORECASE
)
_NAME = re.compile(
    r"""^content-disposition:[^;\r\n]*(?:;[^;\r\n]*)*?;[ \t]*name=(?:"([^"\r\n]*)"|([^\s;"]+))""",
    re.IGNORECASE | re.MULTILINE,
)
_CHUNK = 1024 * 1024


def file_from_form(form: Path, kind: str, to: Path) -> Path:
    """The field `file` of a form, as a file of its own; Unfit where there is none."""
    edge = _edge(kind)
    if form.stat().st_size == 0:
        raise BadRequest(_MISSING)
    with form.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, end = _extent(data, edge)
        with to.open("xb") as out:
            for at in range(start, end, _CHUNK):
                out.write(data[at : min(at + _CHUNK, end)])
    return to


def _edge(kind: str) -> bytes:
    found = _BOUNDARY.search(kind)
    if found is None:
        raise BadRequest("The form does not say where its parts end.")
    return b"--" + (found[1] or found[2]).encode()


def _extent(data: mmap.mmap, edge: bytes) -> tuple[int, int]:
    """From where to where the file lies."""
    at = data.find(edge)
    for _ in range(_PARTS):
        head = data.find(b"\r\n\r\n", at, at + _HEAD) if at >= 0 else -1
        if head < 0:
            break
        end = data.find(b"\r\n" + edge, head + 2)
        if end < 0:
            raise BadRequest("The form breaks off.")
        if _name(data[at + len(edge) : head]) == _FIELD:
            return head + 4, max(end, head + 4)
        at = end + 2
    raise BadRequest(_MISSING)


def _name(head: bytes) -> str:
    """The name of a part's field."""
    found = _NAME.search(head.decode("utf-8", "replace"))
    return (found[1] or found[2] or "") if found is not None else ""


PACKED = ("application/gzip", "application/x-gzip", "application/octet-stream")
FORM = "multipart/form-data"
SILENT, GRACE, SLOWEST = 15.0, 20.0, 4096
"""Seconds without a byte; seconds after which fewer bytes a second than these are too few."""
_LOT = 1024 * 1024


class UnsupportedKind(HubError):
    """What was sent is of a kind that is not taken."""

    status = 415


class TooSlow(HubError):
    """What was sent comes too slowly."""

    status = 408


async def spool_upload(request: Request, folder: Path, most: int) -> Path:
    """The file that was sent, as it is or in a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (*PACKED, FORM):
        raise UnsupportedKind(f"Send a bundle as {', '.join(PACKED)} or {FORM}.")
    refusal = check_size(request.scope, most)
    if refusal is not None:
        raise (TooLarge if refusal.status == 413 else BadRequest)(refusal.reason)
    sent = folder / "sent"
    await _written(request, sent, most)
    if kind != FORM:
        return sent
    with _room():
        return await run_in_threadpool(file_from_form, sent, request.headers["content-type"], folder / "file")


async def _written(request: Request, path: Path, most: int) -> None:
    held, size = bytearray(), 0
    with _room(), path.open("xb") as file:
        async for piece in _pieces(request):
            held += piece
            size += len(piece)
            if size > most:
                raise TooLarge(f"More than {most:,} bytes were sent.")
            if len(held) >= _LOT:
                await run_in_threadpool(file.write, bytes(held))
                held.clear()
        await run_in_threadpool(file.write, bytes(held))


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """What comes, as long as it comes."""
    begun, size = time.monotonic(), 0
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(SILENT):
                piece = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise TooSlow(f"Nothing came for {SILENT:g} seconds.") from None
        except ClientDisconnect:
            raise BadRequest("What was sent broke off.") from None
        size += len(piece)
        took = time.monotonic() - begun
        if took > GRACE and size < took * SLOWEST:
            raise TooSlow("What was sent comes too slowly.")
        yield piece


@contextmanager
def _room() -> Iterator[None]:
    """Say of a disk that is full."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull("The hub has no room for this now.") from None
        raise
