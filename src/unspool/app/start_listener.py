"""The socket that the app listens on, and its address."""

import errno
import socket
from collections.abc import Mapping
from contextlib import suppress

from unspool.app.guard_hosts import bracketed
from unspool.errors import UsageProblem

LOOPBACK = "127.0.0.1"
PORT = 8642
"""Where it is found where nothing else is there."""
_FILES = 4096
"""Open files that a thousand readers and their databases need."""


def listener(host: str, port: int | None) -> socket.socket:
    """A socket on exactly that port; where none is given on the usual one, or a free one where that is taken."""
    if port is not None:
        return _bound(host, port)
    try:
        return _bound(host, PORT)
    except _Taken:
        return _bound(host, 0)


class _Taken(UsageProblem):
    """Somebody else listens there."""


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return _prompt(socket.create_server((host, port), family=family, backlog=1024))
    except (socket.gaierror, UnicodeError):
        raise UsageProblem(f"There is no host {host}.") from None
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES) and port:
            why = "is taken" if error.errno == errno.EADDRINUSE else "may not be listened on"
            raise _Taken(f"Port {port} of {host} {why}; give another with --port, or none.") from None
        raise UsageProblem(f"Cannot listen on {host}: {error.strerror or error}.") from None


def _prompt(made: socket.socket) -> socket.socket:
    """A socket whose connections send what they have at once: an answer in two pieces would else take 40 ms."""
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def address(host: str, port: int) -> str:
    """Where a browser on this machine finds it, without a slash at the end."""
    here = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{bracketed(here)}:{port}"


def room_for_readers() -> None:
    """Let this process have as many open files as it may need, where the system limits that."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def browser_there(environment: Mapping[str, str], system: str) -> bool:
    """Whether a browser could show anything: there is a screen, or somebody said which browser to take."""
    if system in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environment
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
