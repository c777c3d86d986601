"""An upload, spooled to a private file: no larger than it may be, no slower than a bad line, and never in memory."""

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from unspool.app.guard_limits import too_much
from unspool.hub.shares.form import file_of
from unspool.hub.trouble import Full, HubError, TooLarge, Unfit

PACKED = ("application/gzip", "application/x-gzip", "application/octet-stream")
FORM = "multipart/form-data"
SILENT, GRACE, SLOWEST = 15.0, 20.0, 4096
"""Seconds without a byte; seconds after which fewer bytes a second than these are too few."""
_LOT = 1024 * 1024


class WrongKind(HubError):
    """What was sent is of a kind that is not taken."""

    status = 415


class Slow(HubError):
    """What was sent comes too slowly."""

    status = 408


async def spooled(request: Request, folder: Path, most: int) -> Path:
    """The file that was sent, as it is or in a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (*PACKED, FORM):
        raise WrongKind(f"Send a bundle as {', '.join(PACKED)} or {FORM}.")
    refusal = too_much(request.scope, most)
    if refusal is not None:
        raise (TooLarge if refusal.status == 413 else Unfit)(refusal.reason)
    sent = folder / "sent"
    await _written(request, sent, most)
    if kind != FORM:
        return sent
    with _room():
        return await run_in_threadpool(file_of, sent, request.headers["content-type"], folder / "file")


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
            raise Slow(f"Nothing came for {SILENT:g} seconds.") from None
        except ClientDisconnect:
            raise Unfit("What was sent broke off.") from None
        size += len(piece)
        took = time.monotonic() - begun
        if took > GRACE and size < took * SLOWEST:
            raise Slow("What was sent comes too slowly.")
        yield piece


@contextmanager
def _room() -> Iterator[None]:
    """Say of a disk that is full."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise Full("The hub has no room for this now.") from None
        raise
