"""Rows as Parquet files: the same rows give the same bytes. Files are joined, and sessions taken out of them, without
reading a log."""

import io
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unspool.lake.manifest import LakePart
from unspool.lake.rows import Row
from unspool.lake.storage import FolderStorage, LakeStorage, in_threads
from unspool.lake.tables import ColumnType, LakeTable
from unspool.prices import MOST

GROUP_ROWS = 64 * 1024
"""Rows that are written, and later read, together."""
_GROUP_BYTES = 32 * 1024 * 1024
"""Characters of the rows of one table that wait for being written."""
_WAITING_BYTES = 128 * 1024 * 1024
"""The same of all tables together."""
_LEVEL = 3
_TYPES: dict[ColumnType, pa.DataType] = {
    "text": pa.string(),
    "word": pa.dictionary(pa.int32(), pa.string()),
    "number": pa.int64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "dollars": pa.decimal128(20, 12),
}


@cache
def arrow_schema(table: LakeTable) -> pa.Schema:
    fields = [pa.field(column.name, _TYPES[column.type]) for column in table.columns]
    return pa.schema(fields, metadata={"unspool.table": table.name, "unspool.version": str(table.version)})


def arrow_table(table: LakeTable, rows: Sequence[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(table.columns)
    arrays = [_array(column.type, values) for column, values in zip(table.columns, columns, strict=True)]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(table))


def _array(kind: ColumnType, values: Sequence[Any]) -> pa.Array:
    if kind == "dollars":
        return _dollars(values)
    if kind in ("text", "word"):
        made = _texts([value or None for value in values])
        return made.dictionary_encode() if kind == "word" else made
    try:
        return pa.array(values, _TYPES[kind])
    except (OverflowError, pa.ArrowInvalid):  # figures of a damaged log that no column holds
        return pa.array([None if one is None else max(-MOST, min(MOST, one)) for one in values], _TYPES[kind])


def _texts(values: list[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:  # halves of characters, which JSON may hold
        whole = [None if one is None else one.encode(errors="replace").decode() for one in values]
        return pa.array(whole, pa.string())


def _dollars(values: Sequence[int | None]) -> pa.Array:
    """Picodollars as decimals: 16 bytes each, of which a price fills the lower eight."""
    known = pa.array([one is not None for one in values], pa.bool_())
    halves = array("q", (half for one in values for half in (one or 0, 0)))
    return pa.Array.from_buffers(_TYPES["dollars"], len(values), [known.buffers()[1], pa.py_buffer(halves.tobytes())])


class FinishedFile(NamedTuple):
    """A file that was written whole."""

    path: str
    rows: int
    size: int
    digest: str


class _Digested(io.RawIOBase):
    """Counts and digests what is written through it."""

    def __init__(self, sink: IO[bytes]) -> None:
        self._sink: IO[bytes] | None = sink
        self.digest = sha256()
        self.size = 0

    def abandon(self) -> None:
        """Let what is still written go nowhere."""
        self._sink = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self.size += len(data)
        if self._sink is not None:
            self._sink.write(data)
        return len(data)


class TableFile:
    """Writes one file of a table, some rows at a time. Use it in a `with`: what is not finished by its end is gone."""

    def __init__(self, storage: LakeStorage, path: str, schema: pa.Schema) -> None:
        self._storage, self._path, self._schema = storage, path, schema
        self._open = ExitStack()
        self._rows = 0

    def __enter__(self) -> "TableFile":
        words = [field.name for field in self._schema if not pa.types.is_string(field.type)]
        with ExitStack() as opened:
            self._sink = _Digested(opened.enter_context(self._storage.create(self._path)))
            self._writer = pq.ParquetWriter(
                self._sink, self._schema, compression="zstd", compression_level=_LEVEL, use_dictionary=words
            )
            self._open = opened.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: Any) -> None:
        self._sink.abandon()
        with suppress(OSError, pa.ArrowException):
            self._writer.close()  # it would do so by itself one day, and complain
        self._open.__exit__(kind or GeneratorExit, problem or GeneratorExit(), trace)

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows, row_group_size=GROUP_ROWS)
        self._rows += len(rows)

    def finish(self) -> FinishedFile:
        self._writer.close()
        self._open.close()
        return FinishedFile(self._path, self._rows, self._sink.size, self._sink.digest.hexdigest())


@cache
def _texts_of(table: LakeTable) -> Callable[[Row], tuple[str, ...]]:
    """What gives the texts of a row, which are nearly all of its size; two at least, so that they are a tuple."""
    places = [place for place, column in enumerate(table.columns) if column.type == "text"]
    words = [place for place, column in enumerate(table.columns) if column.type == "word"]
    return itemgetter(*(*places, *words[:2]))


_FileKey = tuple[LakeTable, str, str]
"""Table, agent and month."""


class RowFiles:
    """Files of rows, one for each table, agent and month. Use it in a `with`: what is not finished by its end is gone.
    What waits to be written is bounded, whatever comes."""

    def __init__(self, storage: LakeStorage, folder: str) -> None:
        self._storage, self._folder = storage, folder
        self._waiting: dict[_FileKey, list[Row]] = {}
        self._sizes: dict[_FileKey, int] = {}
        self._total = 0
        self._files: dict[_FileKey, TableFile] = {}
        self._open = ExitStack()

    def __enter__(self) -> "RowFiles":
        return self

    def __exit__(self, *problem: Any) -> None:
        self._open.__exit__(*problem)

    def add(self, table: LakeTable, partition: tuple[str, str], row: Row) -> None:
        """Take in a row of an agent and month."""
        key = table, *partition
        waiting = self._waiting.setdefault(key, [])
        waiting.append(row)
        size = sum(map(len, _texts_of(table)(row)))
        self._sizes[key] = self._sizes.get(key, 0) + size
        self._total += size
        if len(waiting) >= GROUP_ROWS or self._sizes[key] >= _GROUP_BYTES:
            self._write(key)
        elif self._total >= _WAITING_BYTES:
            self._write(max(self._sizes, key=lambda one: self._sizes[one]))

    def _write(self, key: _FileKey) -> None:
        table, agent, month = key
        if key not in self._files:
            path = f"{self._folder}/{table.name}-{agent}-{month}.parquet"
            self._files[key] = self._open.enter_context(TableFile(self._storage, path, arrow_schema(table)))
        self._files[key].write(arrow_table(table, self._waiting.pop(key)))
        self._total -= self._sizes.pop(key)

    def finish(self) -> list[LakePart]:
        """Every file, where it was written to. Those that fit in memory are opened one after the other."""
        parts = []
        for key in [*self._files, *(key for key in self._waiting if key not in self._files)]:
            if key in self._waiting:
                self._write(key)
            table, agent, month = key
            parts.append(LakePart(table.name, agent, month, *self._files[key].finish()))
        return sorted(parts)


def sessions_in(storage: LakeStorage, path: str) -> set[str]:
    """The sessions that a file has rows of."""
    column = pq.ParquetFile(storage.source(path)).read(columns=["session"], use_threads=False)["session"]
    return {str(one) for one in pc.unique(column).to_pylist()}


def read_parts(storage: LakeStorage, paths: Iterable[str], schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """Some columns of the rows of files together."""

    def read(path: str) -> pa.Table:
        return pq.ParquetFile(storage.source(path)).read(columns=list(columns), use_threads=False)

    found = list(in_threads(read, paths))
    wanted = pa.schema([schema.field(name) for name in columns])
    return pa.concat_tables([wanted.empty_table(), *(one.cast(wanted) for one in found)]).unify_dictionaries()


def join_files(
    storage: LakeStorage, files: Iterable[tuple[str, Collection[str]]], target: str, schema: pa.Schema
) -> FinishedFile | None:
    """One file of the rows of several, each without those of some sessions; None where no row is left."""
    with ExitStack() as opened:
        file: TableFile | None = None
        for rows in _grouped(_kept_rows(storage, files)):
            file = file or opened.enter_context(TableFile(storage, target, schema))
            file.write(rows.cast(schema))
        return file.finish() if file is not None else None


def _kept_rows(storage: LakeStorage, files: Iterable[tuple[str, Collection[str]]]) -> Iterator[pa.Table]:
    for path, gone in files:
        file, leave = pq.ParquetFile(storage.source(path)), pa.array(sorted(gone), pa.string())
        for number in range(file.num_row_groups):
            rows = file.read_row_group(number, use_threads=False)
            if gone:
                rows = rows.filter(pc.invert(pc.is_in(rows["session"].cast(pa.string()), value_set=leave)))
            if len(rows):
                yield rows


def _grouped(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in pieces of a good size."""
    waiting: list[pa.Table] = []
    for rows in tables:
        waiting.append(rows)
        if sum(map(len, waiting)) >= GROUP_ROWS or sum(one.nbytes for one in waiting) >= _GROUP_BYTES:
            yield pa.concat_tables(waiting).unify_dictionaries()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()


def save_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, file: Path) -> None:
    """Write rows to a file of their own, whole or not at all."""
    folder = FolderStorage(file.absolute().parent)
    with folder.create(file.name) as sink, pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
