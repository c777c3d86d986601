"""Rows of single logs as Arrow batches, for engines that bring their own scheduler: Spark's `mapInArrow`, Dask, ...

What only all sessions together tell is not in them: history that a session copied counts as its own. `lake write` with
shards settles that; this is for looking at logs where they lie.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa

from unspool.agents import FoundLog
from unspool.errors import NotFound, UnspoolError
from unspool.lake.parquet import GROUP_ROWS, arrow_schema, arrow_table
from unspool.lake.rows import Row, SessionTables, facts_of, session_row, unread_row
from unspool.lake.tables import BY_NAME, PROBLEMS, SESSIONS
from unspool.prices import Picodollars, PriceTable
from unspool.store.library.discover import single_log
from unspool.store.library.history import DividedLog
from unspool.store.library.read import read_counted, reading_failure


@cache
def table_schema(table: str) -> pa.Schema:
    """The columns of a table, as engines take them that know no dictionaries."""
    fields = [
        pa.field(one.name, pa.string()) if pa.types.is_dictionary(one.type) else one
        for one in arrow_schema(BY_NAME[table])
    ]
    return pa.schema(fields)


def log_batches(path: str, table: str, *, results: bool = True) -> Iterator[pa.RecordBatch]:
    """The rows of a session's log and its subagents' logs in a table. A log that cannot be read is a row of `problems`.

    Without `results`, what tools answered stays out.
    """
    found = single_log(Path(path))
    try:
        if found is None:
            raise NotFound(f"{path} is no session's log.")
        rows = list(_rows(found, table, results=results))
    except (UnspoolError, OSError) as error:
        told = unread_row(found.session_id if found is not None else "", path, reading_failure(path, error))
        rows = [told[1]] if table == PROBLEMS.name else []
    for start in range(0, len(rows), GROUP_ROWS):
        whole = arrow_table(BY_NAME[table], rows[start : start + GROUP_ROWS])
        yield from whole.cast(table_schema(table)).to_batches()


def _rows(found: FoundLog, table: str, *, results: bool) -> Iterator[Row]:
    session, counted = read_counted(found)
    divided, price = DividedLog(counted, counted.ledger), _price()
    if table == SESSIONS.name:
        yield session_row(divided, facts_of(session), price)
        return
    for name, row in SessionTables(session, divided, price, results=results).rows():
        if name == table:
            yield row


@cache
def _price() -> Picodollars:
    return PriceTable.load().picodollars
