"""One HTTP request, bounded in time and size: for a log at an address, or to a service that is given a secret.

Whoever sends a secret sends it over https alone, and is not redirected. The hub has a client of its own, which keeps
its connection and sends large bodies: `hub_client.client`.
"""

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from unspool.errors import FetchFailed, UsageProblem

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from ipaddress import IPv4Address, IPv6Address
    from urllib.request import OpenerDirector, Request

SECONDS = 60
BYTES = 512 * 1024 * 1024
"""What one answer may take, unless somebody says otherwise."""
_ANSWER = 16 * 1024 * 1024
_TOLD = 4096
"""Bytes that are read of an answer other than 200."""
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class HttpStatusError(Exception):
    """An answer other than 200."""

    def __init__(self, code: int, pause: float | None = None, body: bytes = b"") -> None:
        super().__init__(code)
        self.code = code
        self.pause = pause
        """Seconds to wait before asking again, where the service said so."""
        self.body = body
        """The beginning of what it said."""


def checked_address(base: str) -> str:
    """The address; one that would show the secret to everybody on the way is refused."""
    try:
        parts = urlsplit(base)
        secret = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise UsageProblem("The address of the service is none.") from None
    if "@" in parts.netloc:
        raise UsageProblem("The address of the service holds a name or password, which does not belong there.")
    if secret and whole and base.isprintable() and " " not in base:
        return base.rstrip("/")
    raise UsageProblem(f"{base} is no https:// address, so the token is not sent there.")


def fetch(url: str, limit: int = BYTES, seconds: float = SECONDS) -> bytes:
    """The body at a URL, whole, within a size and a time; redirects are followed to http and https alone.

    It may be a stranger's: what it leads to on this machine or in its network is not asked, unless the URL names it.
    """
    import http.client
    from urllib.error import HTTPError
    from urllib.request import Request

    deadline = time.monotonic() + seconds
    try:
        request = Request(url, headers={"User-Agent": "unspool", "Accept-Encoding": "identity"})  # noqa: S310
        with _careful_opener(urlsplit(url).hostname or "").open(request, timeout=seconds) as answer:
            return _body(answer, url, deadline, limit)
    except HTTPError as error:
        raise FetchFailed(f"{url} answered {error.code} {error.reason}.") from None
    except (http.client.HTTPException, OSError, ValueError) as error:
        raise FetchFailed(f"{url} could not be fetched: {getattr(error, 'reason', error)}.") from None


def _careful_opener(named: str) -> "OpenerDirector":
    """Opens what a host leads to; knows a proxy where the environment names one, and no other kind of address."""
    import urllib.request as web
    from socket import create_connection

    class Careful(web.AbstractHTTPHandler):
        def do_open(self, http_class: Any, req: "Request", **given: Any) -> "HTTPResponse":
            host = urlsplit(req.full_url).hostname or ""
            by_proxy = urlsplit(f"//{req.host}").hostname != host  # which looks the name up, where it is one
            _check_target(host, host, named)

            def connect(place: tuple[str, int], *more: Any) -> Any:
                line = create_connection(place, *more)
                try:
                    _check_target(host, line.getpeername()[0], named)
                except FetchFailed:
                    line.close()
                    raise
                return line

            def connection(place: str, **settings: Any) -> Any:
                made = http_class(place, **settings)
                if not by_proxy:
                    made._create_connection = connect  # before TLS; the name is looked up once
                return made

            return super().do_open(connection, req, **given)

    class CarefulHttp(Careful, web.HTTPHandler):
        pass

    class CarefulHttps(Careful, web.HTTPSHandler):
        pass

    opener = web.OpenerDirector()
    for handler in (
        web.ProxyHandler, CarefulHttp, CarefulHttps, web.HTTPRedirectHandler, web.HTTPDefaultErrorHandler,
        web.HTTPErrorProcessor, web.UnknownHandler,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener


def _check_target(host: str, address: str, named: str) -> None:
    """FetchFailed where a host is, or has, an address of this machine or its network that nobody named.

    A name that was named may be of the network, as that of a server of one's own is, and not of this machine.
    """
    found, meant = _ip(address), _ip(named)
    if found is None or found.is_global or found == meant or (found.is_loopback and _is_local(named)):
        return
    if host == named and meant is None and found.is_private and not (found.is_loopback or found.is_link_local):
        return
    said = address if host == address else f"{host} leads to {address}, which"
    raise FetchFailed(f"{said} is an address of this machine or its network: name it yourself if you mean it.")


def _is_local(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")


def _ip(host: str) -> "IPv4Address | IPv6Address | None":
    from ipaddress import IPv6Address, ip_address

    try:
        found = ip_address("127.0.0.1" if _is_local(host) else host.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def get(url: str, headers: dict[str, str]) -> bytes:
    """The body at a checked address; Status where the answer is anything but 200."""
    from urllib.request import Request

    return _sent(Request(url, headers=headers), SECONDS, BYTES)  # noqa: S310  the scheme is checked


def post(url: str, headers: dict[str, str], body: bytes, seconds: float) -> bytes:
    """What a checked address answers to a body within these seconds; Status where it is anything but 200."""
    from urllib.request import Request

    return _sent(Request(url, body, headers, method="POST"), seconds, _ANSWER)  # noqa: S310  the scheme is checked


def _sent(request: "Request", seconds: float, most: int) -> bytes:
    from http.client import HTTPException
    from urllib.error import HTTPError

    deadline = time.monotonic() + seconds
    try:
        with _opener(request).open(request, timeout=seconds) as answer:
            if answer.status != 200:
                raise HttpStatusError(answer.status)
            return _body(answer, "The answer of the service", deadline, most)
    except HTTPError as error:
        with error:
            raise HttpStatusError(error.code, pause(error.headers.get("Retry-After", "")), _told(error)) from None
    except (HTTPException, OSError) as error:
        host = urlsplit(request.full_url).netloc
        raise FetchFailed(f"{host} could not be reached: {getattr(error, 'reason', error)}.") from None


def _opener(request: "Request") -> "OpenerDirector":
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class Straight(HTTPRedirectHandler):
        """Follows nowhere: the secret is for one host."""

        def redirect_request(self, *_: Any) -> None:
            return None

    # What is meant for this machine goes through no proxy, which would see the secret.
    here = urlsplit(request.full_url).hostname in _LOOPBACK
    return build_opener(Straight, ProxyHandler({}) if here else ProxyHandler())


def _body(answer: "HTTPResponse", name: str, deadline: float, most: int) -> bytes:
    """All of it; read piece by piece as it comes, so that a trickle does not outlast the deadline."""
    chunks, size = [], 0
    while chunk := answer.read1(1 << 20):
        size += len(chunk)
        if size > most:
            raise FetchFailed(f"{name} is larger than {most // (1024 * 1024)} MB.")
        if time.monotonic() > deadline:
            raise FetchFailed(f"{name} took too long.")
        chunks.append(chunk)
    if answer.length:
        raise FetchFailed(f"{name} broke off after {size:,} bytes.")
    return b"".join(chunks)


def _told(answer: Any) -> bytes:
    from http.client import HTTPException

    try:
        return bytes(answer.read(_TOLD))
    except (HTTPException, OSError):
        return b""


def pause(header: str) -> float | None:
    """The seconds that a Retry-After asks for, as a number or a date; None where it says nothing of use."""
    from email.utils import parsedate_to_datetime

    said = header.strip()
    if said.isascii() and said.replace(".", "", 1).isdigit():
        return float(said[:12])
    try:
        when = parsedate_to_datetime(said)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if when.tzinfo is None:
        return None
    return max(0.0, when.timestamp() - time.time())
