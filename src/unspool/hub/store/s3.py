"""Contents in a bucket of an S3-compatible store, streamed to it part by part."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, urlsplit

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from unspool.errors import NotFound, UnspoolError, UsageProblem
from unspool.hub.errors import StoreFull, StoreUnavailable
from unspool.hub.store.blobs import CHUNK, Objects

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

_PART = 8 * 1024 * 1024
"""Bytes of a part: the store's own least is 5 MiB, and 10 000 parts its most."""
_AT_ONCE = 2
"""Parts on their route at a time."""
_SETTINGS = {"endpoint", "region"}
_NO_ROOM = re.compile(r"status code: 507 |<Code>\w*(?:StorageFull|QuotaExceeded)\w*</Code>")

_SILENCE = timedelta(seconds=8)
"""How long a store may say nothing: one that cannot be reached is told of within ten seconds."""
_JOINING = timedelta(seconds=120)
"""How long it may say nothing while it makes one object of many parts."""
_RETRY: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=6),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}


class Bucket(Objects):
    """An object store in a bucket: `s3://bucket/prefix?endpoint=http://host:port&region=…`.

    Who may is told by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or by the machine's own role. An endpoint without
    TLS is used only where the address says so itself. An upload that a crash cuts off leaves parts that nobody sees
    and that the bucket's own rule for incomplete uploads removes.
    """

    def __init__(self, address: str) -> None:
        self._store = _store(address, _SILENCE)
        self._patient = _store(address, _JOINING)

    def put(self, key: str, data: Iterable[bytes]) -> int:
        """Keep what comes: small objects in one request, others part by part. What breaks `data` off is raised as it
        is, whatever the store says to that."""
        size, broken = 0, list[OSError | UnspoolError]()

        def counted() -> Iterator[bytes]:
            nonlocal size
            try:
                for piece in data:
                    size += len(piece)
                    yield piece
            except (OSError, UnspoolError) as error:
                broken.append(error)
                raise

        first, pieces = bytearray(), counted()
        for piece in pieces:
            first += piece
            if len(first) > _PART:
                break
        try:
            with _as_hub_errors(key):
                if len(first) <= _PART:
                    obstore.put(self._store, key, bytes(first), use_multipart=False)
                else:
                    whole = chain([bytes(first)], pieces)
                    obstore.put(
                        self._patient, key, whole, use_multipart=True, chunk_size=_PART, max_concurrency=_AT_ONCE
                    )
        except (NotFound, StoreUnavailable) as error:
            if broken:
                raise broken[0] from None
            if isinstance(error, StoreUnavailable):
                raise
            # an upload that the store forgot while it was under way
            raise StoreUnavailable("The hub's object store did not take an object; try again.") from error
        return size

    def get(self, key: str) -> Iterator[bytes]:
        with _as_hub_errors(key):
            found = obstore.get(self._store, key)
            pieces = iter(found.stream(CHUNK))
        return _pieces(key, pieces)

    def get_part(self, key: str, start: int, size: int) -> bytes:
        try:
            with _as_hub_errors(key):
                return bytes(obstore.get_range(self._store, key, start=start, length=size))
        except StoreUnavailable as error:
            if "NotPartial" not in str(error.__cause__):
                raise
        # some stores give the whole where all of it is asked for, which is taken for a mistake
        return b"".join(self.get(key))[start : start + size]

    def size(self, key: str) -> int | None:
        try:
            with _as_hub_errors(key):
                return obstore.head(self._store, key)["size"]
        except NotFound:
            return None

    def delete(self, key: str) -> None:
        try:
            with _as_hub_errors(key):
                obstore.delete(self._store, key)
        except NotFound:
            return

    def keys(self, prefix: str) -> Iterator[str]:
        folder = prefix.rpartition("/")[0]
        with _as_hub_errors(prefix):
            found = [one["path"] for some in obstore.list(self._store, folder or None) for one in some]
        return iter(sorted(key for key in found if key.startswith(prefix)))

    def sweep(self) -> int:
        """Nothing: a bucket's own rule removes incomplete uploads."""
        return 0

    def well(self) -> bool:
        """Whether it answers now, and lets the hub in."""
        try:
            with _as_hub_errors(""):
                next(iter(obstore.list(self._store, chunk_size=1)), None)
        except (StoreUnavailable, StoreFull, NotFound):
            return False
        return True


def _store(address: str, silence: timedelta) -> S3Store:
    try:
        parts = urlsplit(address)
        settings = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise UsageProblem("This is no address of a bucket: s3://bucket/prefix?endpoint=…&region=… is one.") from None
    if not parts.netloc or "@" in parts.netloc or ":" in parts.netloc:
        raise UsageProblem("A bucket is given as s3://bucket/prefix; its keys come from AWS_… in the environment.")
    if unknown := sorted(settings.keys() - _SETTINGS):
        raise UsageProblem(f"A bucket's address can say endpoint and region, not {', '.join(unknown)}.")
    client: ClientConfig = {
        "allow_http": settings.get("endpoint", "").startswith("http://"),
        "connect_timeout": timedelta(seconds=2),
        "read_timeout": silence,
        "timeout": timedelta(days=1),  # an object may take its time while it comes
    }
    config = cast("S3Config", settings)
    prefix = parts.path.strip("/") or None
    try:
        return S3Store(parts.netloc, prefix=prefix, config=config, client_options=client, retry_config=_RETRY)
    except (BaseError, ValueError) as error:
        raise UsageProblem("The bucket's address cannot be used; its endpoint is http://… or https://….") from error


def _pieces(key: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces as they come, and StoreUnavailable where the store stops in between."""
    while True:
        with _as_hub_errors(key):
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


@contextmanager
def _as_hub_errors(key: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise StoreUnavailable("The hub's bucket does not exist.") from error
        raise NotFound(f"There is no object {key}.") from None
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise StoreUnavailable("The hub's object store does not let the hub in.") from error
    except BaseError as error:
        if _NO_ROOM.search(str(error)):
            raise StoreFull("The hub's object store has no room; what was kept before is safe.") from error
        raise StoreUnavailable("The hub's object store does not answer; try again.") from error
