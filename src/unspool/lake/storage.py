"""Where a lake lies: a folder, or a bucket of an object store that speaks S3. Paths in it have forward slashes."""

import errno
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol
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
_SETTINGS = {"endpoint", "region"}


class StoredFile(NamedTuple):
    path: str
    size: int


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

    def sole_writer(self, patience: float) -> "AbstractContextManager[Callable[[], None]]":
        """Be the only writer while the `with` lasts; AlreadyRunning where another is for longer than the patience.

        Call what it gives now and then, and before anything is made final: it tells others that one is still there,
        and raises AlreadyRunning where another took one for dead.
        """


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
        made = (StoredFile(path.relative_to(self.folder).as_posix(), path.stat().st_size) for path in found)
        return sorted(made)

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
    def sole_writer(self, patience: float) -> Iterator[Callable[[], None]]:
        with self._told():
            (self.folder / OWN).mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            deadline = time.monotonic() + patience
            while not _ours(lock):
                if time.monotonic() > deadline:
                    raise AlreadyRunning(f"Another process writes the lake in {self.folder}.")
                time.sleep(_PAUSE)
            yield lambda: None
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


class _Holder(msgspec.Struct, frozen=True):
    """Who writes to a bucket, and when it was last heard of."""

    name: str
    seen: float


class ObjectStorage:
    """A lake in a bucket. Keys, region and endpoint are those of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION
    and AWS_ENDPOINT_URL, where the address does not tell; an endpoint without TLS is used where it says http."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        given = dict(parse_qsl(address.query))
        if not address.netloc or given.keys() - _SETTINGS:
            raise UsageProblem(f"{url} is no address such as s3://bucket/folder?endpoint=http://host:port.")
        self.url = url
        self._base = "/".join(filter(None, (address.netloc, address.path.strip("/"))))
        self.system = _bucket_system(given)

    def path(self, path: str) -> str:
        """A file as the file system of pyarrow calls it."""
        return f"{self._base}/{path}" if path else self._base

    def files(self, below: str = "") -> list[StoredFile]:
        from pyarrow.fs import FileSelector, FileType

        with self._told():
            found = self.system.get_file_info(FileSelector(self.path(below), allow_not_found=True, recursive=True))
        return sorted(
            StoredFile(one.path.removeprefix(f"{self._base}/"), one.size) for one in found if one.type == FileType.File
        )

    def read(self, path: str) -> bytes:
        with self._told(path), self.system.open_input_stream(self.path(path)) as stream:
            return bytes(stream.read())

    def source(self, path: str) -> Any:
        with self._told(path):
            return self.system.open_input_file(self.path(path))

    def put(self, path: str, data: bytes) -> None:
        with self.create(path) as sink:
            sink.write(data)

    @contextmanager
    def create(self, path: str) -> Iterator[IO[bytes]]:
        with self._told():
            sink = self.system.open_output_stream(self.path(path))
            try:
                yield sink
            except BaseException:
                with suppress(OSError):
                    sink.close()  # there is no way to take back what was sent
                    self.system.delete_file(self.path(path))
                raise
            sink.close()

    def move(self, path: str, to: str) -> None:
        with self._told(path):
            self.system.move(self.path(path), self.path(to))

    def delete(self, path: str) -> None:
        with self._told(), suppress(FileNotFoundError):
            self.system.delete_file(self.path(path))

    @contextmanager
    def sole_writer(self, patience: float) -> Iterator[Callable[[], None]]:
        """The store has no locks: a note says who writes, and one that was overwritten is found before it matters."""
        name, deadline = secrets.token_hex(8), time.monotonic() + patience
        while (holder := self._holder()) is not None and time.time() - holder.seen < _STALE:
            if time.monotonic() > deadline:
                raise AlreadyRunning(f"Another process writes the lake in {self.url}.")
            time.sleep(_PAUSE * 10)
        told = 0.0

        def tell() -> None:
            nonlocal told
            holder = self._holder() if told else None
            if told and (holder is None or holder.name != name):
                raise AlreadyRunning(f"Another process began to write the lake in {self.url}.")
            self.put(LOCK, msgspec.json.encode(_Holder(name, time.time())))
            told = time.monotonic()

        tell()
        try:
            yield tell
        finally:
            holder = self._holder()
            if holder is not None and holder.name == name:
                self.delete(LOCK)

    def _holder(self) -> _Holder | None:
        try:
            return msgspec.json.decode(self.read(LOCK), type=_Holder)
        except (NotFound, msgspec.DecodeError):
            return None

    @contextmanager
    def _told(self, path: str = "") -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise NotFound(f"The lake in {self.url} has no {path or 'such bucket'}.") from None
        except OSError as error:
            raise Unreadable(f"The object store of {self.url} does not answer as it should: {error}.") from None


def _bucket_system(given: dict[str, str]) -> "FileSystem":
    from pyarrow.fs import S3FileSystem

    environment = os.environ
    endpoint = given.get("endpoint") or environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    region = given.get("region") or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    wanted: dict[str, Any] = {"region": region} if region else {}
    if endpoint:
        address = urlsplit(endpoint)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise UsageProblem(f"{endpoint} is no address of an object store, such as https://host:port.")
        wanted |= {"endpoint_override": address.netloc, "scheme": address.scheme, "region": region or "us-east-1"}
    return S3FileSystem(**wanted)
