"""Uploads: spooled to a private file within limits of size and time."""

import asyncio
import mmap
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from unspool.hub.errors import NO_ROOM, BadRequest, HubError, StoreFull, TooLarge
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
    """The field `file` of a form, as a file of its own; BadRequest where there is none."""
    boundary = _BOUNDARY.search(kind)
    if boundary is None:
        raise BadRequest("The form does not say where its parts end.")
    edge = b"--" + (boundary[1] or boundary[2]).encode()
    if form.stat().st_size == 0:
        raise BadRequest(_MISSING)
    with form.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, end = _extent(data, edge)
        with to.open("xb") as out:
            for at in range(start, end, _CHUNK):
                out.write(data[at : min(at + _CHUNK, end)])
    return to


def _extent(data: mmap.mmap, edge: bytes) -> tuple[int, int]:
    at = data.find(edge)
    for _ in range(_PARTS):
        head = data.find(b"\r\n\r\n", at, at + _HEAD) if at >= 0 else -1
        if head < 0:
            break
        end = data.find(b"\r\n" + edge, head + 2)
        if end < 0:
            raise BadRequest("The form breaks off.")
        name = _NAME.search(data[at + len(edge) : head].decode("utf-8", "replace"))
        if name is not None and (name[1] or name[2]) == _FIELD:
            return head + 4, max(end, head + 4)
        at = end + 2
    raise BadRequest(_MISSING)


PACKED = ("application/gzip", "application/x-gzip", "application/octet-stream")
FORM = "multipart/form-data"
SILENT, GRACE, SLOWEST = 15.0, 20.0, 4096
"""Seconds without a byte; seconds after which fewer bytes a second than these are too few."""
_LOT = 1024 * 1024


class UnsupportedKind(HubError):
    status = 415


class TooSlow(HubError):
    status = 408


async def spool_upload(request: Request, folder: Path, most: int) -> Path:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (*PACKED, FORM):
        raise UnsupportedKind(f"Send a bundle as {', '.join(PACKED)} or {FORM}.")
    refusal = check_size(request.scope, most)
    if refusal is not None:
        raise (TooLarge if refusal.status == 413 else BadRequest)(refusal.reason)
    sent = folder / "sent"
    await _write(request, sent, most)
    if kind != FORM:
        return sent
    with _tell_full_disk():
        return await run_in_threadpool(file_from_form, sent, request.headers["content-type"], folder / "file")


async def _write(request: Request, path: Path, most: int) -> None:
    """Write what comes to a file, as long as it comes and is not too much."""
    held, size, begun = bytearray(), 0, time.monotonic()
    stream = aiter(request.stream())
    with _tell_full_disk(), path.open("xb") as file:
        while (piece := await _next_piece(stream)) is not None:
            held += piece
            size += len(piece)
            took = time.monotonic() - begun
            if took > GRACE and size < took * SLOWEST:
                raise TooSlow("What was sent comes too slowly.")
            if size > most:
                raise TooLarge(f"More than {most:,} bytes were sent.")
            if len(held) >= _LOT:
                await run_in_threadpool(file.write, bytes(held))
                held.clear()
        await run_in_threadpool(file.write, bytes(held))


async def _next_piece(stream: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(SILENT):
            return await anext(stream)
    except StopAsyncIteration:
        return None
    except TimeoutError:
        raise TooSlow(f"Nothing came for {SILENT:g} seconds.") from None
    except ClientDisconnect:
        raise BadRequest("What was sent broke off.") from None


@contextmanager
def _tell_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFull("The hub has no room for this now.") from None
        raise
