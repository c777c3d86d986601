"""Rows of single logs, as an engine with its own scheduler asks for them."""

from pathlib import Path

import pyarrow as pa
import pytest

from tests.lake.lakes import contents, written
from tests.lake.test_write import session
from unspool.lake.batches import log_batches, table_schema
from unspool.lake.tables import TABLES


@pytest.mark.parametrize("table", [one.name for one in TABLES if one.name != "todos"])
def test_the_batches_of_all_logs_are_the_rows_of_a_lake(table: str, tmp_path: Path) -> None:
    for seed in ("a", "b"):
        session(seed).write(tmp_path / "logs")
    written(tmp_path / "lake", tmp_path / "logs")
    paths = sorted((tmp_path / "logs").rglob("*.jsonl"))
    found = pa.Table.from_batches([one for path in paths for one in log_batches(str(path), table)], table_schema(table))
    rows = [tuple(row.values()) for row in found.to_pylist()]
    lake = contents(tmp_path / "lake", [table])[table]
    assert sorted(map(repr, rows)) == sorted(repr(row[: len(found.schema)]) for row in lake)


def test_a_log_that_cannot_be_read_is_a_row_of_problems_and_nothing_else(tmp_path: Path) -> None:
    bad = tmp_path / "logs" / session("a").path
    session("a").write(tmp_path / "logs")
    bad.write_bytes(b"\x1f\x8b\x08 no such packed log")
    assert [one.num_rows for one in log_batches(str(bad), "problems")] == [1]
    assert list(log_batches(str(bad), "calls")) == []
    assert [one.num_rows for one in log_batches(str(tmp_path / "nothing.jsonl"), "problems")] == [1]
