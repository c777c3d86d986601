"""The listening socket of a server, and uvicorn's HTTP protocol with timeouts."""

import asyncio
import errno
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from unspool.errors import UsageProblem
from unspool.web.guard import MAX_HEADERS, bracket_host

LOOPBACK = "127.0.0.1"
PORT = 8642
"""Where it is found where nothing else is there."""
_FILES = 4096
"""Open files that a thousand readers and their databases need."""


def open_listener(host: str, port: int | None) -> socket.socket:
    """A socket on exactly that port; where none is given on the usual one, or a free one where that is taken."""
    if port is not None:
        return _bound(host, port)
    try:
        return _bound(host, PORT)
    except _Taken:
        return _bound(host, 0)


class _Taken(UsageProblem):
    """Somebody else listens on that port, or nobody may."""


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except (socket.gaierror, UnicodeError):
        raise UsageProblem(f"There is no host {host}.") from None
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES) and port:
            why = "is taken" if error.errno == errno.EADDRINUSE else "may not be listened on"
            raise _Taken(f"Port {port} of {host} {why}; give another with --port, or none.") from None
        raise UsageProblem(f"Cannot listen on {host}: {error.strerror or error}.") from None
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # an answer in two pieces would else take 40 ms
    return listener


def server_url(host: str, port: int) -> str:
    """Where a browser on this machine finds it, without a slash at the end."""
    here = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{bracket_host(here)}:{port}"


def raise_open_file_limit() -> None:
    """Let this process have as many open files as it may need, where the system limits that."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def has_browser(environment: Mapping[str, str], system: str) -> bool:
    """Whether a browser could show anything: there is a screen, or somebody said which browser to take."""
    if system in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environment
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


PATIENCE = 10.0
"""Seconds for the head of a request, and for what is still sent of one that was answered."""
UNREAD = 20.0
"""Seconds in which nothing of an answer was taken."""


class _StrictConnection(h11.Connection):
    """Refuses a body that says two lengths: whoever stands before this server may go by the other one."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding contradict each other.")
        return event


class TimeoutProtocol(H11Protocol):
    """uvicorn's own, with a clock."""

    _clock: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        self.conn = _StrictConnection(h11.SERVER, self.config.h11_max_incomplete_event_size or 2 * MAX_HEADERS)
        super().connection_made(transport)
        self._wind()

    def connection_lost(self, exc: Exception | None) -> None:
        self._halt()
        self._read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE and not self._answered_early():
            self._halt()
        elif self._clock is None:
            self._wind()

    def on_response_complete(self) -> None:
        self._halt()
        super().on_response_complete()
        if self._answered_early():
            self._wind()  # what still comes keeps uvicorn's own clock from running out

    def _answered_early(self) -> bool:
        """Whether a request was answered that is still being sent."""
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

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
