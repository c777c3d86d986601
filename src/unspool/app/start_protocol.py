"""HTTP with an end to patience: who does not send the whole head of a request in time is let go, and so is who does
not read the answer.

uvicorn itself waits for ever for the first request of a connection, for the rest of one that has begun, and for a
reader who has stopped to read, whose page stays in memory meanwhile.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds for the head of a request."""
UNREAD = 20.0
"""Seconds in which nothing of an answer was taken."""


class Patient(H11Protocol):
    """uvicorn's own, with a clock."""

    _clock: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wind()

    def connection_lost(self, exc: Exception | None) -> None:
        self._halt()
        self._read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._halt()
        elif self._clock is None:
            self._wind()

    def on_response_complete(self) -> None:
        self._halt()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look(self.transport.get_write_buffer_size() + 1)

    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def _look(self, before: int) -> None:
        """Go on as long as less is left than before."""
        self._read()
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._unread = self.loop.call_later(UNREAD, self._look, left)
        else:
            self.transport.abort()

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wind(self) -> None:
        self._clock = self.loop.call_later(PATIENCE, self.transport.abort)

    def _halt(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
