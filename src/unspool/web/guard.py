"""Checks around every request of our servers: host names, size limits, security headers."""

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_ADDRESS = 8 * 1024
"""Bytes of an address with all that follows `?`."""
MAX_HEADERS = 32 * 1024
MAX_BODY = 256 * 1024
PATIENCE = 10.0
"""Seconds in which a body has come whole."""


class Refusal(NamedTuple):
    status: int
    reason: str


def check_size(scope: Scope, most: int = MAX_BODY) -> Refusal | None:
    """What is wrong with the size or shape of a request, as far as its head tells; `most` bytes may be sent."""
    path, query = scope["raw_path"], scope["query_string"]
    if not path.startswith(b"/"):
        return Refusal(400, "The address does not begin with a slash.")
    if b"\0" in scope["path"].encode(errors="replace"):
        return Refusal(400, "The address holds a character that no address has.")
    if len(path) + len(query) > MAX_ADDRESS:
        return Refusal(414, f"The address is longer than {MAX_ADDRESS:,} bytes.")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
        return Refusal(431, f"The headers are longer than {MAX_HEADERS:,} bytes.")
    if scope["method"] in ("GET", "HEAD"):
        most = 0
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _ in scope["headers"])
    if any(not value.isdigit() or len(value) > 12 or int(value) > most for value in lengths) or (chunked and not most):
        return Refusal(413, f"More than {most:,} bytes were sent." if most else "Nothing may be sent with this.")
    return None


async def read_body(receive: Receive) -> Receive | Refusal:
    """A `receive` that gives the body in one piece; a refusal where it is too large, too slow or broken off."""
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return Refusal(400, "What was sent broke off.")
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    return Refusal(413, f"More than {MAX_BODY:,} bytes were sent.")
                if not message.get("more_body"):
                    break
    except TimeoutError:
        return Refusal(408, f"What was sent did not come within {PATIENCE:g} seconds.")
    waiting = [bytes(body)]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104  names it, to be careful about it
_HTTP = 80


class AllowedHosts(NamedTuple):
    """What may stand in `Host`, and what in `Origin`."""

    port: int
    given: str = ""
    """The host that was asked for; empty for this machine alone."""

    def own(self, host: str) -> bool:
        name, port = _split_port(host.lower())
        if port != str(self.port) and not (port == "" and self.port == _HTTP):
            return False
        names = set(_LOOPBACK)
        if self.given:
            names.add((socket.gethostname() if self.given in _EVERYWHERE else bracket_host(self.given)).lower())
        return name in names or (self.given in _EVERYWHERE and _parse_ip(name) is not None)

    def same(self, origin: str, host: str) -> bool:
        """Whether an Origin header is that of a page of this server, asked for under this host."""
        return origin.lower() == f"http://{host.lower()}"


def bracket_host(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    address = _parse_ip(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def _split_port(host: str) -> tuple[str, str]:
    """The name and the port, which may be missing."""
    if host.startswith("["):
        name, closed, rest = host.partition("]")
        return name + closed, rest.removeprefix(":") if rest.startswith(":") or not rest else "none"
    name, _, port = host.partition(":")
    return name, port


def _parse_ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_DENIED = ("camera", "clipboard-read", "display-capture", "geolocation", "microphone", "payment", "usb")
SECURITY_HEADERS = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": ", ".join(f"{name}=()" for name in _DENIED).encode(),
}
"""Headers that no handler can change."""
DEFAULT_HEADERS = {b"cache-control": b"no-store"}
"""Headers that a handler may set otherwise."""

Header = tuple[bytes, bytes]


class SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": add_security_headers(message.get("headers", ()))}
            await send(message)

        await self._app(scope, receive, sending)


def add_security_headers(given: Iterable[Header]) -> list[Header]:
    kept = [(name.lower(), value) for name, value in given if name.lower() not in SECURITY_HEADERS]
    names = {name for name, _ in kept}
    usual = ((name, value) for name, value in DEFAULT_HEADERS.items() if name not in names)
    return [*kept, *usual, *SECURITY_HEADERS.items()]
