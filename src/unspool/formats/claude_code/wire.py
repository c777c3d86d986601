"""One HTTP request to a service that is given a secret: https only, no redirects, bounded in time and size."""

import time
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from unspool.errors import FetchFailed, UsageProblem

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

_SECONDS = 60
_BYTES = 512 * 1024 * 1024
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Status(Exception):
    """An answer other than 200."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def checked(base: str) -> str:
    """The address; one that would show the secret to everybody on the way is refused."""
    parts = urlsplit(base)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return base.rstrip("/")
    raise UsageProblem(f"{base} is no https:// address, so the token is not sent there.")


def get(url: str, headers: dict[str, str]) -> bytes:
    """The body at a checked address; Status where the answer is anything but 200."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    request = Request(url, headers=headers)  # noqa: S310  the scheme is checked
    try:
        with _opener().open(request, timeout=_SECONDS) as answer:
            return _body(answer, time.monotonic() + _SECONDS)
    except HTTPError as error:
        error.close()
        raise Status(error.code) from None
    except (URLError, TimeoutError, OSError) as error:
        host = urlsplit(url).netloc
        raise FetchFailed(f"{host} could not be reached: {getattr(error, 'reason', error)}.") from None


def _opener() -> "OpenerDirector":
    from urllib.request import HTTPRedirectHandler, build_opener

    class Straight(HTTPRedirectHandler):
        """Follows nowhere: the secret is for one host."""

        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(Straight)


def _body(answer: IO[bytes], deadline: float) -> bytes:
    chunks, size = [], 0
    while chunk := answer.read(1 << 20):
        size += len(chunk)
        if size > _BYTES:
            raise FetchFailed(f"The service answered more than {_BYTES // (1024 * 1024)} MB.")
        if time.monotonic() > deadline:
            raise FetchFailed("The service took too long to answer.")
        chunks.append(chunk)
    return b"".join(chunks)
