"""Where a lake lies: a folder, or a bucket of an object store that speaks S3. Paths in it have forward slashes."""

import errno
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

from unspool.errors import AlreadyRunning, NoRoom, NotFound, Unreadable, UsageProblem
from unspool.files import locked, plain_files, settle, write_atomically

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

OWN = "_unspool"
"""The folder of what is no table: engines leave out names that begin so."""
LOCK = f"{OWN}/lock"
_PAUSE = 0.1
_STALE = 900.0
"""Seconds after which a writer that was not heard of any more has ended."""
_S3 = "s3://"
_THREADS = 16


class StoredFile(NamedTuple):
    path: str
    size: int
    modified: float = 0.0
    stamp: str = ""
    """Another one whenever its content is; empty where only size and time tell."""


class LakeStorage(Protocol):
    """Files by their paths. What is written is seen whole or not at all."""

    url: str

    def files(self, below: str = "") -> list[StoredFile]:
        """Every file below a folder, in order."""

    def read(self, path: str) -> bytes:
        """What a file holds; NotFound where there is none."""

    def source(self, path: str) -> Any:
        """A file as pyarrow takes it."""

    def put(self, path: str, data: bytes) -> None:
        """Write a small file, in place of what was there."""

    def create(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """A new file, to be written while the `with` lasts; gone where that ends with an exception."""

    def move(self, path: str, to: str) -> None:
        """Give a file another name, in place of what was there; from then on it outlives the machine's end."""

    def delete(self, path: str) -> None:
        """Remove a file, if it is there."""

    def sole_writer(self, patience: float) -> "AbstractContextManager[WriterLock]":
        """Be the only writer while the `with` lasts; AlreadyRunning where another is for longer than the patience."""


class WriterLock:
    """Being the only writer; the system itself sees to that, or takes it back when the process ends."""

    def keep(self) -> None:
        """Tell others now and then that one is still there."""

    def check(self) -> None:
        """AlreadyRunning where another took one for dead; to be asked before anything is made final."""


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def in_threads(do: Callable[[_Given], _Made], given: Iterable[_Given]) -> Iterator[_Made]:
    """What a function makes of each, in order: for what waits for a storage, and has no other work."""
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(do, given)


def open_storage(place: str | Path) -> LakeStorage:
    """The storage at a folder or an address: s3://bucket/folder, with ?endpoint=http://host:port for another store."""
    text = str(place)
    if text.startswith(_S3):
        return ObjectStorage(text)
    if "://" in text:
        raise UsageProblem(f"A lake is a folder or s3://bucket/folder, and not {text}.")
    return FolderStorage(Path(text).expanduser().absolute())


class FolderStorage:
    """A lake in a folder; whatever is written is private to the user."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, str(folder)

    def files(self, below: str = "") -> list[StoredFile]:
        found = plain_files(self.folder / below)
        return sorted(StoredFile(path.relative_to(self.folder).as_posix(), path.stat().st_size) for path in found)

    def read(self, path: str) -> bytes:
        try:
            return (self.folder / path).read_bytes()
        except FileNotFoundError:
            raise NotFound(f"The lake in {self.folder} has no {path}.") from None

    def source(self, path: str) -> Any:
        return str(self.folder / path)

    def put(self, path: str, data: bytes) -> None:
        with self._told():
            write_atomically(self.folder / path, [data])

    @contextmanager
    def create(self, path: str) -> Iterator[IO[bytes]]:
        whole = self.folder / path
        part = whole.with_name(f".{whole.name}.part")
        with self._told():
            whole.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with part.open("wb") as sink:
                    yield sink
                part.replace(whole)
            finally:
                part.unlink(missing_ok=True)

    def move(self, path: str, to: str) -> None:
        with self._told():
            (self.folder / to).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self.folder / path).open("rb") as file:
                os.fsync(file.fileno())
            (self.folder / path).replace(self.folder / to)
            settle((self.folder / to).parent)

    def delete(self, path: str) -> None:
        whole = self.folder / path
        whole.unlink(missing_ok=True)
        for folder in whole.relative_to(self.folder).parents:
            with suppress(OSError):  # it holds something else
                if folder.name:
                    (self.folder / folder).rmdir()

    @contextmanager
    def sole_writer(self, patience: float) -> Iterator[WriterLock]:
        with self._told():
            (self.folder / OWN).mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            deadline = time.monotonic() + patience
            while not _ours(lock):
                if time.monotonic() > deadline:
                    raise AlreadyRunning(f"Another process writes the lake in {self.folder}.")
                time.sleep(_PAUSE)
            yield WriterLock()
        finally:
            os.close(lock)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What keeps a file from being written, as a sentence."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoRoom(f"No room is left in {self.folder}; the lake is as it was before.") from None
            if isinstance(error, FileNotFoundError | ValueError):
                raise
            raise Unreadable(f"Cannot write in {self.folder}: {error.strerror or error}.") from None


def _ours(lock: int) -> bool:
    """Whether a lock is ours now; on a file system without locks nobody waits."""
    try:
        return locked(lock)
    except OSError:
        return True


class NotedWriter(msgspec.Struct, frozen=True):
    """Who writes to a bucket, and when it was last heard of."""

    name: str
    seen: float


class ObjectStorage:
    """A lake in a bucket. Keys, region and endpoint are those of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION
    and AWS_ENDPOINT_URL, where the address does not tell; an endpoint without TLS is used where it says http.

    What is written goes through obstore: pyarrow's own client leaves empty objects in the place of folders.
    """

    def __init__(self, url: str) -> None:
        from obstore.store import S3Store

        address = urlsplit(url)
        given = dict(parse_qsl(address.query))
        if not address.netloc or given.keys() - {"endpoint", "region"}:
            raise UsageProblem(f"{url} is no address such as s3://bucket/folder?endpoint=http://host:port.")
        self.url, self._bucket, self._prefix = url, address.netloc, address.path.strip("/")
        self._endpoint = given.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL", "")
        self._region = (
            given.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        )
        config: Any = {"region": self._region, **({"endpoint": self._endpoint} if self._endpoint else {})}
        client: Any = {"allow_http": self._endpoint.startswith("http://"), "connect_timeout": timedelta(seconds=5)}
        retry: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        prefix = self._prefix or None
        try:
            self._store = S3Store(self._bucket, prefix=prefix, config=config, client_options=client, retry_config=retry)
        except (obstore_error(), ValueError) as error:
            raise UsageProblem(f"The address {url} cannot be used: {error}.") from None

    @cached_property
    def system(self) -> "FileSystem":
        """The bucket as pyarrow reads it."""
        from pyarrow.fs import S3FileSystem

        address = urlsplit(self._endpoint)
        there = {"endpoint_override": address.netloc, "scheme": address.scheme} if self._endpoint else {}
        return S3FileSystem(region=self._region, **there)

    def path(self, path: str) -> str:
        """A file as that file system calls it."""
        return "/".join(filter(None, (self._bucket, self._prefix, path)))

    def files(self, below: str = "") -> list[StoredFile]:
        import obstore

        with self._told():
            found = [one for some in obstore.list(self._store, below or None) for one in some]
        made = ((one["path"], one["size"], one["last_modified"].timestamp(), one["e_tag"] or "") for one in found)
        return sorted(StoredFile(*one) for one in made)

    def read(self, path: str) -> bytes:
        import obstore

        with self._told(path):
            return bytes(obstore.get(self._store, path).bytes())

    def beginning(self, path: str, most: int) -> bytes:
        """The first bytes of a file."""
        with self._told(path), self.system.open_input_file(self.path(path)) as file:
            return bytes(file.read(most))

    def fetch(self, path: str, target: Path) -> None:
        """Copy a file to one of this machine."""
        import obstore

        with self._told(path), target.open("wb") as file:
            for chunk in obstore.get(self._store, path).stream():
                file.write(chunk)

    def source(self, path: str) -> Any:
        with self._told(path):
            return self.system.open_input_file(self.path(path))

    def put(self, path: str, data: bytes) -> None:
        import obstore

        with self._told():
            obstore.put(self._store, path, data)

    @contextmanager
    def create(self, path: str) -> Iterator[IO[bytes]]:
        import obstore

        with self._told():
            sink: Any = obstore.open_writer(self._store, path)
            yield sink  # what is not closed is never seen
            sink.close()

    def move(self, path: str, to: str) -> None:
        import obstore

        with self._told(path):
            obstore.copy(self._store, path, to)
        self.delete(path)

    def delete(self, path: str) -> None:
        import obstore

        with self._told(), suppress(FileNotFoundError):
            obstore.delete(self._store, path)

    @contextmanager
    def sole_writer(self, patience: float) -> Iterator[WriterLock]:
        """A note says who writes. Where the store lets two write it at once, the one whose note is gone finds out
        before anything of its own is made final."""
        name, deadline = secrets.token_hex(8), time.monotonic() + patience
        while not self._took(name):
            if time.monotonic() > deadline:
                raise AlreadyRunning(f"Another process writes the lake in {self.url}.")
            time.sleep(_PAUSE * 10)
        try:
            yield _WriterNote(self, name)
        finally:
            if (holder := self.holder()) is not None and holder.name == name:
                self.delete(LOCK)

    def _took(self, name: str) -> bool:
        """Leave a note that we write, unless there is one of somebody who was heard of lately."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        holder = self.holder()
        if holder is not None and time.time() - holder.seen < _STALE:
            return False
        mode: Any = "create" if holder is None else "overwrite"
        try:
            with self._told():
                obstore.put(self._store, LOCK, msgspec.json.encode(NotedWriter(name, time.time())), mode=mode)
        except AlreadyExistsError:
            return False
        return True

    def holder(self) -> NotedWriter | None:
        """Who left a note, if there is one."""
        try:
            return msgspec.json.decode(self.read(LOCK), type=NotedWriter)
        except (NotFound, msgspec.DecodeError):
            return None

    @contextmanager
    def _told(self, path: str = "") -> Iterator[None]:
        from obstore.exceptions import AlreadyExistsError

        try:
            yield
        except AlreadyExistsError:
            raise
        except (obstore_error(), OSError) as error:
            said = str(error).splitlines()[0]
            if "NoSuchBucket" in str(error):
                raise NotFound(f"There is no bucket {self._bucket}.") from None
            if isinstance(error, FileNotFoundError):
                raise NotFound(f"The lake in {self.url} has no {path or 'such file'}.") from None
            raise Unreadable(f"The object store of {self.url} does not answer as it should: {said}.") from None


class _WriterNote(WriterLock):
    def __init__(self, storage: ObjectStorage, name: str) -> None:
        self._storage, self._name, self._told = storage, name, time.monotonic()

    def keep(self) -> None:
        if time.monotonic() - self._told > _STALE / 10:
            self.check()
            self._storage.put(LOCK, msgspec.json.encode(NotedWriter(self._name, time.time())))
            self._told = time.monotonic()

    def check(self) -> None:
        holder = self._storage.holder()
        if holder is None or holder.name != self._name:
            raise AlreadyRunning(f"Another process began to write the lake in {self._storage.url}.")


def obstore_error() -> type[Exception]:
    """What obstore raises; it comes with an extra."""
    from obstore.exceptions import BaseError

    return BaseError
