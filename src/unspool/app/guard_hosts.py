"""The names that the app answers to, so that no page of a foreign name can reach it through the browser.

A name that somebody else owns can be made to lead here (DNS rebinding); an address made of numbers cannot. So a
server that listens everywhere answers to any such address and to the machine's own name, and nothing else.
"""

import socket
from ipaddress import ip_address
from typing import NamedTuple

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104  names it, to be careful about it
_HTTP = 80


class Hosts(NamedTuple):
    """What may stand in `Host`, and what in `Origin`."""

    port: int
    given: str = ""
    """The host that was asked for; empty for this machine alone."""

    def own(self, host: str) -> bool:
        """Whether a Host header means this server."""
        name, port = _parted(host.lower())
        if port != str(self.port) and not (port == "" and self.port == _HTTP):
            return False
        return name in self._names() or (self.given in _EVERYWHERE and _is_address(name))

    def same(self, origin: str, host: str) -> bool:
        """Whether an Origin header is that of a page of this server, asked for under this host."""
        return origin.lower() == f"http://{host.lower()}"

    def _names(self) -> set[str]:
        if not self.given:
            return set(_LOOPBACK)
        more = socket.gethostname() if self.given in _EVERYWHERE else bracketed(self.given)
        return {*_LOOPBACK, more.lower()}


def bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _parted(host: str) -> tuple[str, str]:
    """The name and the port, which may be missing."""
    if host.startswith("["):
        name, closed, rest = host.partition("]")
        return name + closed, rest.removeprefix(":") if rest.startswith(":") or not rest else "none"
    name, _, port = host.partition(":")
    return name, port


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name.strip("[]")))
    except ValueError:
        return False
