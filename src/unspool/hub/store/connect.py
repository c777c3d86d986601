"""A hub's database and object store by address, brought to this version."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from unspool.errors import NotFound, UsageProblem
from unspool.hub.store.blobs import Blobs, FolderObjects, Objects
from unspool.hub.store.database import Database, Sqlite, get_setting
from unspool.hub.store.move_texts import Say, move_old_texts
from unspool.hub.store.schema import MARK, migrate, schema_version

DATABASE, FOLDER = "hub.db", "objects"


class Store(NamedTuple):
    db: Database
    objects: Objects
    blobs: Blobs


class StorePlace(NamedTuple):
    """Where a hub keeps things: a folder, or a database and an object store that already exist."""

    folder: Path
    database: str = ""
    """postgresql://…; empty for a file in the folder."""
    bucket: str = ""
    """s3://bucket/prefix?endpoint=…; empty for a folder in the folder."""


def _say_on_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def open_store(place: StorePlace, *, unfinished: bool = False, new: bool = True, say: Say = _say_on_stderr) -> Store:
    """A store, whose tables are made or brought to this version; the database and the objects are the caller's.

    What that takes long for is told to `say`.

    A copy that was begun and not finished is opened only for those who go on with it. Unless it may be `new`, NotFound
    where there is no hub.
    """
    if not new and not place.database and not (place.folder / DATABASE).exists():
        raise NotFound(f"There is no hub in {place.folder}.")
    objects: Objects = FolderObjects(place.folder / FOLDER) if not place.bucket else _open_bucket(place.bucket)
    db: Database = Sqlite(place.folder / DATABASE) if not place.database else _open_postgres(place.database)
    with ExitStack() as otherwise:
        otherwise.callback(db.close)
        if not new and schema_version(db) == 0:
            raise NotFound("There is no hub in this database.")
        migrate(db)
        if not unfinished and get_setting(db, MARK) is not None:
            raise UsageProblem("A move or restore to here was begun and not finished: run it again.")
        blobs = Blobs(db, objects)
        move_old_texts(db, blobs, objects, say)
        otherwise.pop_all()
    return Store(db, objects, blobs)


def _open_postgres(address: str) -> Database:
    if not address.startswith(("postgresql://", "postgres://")):
        raise UsageProblem("A hub's database is a file in its folder, or postgresql://….")
    with _extra():
        from unspool.hub.store.postgres import Postgres
    return Postgres(address)


def _open_bucket(address: str) -> Objects:
    if not address.startswith("s3://"):
        raise UsageProblem("A hub's objects lie in its folder, or in s3://bucket.")
    with _extra():
        from unspool.hub.store.s3 import Bucket
    return Bucket(address)


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise UsageProblem("A hub on servers needs more packages: pip install 'unspool[hub]'.") from error
