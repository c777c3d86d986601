"""Where a hub is, and whether a token may be sent there."""

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from unspool.errors import UsageProblem

_PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """A hub's address."""

    scheme: str
    host: str
    port: int
    path: str
    """In front of every address of the hub; empty, or one that begins with a slash and ends with none."""

    @property
    def url(self) -> str:
        """As people write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def private(self) -> bool:
        """Whether what is sent there can be read by nobody on the way."""
        return self.scheme == "https" or _is_loopback(self.host)


def parsed(url: str) -> Address:
    """An address as it was typed; https is meant where nothing else is said. UsageProblem where it is none."""
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageProblem(f"“{url}” is no address of a hub.") from None
    if parts.scheme not in _PORTS or not host or not text.isprintable() or " " in text:
        raise UsageProblem(f"“{url}” is no address of a hub; one looks like https://hub.example.")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageProblem("The address of a hub has no name, question or fragment in it.")
    return Address(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
