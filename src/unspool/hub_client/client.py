"""Requests to a hub: JSON and files out, JSON and streams back, tried again where that may help."""

import http.client
import random
import secrets
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from unspool.build_info import VERSION
from unspool.errors import Declined, FetchFailed, NotAllowed, NotFound, UnspoolError, UsageProblem
from unspool.hub_client.login import HubAddress, HubEntry

_CHUNK = 64 * 1024
_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer that are read into memory."""
_AGAIN = frozenset({429, 502, 503, 504})
_TRIES, _FIRST, _LONGEST = 6, 0.5, 30.0
"""How often it is tried, and seconds between: at first, and at most."""
_PATIENCE = 600.0
"""Seconds: a hub that wants one to come back later than this is not waited for."""
_WAIT, _WORK = 60.0, 600.0
"""Seconds for an answer: to a question, and to what makes work for the hub."""
SHORTEST_PASSWORD = 8
"""Characters of a password that a share is given from now on."""
_LOST = (ConnectionError, TimeoutError, http.client.HTTPException, OSError)


class HubAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By names in small letters."""
    data: bytes

    def json(self) -> Any:
        """What it says; FetchFailed where that is no JSON."""
        try:
            return msgspec.json.decode(self.data) if self.data else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise FetchFailed("The hub's answer is no JSON; is that the address of a hub?") from None


class UploadBody(NamedTuple):
    """What is sent: bytes, or a file that is read while it goes."""

    data: bytes | Path = b""
    kind: str = "application/json"

    @property
    def size(self) -> int:
        return self.data.stat().st_size if isinstance(self.data, Path) else len(self.data)

    def chunks(self) -> Iterator[bytes]:
        """Piece by piece, from the beginning each time."""
        if isinstance(self.data, bytes):
            for start in range(0, len(self.data), _CHUNK):
                yield self.data[start : start + _CHUNK]
            return
        with self.data.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk


