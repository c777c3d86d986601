"""Server-sent events: a bounded number of streams, each ending when nobody listens any more."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import StreamingResponse

MOST = 64
"""Streams at once."""
LOOK = 0.5
"""Seconds between two looks."""
_BEAT = 15.0
"""Seconds of silence after which a sign of life is sent, which also finds out that a listener is gone."""
_LONGEST = 3.0
"""A look that takes long is not repeated before as long again, up to this many seconds."""


class Said(NamedTuple):
    """One event."""

    event: str
    data: object
    id: str = ""

    @property
    def encoded(self) -> bytes:
        head = f"id: {self.id}\n" if self.id else ""
        return head.encode() + b"event: %b\ndata: %b\n\n" % (self.event.encode(), msgspec.json.encode(self.data))


Look = Callable[[], Said | None]
"""Says what is new since the last look; runs in a thread."""


def stream(request: Request, look: Look) -> StreamingResponse:
    """What looks tell, for as long as somebody listens."""
    app = request.app
    if getattr(app.state, "streams", 0) >= MOST:
        raise HTTPException(503, "Too many pages are being followed at once.", {"Retry-After": "10"})
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_counted(request, look), media_type="text/event-stream", headers=headers)


async def _counted(request: Request, look: Look) -> AsyncIterator[bytes]:
    state = request.app.state
    state.streams = getattr(state, "streams", 0) + 1
    try:
        async for part in _events(request, look):
            yield part
    finally:
        state.streams -= 1


async def _events(request: Request, look: Look) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    yield b"retry: 1000\n\n"
    silent = loop.time()
    while not await request.is_disconnected():
        begun = loop.time()
        said = await run_in_threadpool(look)
        ended = loop.time()
        if said is not None:
            yield said.encoded
            silent = ended
            if said.event == "end":
                return
        elif ended - silent > _BEAT:
            yield b": still here\n\n"
            silent = ended
        await asyncio.sleep(min(max(LOOK, ended - begun), _LONGEST))
