"""Other readers see the same lake: equal types, rows and sums."""

import re
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from tests.lake.lakes import asked, globbed, written
from tests.log_builder import demo_sessions
from unspool.lake.tables import PARTITIONS, TABLES

ARROW = {
    "text": pa.string(), "word": pa.dictionary(pa.int32(), pa.string()), "number": pa.int64(), "flag": pa.bool_(),
    "time": pa.timestamp("us", "UTC"), "dollars": pa.decimal128(20, 12),
}  # fmt: skip
POLARS: dict[str, Any] = {
    "text": polars.String, "word": polars.Categorical, "number": polars.Int64, "flag": polars.Boolean,
    "time": polars.Datetime("us", "UTC"), "dollars": polars.Decimal(20, 12),
}  # fmt: skip
DUCKDB = {
    "text": "VARCHAR", "word": "VARCHAR", "number": "BIGINT", "flag": "BOOLEAN", "time": "TIMESTAMP WITH TIME ZONE",
    "dollars": "DECIMAL(20,12)",
}  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readers")
    for session in demo_sessions():
        session.write(place / "logs")
    written(place / "lake", place / "logs")
    return place / "lake"


def test_every_reader_has_the_declared_types_and_all_rows(lake: Path) -> None:
    for table in TABLES:
        if not (lake / table.name).is_dir():
            assert asked(lake, f"SELECT count(*) FROM {table.name}") == [(0,)]  # noqa: S608
            continue
        ((rows,),) = asked(lake, f"SELECT count(*) FROM {table.name}")  # noqa: S608
        arrow = ds.dataset(lake / table.name, format="parquet", partitioning="hive")
        assert [(one.name, one.type) for one in arrow.schema][: len(table.columns)] == [
            (column.name, ARROW[column.type]) for column in table.columns
        ]
        assert arrow.count_rows() == rows
        frame = polars.scan_parquet(lake / table.name / "**/*.parquet", hive_partitioning=True).collect()
        assert dict(frame.schema) == {column.name: POLARS[column.type] for column in table.columns} | {
            column.name: polars.String for column in PARTITIONS
        }
        assert len(frame) == rows
        plain = globbed(f"DESCRIBE FROM '{lake}/{table.name}/**/*.parquet'")
        assert {row[0]: row[1] for row in plain} == {
            column.name: DUCKDB[column.type] for column in (*table.columns, *PARTITIONS)
        }


def test_every_reader_adds_up_the_same(lake: Path) -> None:
    wanted = asked(lake, "SELECT model, sum(output), sum(cost) FROM usage WHERE counted GROUP BY model ORDER BY model")
    frame = polars.read_parquet(lake / "usage" / "**/*.parquet").filter(polars.col("counted"))
    sums = frame.group_by(polars.col("model").cast(polars.String)).agg(
        polars.col("output").sum(), polars.col("cost").sum()
    )
    assert sorted(sums.rows()) == wanted
    arrow = ds.dataset(lake / "usage", partitioning="hive").to_table(filter=ds.field("counted"))
    groups = arrow.unify_dictionaries().group_by("model").aggregate([("output", "sum"), ("cost", "sum")])
    columns = (groups[name].to_pylist() for name in ("model", "output_sum", "cost_sum"))
    assert sorted(zip(*columns, strict=True)) == wanted


def test_the_sql_of_the_documentation_runs(lake: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, beside a folder called lake."""
    monkeypatch.chdir(lake.parent)
    page = (repository / "docs" / "lake.md").read_text("utf-8")
    statements = [one for block in re.findall(r"^```sql\n(.*?)^```", page, re.M | re.S) for one in block.split(";")]
    answers = [globbed(one) for one in statements if one.strip()]
    assert len(answers) == 2
    assert all(answers)
