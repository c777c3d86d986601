"""Asks a lake in SQL. DuckDB reads it and nothing else: a question can neither write nor look at other files."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa

from unspool.errors import NotFound, Unreadable, UsageProblem
from unspool.files import scratch_folder
from unspool.lake.manifest import TABLE_VERSIONS, LakeManifest, load_manifest
from unspool.lake.parquet import arrow_schema
from unspool.lake.storage import FolderStorage, LakeStorage, ObjectStorage
from unspool.lake.tables import PARTITIONS, TABLES, LakeTable
from unspool.lake.views import VIEWS

_ROWS = 10_000
"""Rows that are handed over at a time."""
_CLOSED = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",  # the variables of this program are no tables
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class AskedLake:
    """A lake that can be asked, as it stood when this was made. Use it in a `with`."""

    def __init__(self, storage: LakeStorage, zone: tzinfo | None = None) -> None:
        manifest = load_manifest(storage)
        if manifest is None:
            raise NotFound(f"There is no lake in {storage.url}; `unspool lake write` makes one.")
        if manifest.tables != TABLE_VERSIONS:
            raise Unreadable(
                f"The lake in {storage.url} has tables of another version; `unspool lake write` renews it."
            )
        self.manifest = manifest
        with ExitStack() as opened:
            self._connection = opened.enter_context(duckdb.connect(":memory:"))
            self._prepare(storage, manifest, zone, opened.enter_context(scratch_folder()))
            self._open = opened.pop_all()

    def __enter__(self) -> "AskedLake":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def ask(self, sql: str) -> "LakeAnswer":
        """The answer to a SELECT. UsageProblem where it is none, or wrong."""
        self._check(sql)
        with _told():
            return LakeAnswer(self._connection.sql(sql).to_arrow_reader(_ROWS))

    def _check(self, sql: str) -> None:
        with _told():
            statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise UsageProblem("A lake is only read: ask one SELECT (or SHOW TABLES, DESCRIBE, SUMMARIZE).")

    def _prepare(self, storage: LakeStorage, manifest: LakeManifest, zone: tzinfo | None, scratch: Path) -> None:
        """Make the tables and views, and close everything else; what does not fit in memory goes to `scratch`."""
        run = self._connection.execute
        if zone is not None:
            if zone is not UTC and not isinstance(zone, ZoneInfo):
                raise UsageProblem("Days of a lake begin in a zone that has a name, such as Europe/Berlin.")
            run(f"SET TimeZone = {_quoted(str(zone))}")
        for table in TABLES:
            paths = [part.path for part in manifest.of(table.name)]
            if not paths:
                run(f"CREATE VIEW {table.name} AS {_empty(table)}")
            elif isinstance(storage, FolderStorage):
                listed = ", ".join(_quoted(storage.source(path)) for path in paths)
                found = f"SELECT * FROM read_parquet([{listed}], {_OPTIONS})"  # noqa: S608  quoted
                run(f"CREATE VIEW {table.name} AS {found}")
            elif isinstance(storage, ObjectStorage):
                self._connection.register(table.name, _dataset(storage, table, paths))
        for view in VIEWS:
            run(f"CREATE VIEW {view.name} AS {view.sql}")
        run(f"SET temp_directory = {_quoted(str(scratch))}")
        if isinstance(storage, FolderStorage):
            allowed = ", ".join(_quoted(storage.source(part.path)) for part in manifest.parts)
            run(f"SET allowed_paths = [{allowed}]")
        for setting in _CLOSED:
            run(setting)


class LakeAnswer:
    """Rows that come as they are found; the lake must stay open for that."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self.schema: pa.Schema = reader.schema

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Some rows at a time."""
        with _told():
            yield from self._reader

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


_OPTIONS = "hive_partitioning = true, hive_types = {agent: VARCHAR, month: VARCHAR}, union_by_name = true"
_SQL_TYPES = {
    "text": "VARCHAR", "word": "VARCHAR", "number": "BIGINT", "flag": "BOOLEAN", "time": "TIMESTAMPTZ",
    "dollars": "DECIMAL(20, 12)",
}  # fmt: skip


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _empty(table: LakeTable) -> str:
    columns = ", ".join(f"NULL::{_SQL_TYPES[column.type]} AS {column.name}" for column in (*table.columns, *PARTITIONS))
    return f"SELECT {columns} WHERE false"


def _dataset(storage: ObjectStorage, table: LakeTable, paths: Sequence[str]) -> Any:
    """Files of a bucket as one table: DuckDB itself reaches no bucket without an extension that it would download."""
    import pyarrow.dataset as ds

    folders = pa.schema([pa.field(column.name, pa.string()) for column in PARTITIONS])
    plain = [pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type)
             for one in arrow_schema(table)]  # fmt: skip
    return ds.dataset(
        [storage.path(path) for path in paths],
        schema=pa.schema([*plain, *folders]),
        format="parquet",
        filesystem=storage.system,
        partitioning=ds.partitioning(folders, flavor="hive"),
        partition_base_dir=storage.path(table.name),
    )


@contextmanager
def _told() -> Iterator[None]:
    """What is wrong with a question, in the database's words."""
    try:
        yield
    except duckdb.IOException as error:
        raise Unreadable(f"The lake cannot be read: {error}") from None
    except (duckdb.Error, OSError, pa.ArrowInvalid) as error:  # the last two once rows are under way
        raise UsageProblem(str(error).strip()) from None
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None  # which the database hears first
