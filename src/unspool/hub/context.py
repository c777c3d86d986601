"""The hub that every request works with, and what a handler asks of its request."""

from ipaddress import IPv4Network, IPv6Network
from typing import NamedTuple, cast

from starlette.requests import Request

from unspool.hub.people.users import Person
from unspool.hub.store.connect import Store

MB = 1024 * 1024


class HubSettings(NamedTuple):
    """How a hub is run."""

    url: str = ""
    """Where people reach it, such as https://hub.example; empty: at whatever name it is asked by."""
    header: str = ""
    """The header in which a reverse proxy says who asks; empty: no header is believed."""
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    """From where such a header is believed."""
    upload: int = 512 * MB
    """Bytes of one upload."""
    quota: int = 20 * 1024 * MB
    """Bytes that a person may keep, unless theirs is another."""
    an_hour: int = 100_000
    """Requests of a person or an address in an hour."""
    open_shares: bool = False
    """Whether anybody may upload a share, as session-share's service lets them."""
    door: bool = True
    """Whether what arrives is searched for secrets, and refused where there are any."""


class Hub(NamedTuple):
    """A hub, for all its requests."""

    store: Store
    terms: HubSettings = HubSettings()


def hub(request: Request) -> Hub:
    """The hub that is asked."""
    return cast("Hub", request.app.state.hub)


def person(request: Request) -> Person:
    return cast("Person", request.state.person)


def request_body(request: Request) -> bytes:
    """What was sent, which `door` has read whole."""
    return cast("bytes", getattr(request.state, "body", b""))
