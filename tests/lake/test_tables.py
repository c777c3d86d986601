"""The tables: what is declared stays, or has a new version."""

import json
from pathlib import Path

import pytest

from tests.lake.lakes import asked, globbed, written
from tests.log_builder import demo_sessions
from unspool.lake.tables import PARTITIONS, TABLES, LakeTable
from unspool.lake.views import VIEWS

SNAPSHOT = Path(__file__).with_name("tables.json")
"""Names and types of all columns, by table and version, as they were published. To be added to, never changed."""
KNOWN = json.loads(SNAPSHOT.read_bytes())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_changes_by_columns_at_its_end_or_has_a_new_version(table: LakeTable) -> None:
    """A new column or version goes into tables.json too."""
    before = KNOWN[table.name][str(table.version)]
    now = [[column.name, column.type] for column in table.columns]
    assert now[: len(before)] == before
    assert len(now) == len(before), f"add the new columns of {table.name} to {SNAPSHOT.name}"


def test_no_name_needs_quotes() -> None:
    """Whoever asks writes names as they are, also where DuckDB is not the one that answers."""
    reserved = {
        str(name)
        for name, kind in globbed("SELECT keyword_name, keyword_category FROM duckdb_keywords()")
        if kind in ("reserved", "type_function")
    }
    names = {column.name for table in TABLES for column in (*table.columns, *PARTITIONS)}
    names |= {table.name for table in TABLES} | {view.name for view in VIEWS}
    assert names.isdisjoint(reserved)
    assert all(name.replace("_", "").isalnum() and name.islower() for name in names)


def test_columns_of_one_name_mean_the_same_kind_of_value_everywhere() -> None:
    types: dict[str, set[str]] = {}
    for table in TABLES:
        assert len(set(table.names)) == len(table.columns)
        for column in table.columns:
            types.setdefault(column.name, set()).add("text" if column.type == "word" else column.type)
    assert {name: some for name, some in types.items() if len(some) > 1} == {}


def test_every_view_answers_over_sessions_and_over_none(tmp_path: Path) -> None:
    demo_sessions()[0].write(tmp_path / "logs")
    (tmp_path / "nothing").mkdir()
    written(tmp_path / "some", tmp_path / "logs")
    written(tmp_path / "none", tmp_path / "nothing")
    for view in VIEWS:
        assert asked(tmp_path / "some", f"FROM {view.name}"), view.name
        assert asked(tmp_path / "none", f"FROM {view.name}") == [] or view.name == "totals"
    described = {name: asked(tmp_path / "none", f"DESCRIBE {name}") for name in ("usage", "calls")}
    assert described == {name: asked(tmp_path / "some", f"DESCRIBE {name}") for name in ("usage", "calls")}