class HubClient:
    """A hub, asked by one thread. Trouble of the network, and a hub that is busy, are waited out for a minute or so.

    A request that is tried again may have been done already: every one of a hub's is such that this does no harm.
    """

    def __init__(
        self,
        address: HubAddress,
        entry: HubEntry | None = None,
        *,
        rate: int = 0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`rate` is how many bytes a second are sent at most, 0 for as many as can be."""
        self._address, self._entry = address, entry or HubEntry("")
        self._rate, self._pause = rate, pause
        self._connection: http.client.HTTPConnection | None = None
        if self._entry.token and not address.private and not self._entry.insecure:
            raise NotAllowed(
                f"Your token is not sent to {address.url}: others could read it on the way. Use https, or "
                f"`unspool login --insecure {address.url}` where you know the network."
            )

    @property
    def url(self) -> str:
        return self._address.url

    def ask(self, method: str, path: str, data: Any = None) -> Any:
        """What the hub says to JSON, or to nothing; its errors as ours."""
        sent = None if data is None else UploadBody(msgspec.json.encode(data))
        return self.send(method, path, sent).json()

    def send(
        self, method: str, path: str, sent: UploadBody | None = None, headers: Mapping[str, str] | None = None
    ) -> HubAnswer:
        """What the hub answers to what is sent; its errors as ours."""
        waits = [min(_LONGEST, _FIRST * 2**tried) * random.uniform(0.5, 1.0) for tried in range(_TRIES - 1)]  # noqa: S311
        for wait in (*waits, None):
            try:
                answer = self._once(method, path, sent, headers or {})
            except ssl.SSLCertVerificationError as error:
                self.close()
                raise FetchFailed(f"{self.url} does not prove who it is: {error.verify_message}.") from None
            except _LOST as error:
                self.close()
                if wait is None:
                    reason = str(getattr(error, "strerror", None) or error) or type(error).__name__
                    raise FetchFailed(f"{self.url} cannot be reached: {reason.rstrip('.')}.") from None
                self._pause(wait)
                continue
            if answer.status < 300:
                return answer
            self.close()
            after = answer.headers.get("retry-after", "")
            seconds = float(after) if after.isdecimal() else wait
            if answer.status not in _AGAIN or wait is None or seconds is None or seconds > _PATIENCE:
                raise _refusal(answer, self.url)
            self._pause(min(seconds, _LONGEST * 2))
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Let go of the connection; the next request makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, method: str, path: str, sent: UploadBody | None, headers: Mapping[str, str]) -> HubAnswer:
        try:
            self._begin(method, path, sent, headers)
        except (BrokenPipeError, ConnectionResetError):  # it may have refused already, and said so
            if self._connection is None or self._connection.sock is None:
                raise
        connection = self._open()
        if connection.sock is not None:
            connection.sock.settimeout(_WAIT if method == "GET" else _WORK)
        response = connection.getresponse()
        answer = _read(response)
        if response.will_close:
            self.close()
        return answer

    def _begin(self, method: str, path: str, sent: UploadBody | None, headers: Mapping[str, str]) -> None:
        connection = self._open()
        if connection.sock is not None:
            connection.sock.settimeout(_WAIT)
        connection.putrequest(method, self._address.path + path, skip_accept_encoding=True)
        given = {"User-Agent": f"unspool/{VERSION}", "Accept": "application/json", **headers}
        if self._entry.token:
            given["Authorization"] = f"Bearer {self._entry.token}"
        if sent is not None:
            given |= {"Content-Type": sent.kind, "Content-Length": str(sent.size)}
        elif method != "GET":
            given["Content-Length"] = "0"
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders()
        for chunk in sent.chunks() if sent is not None else ():
            connection.send(chunk)
            if self._rate:
                self._pause(len(chunk) / self._rate)

    def _open(self) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = _connect(self._address)
        return self._connection


def _connect(address: HubAddress) -> http.client.HTTPConnection:
    """A connection with the system's trust, through the proxy that the environment names for secure ones."""
    if address.scheme == "http":
        return http.client.HTTPConnection(address.host, address.port, timeout=_WAIT)
    context = ssl.create_default_context()
    proxy = urllib.request.getproxies().get("https", "")
    if not proxy or urllib.request.proxy_bypass(address.host):
        return http.client.HTTPSConnection(address.host, address.port, timeout=_WAIT, context=context)
    there = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    made = http.client.HTTPSConnection(there.hostname or "", there.port or 80, timeout=_WAIT, context=context)
    made.set_tunnel(address.host, address.port)
    return made


def _read(response: http.client.HTTPResponse) -> HubAnswer:
    data = response.read(_ANSWER + 1)
    if len(data) > _ANSWER:
        raise FetchFailed("The hub's answer is larger than it should be.")
    return HubAnswer(response.status, {name.lower(): value for name, value in response.getheaders()}, data)


def _refusal(answer: HubAnswer, url: str) -> UnspoolError:
    try:
        data = msgspec.json.decode(answer.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        data = None
    text = data.get("reason") or data.get("error") if isinstance(data, dict) else None
    sentence = f"{url}: {text if isinstance(text, str) and text else f'answered {answer.status}.'}"
    if answer.status in (401, 403):
        return NotAllowed(sentence)
    if answer.status in (404, 410):
        return NotFound(sentence)
    broken = answer.status < 400 or (answer.status >= 500 and answer.status != 507)
    return FetchFailed(sentence) if broken else Declined(sentence)


_KIND = "application/gzip"


class UploadOptions(NamedTuple):
    """How something is to be shared; None: as it is, or as is usual."""

    title: str | None = None
    password: str | None = None
    """Empty for none."""
    expires: str | None = None
    """7d, 12h, a time, or never."""
    raw: bool | None = None
    listed: bool | None = None

    def given(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class UploadedShare(msgspec.Struct, frozen=True):
    address: str
    url: str
    title: str = ""
    state: str = "live"
    description: str = ""
    version: int = 1
    size: int = 0
    password: bool = False
    raw: bool = False
    listed: bool = False
    created: int = 0
    updated: int = 0
    expires: int | None = None


def upload_share(client: HubClient, bundle: Path, options: UploadOptions, update: str = "") -> UploadedShare:
    """Share a bundle, at a new address or in place of what an address shows. Trying again makes no second one."""
    given = options.given()
    password = given.pop("password", None)
    query = {name: value if isinstance(value, str) else str(int(value)) for name, value in given.items()}
    headers = {"Idempotency-Key": secrets.token_urlsafe(24)}
    if password is not None:
        headers["Share-Password"] = quote(password, safe="")
    path = f"/api/shares/{share_name(update)}" if update else "/api/shares"
    where = f"{path}?{urlencode(query)}" if query else path
    answer = client.send("PUT" if update else "POST", where, UploadBody(bundle, _KIND), headers)
    return _shared(answer.json())


def list_shares(client: HubClient) -> Iterator[UploadedShare]:
    where = "/api/shares"
    while True:
        page = client.ask("GET", where)
        if not isinstance(page, dict) or not isinstance(page.get("shares"), list):
            raise FetchFailed(f"{client.url} does not answer as a hub does.")
        yield from (_shared(one) for one in page["shares"])
        if not page.get("next"):
            return
        where = f"/api/shares?{urlencode({'before': str(page['next'])})}"


def change_share(client: HubClient, address: str, options: UploadOptions) -> UploadedShare:
    return _shared(client.ask("PATCH", f"/api/shares/{share_name(address)}", options.given()))


def delete_share(client: HubClient, address: str) -> None:
    client.ask("DELETE", f"/api/shares/{share_name(address)}")


def share_name(text: str) -> str:
    """The address of a share in what a person gave: by itself, or as the end of a link."""
    name = urlsplit(text).path.strip("/").rpartition("/")[2] if "/" in text else text
    if not name or not all(letter.isalnum() or letter in "-_" for letter in name) or not name.isascii():
        raise UsageProblem(f"“{text}” is no address of a share; one is the end of its link.")
    return name


def _shared(data: Any) -> UploadedShare:
    try:
        return msgspec.convert(data, UploadedShare)
    except msgspec.ValidationError:
        raise FetchFailed("The hub does not answer as one does.") from None
