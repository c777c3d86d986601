"""Questions to a lake: they are answered, and can do nothing else."""

import os
from pathlib import Path
from typing import Any
from unittest import mock
from zoneinfo import ZoneInfo

import duckdb
import pytest

from tests.lake.lakes import asked, files_of, written
from tests.log_builder import demo_sessions
from unspool.errors import NotFound, Unreadable, UnspoolError, UsageProblem
from unspool.lake.manifest import MANIFEST
from unspool.lake.query import AskedLake
from unspool.lake.storage import FolderStorage


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("query")
    for session in demo_sessions():
        session.write(place / "logs")
    written(place / "la'ke", place / "logs")
    return place / "la'ke"


@pytest.mark.parametrize(
    "sql",
    [
        "COPY usage TO '{lake}/out.csv'",
        "COPY (SELECT 1) TO '{lake}/out.parquet' (FORMAT parquet)",
        "EXPLAIN ANALYZE COPY usage TO '{lake}/out.csv'",
        "EXPORT DATABASE '{lake}/out'",
        "ATTACH '{lake}/out.db'",
        "ATTACH ':memory:' AS other",
        "CREATE TABLE mine AS SELECT 1",
        "CREATE OR REPLACE VIEW usage AS SELECT 1",
        "INSERT INTO usage SELECT * FROM usage",
        "DELETE FROM usage",
        "DROP VIEW usage",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "RESET enable_external_access",
        "PRAGMA enable_profiling",
        "CALL pragma_version()",
        "PREPARE x AS SELECT 1",
        "BEGIN",
        "SELECT 1; COPY usage TO '{lake}/out.csv'",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
    ],
)
def test_nothing_but_one_select_is_run(sql: str, lake: Path) -> None:
    before = files_of(lake)
    with pytest.raises(UsageProblem):
        asked(lake, sql.replace("{lake}", str(lake).replace("'", "''")))
    assert files_of(lake) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_blob('/proc/self/environ')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_json('{lake}/_unspool/manifest.json')",
        "SELECT * FROM read_parquet('{lake}/../logs/x.parquet')",
        "SELECT * FROM read_parquet('{lake}/usage/**/*.parquet')",
        "SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')",
        "SELECT * FROM query('COPY usage TO ''{lake}/y.csv''')",
        "SELECT getenv('HOME')",
        "SELECT * FROM manifest",
        "SELECT * FROM VIEWS",
        "SELECT * FROM sqlite_scan('/x.db', 't')",
    ],
)
def test_nothing_but_the_lake_is_read(sql: str, lake: Path) -> None:
    """Neither other files, nor what is beside the tables, nor variables of this program."""
    secret = lake.parent / "logs" / "x.parquet"
    secret.write_bytes(b"PAR1")
    os.environ["HOME"] = "/nowhere/but/here"
    with pytest.raises(UnspoolError):
        asked(lake, sql.replace("{lake}", str(lake).replace("'", "''")))


def test_show_describe_and_summarize_are_questions(lake: Path) -> None:
    assert ("usage",) in asked(lake, "SHOW TABLES")
    assert ("cost_by_day",) in asked(lake, "SHOW TABLES")
    assert asked(lake, "DESCRIBE usage")[0][:2] == ("session", "VARCHAR")
    assert asked(lake, "SUMMARIZE usage")
    assert asked(lake, "WITH x AS (FROM usage) SELECT count(*) > 0 FROM x") == [(True,)]


def test_what_is_wrong_with_a_question_is_told(lake: Path) -> None:
    with pytest.raises(UsageProblem, match="outputt"):
        asked(lake, "SELECT outputt FROM usage")
    with pytest.raises(UsageProblem, match=r"(?i)syntax"):
        asked(lake, "SELEC 1")
    with pytest.raises(UsageProblem, match=r"(?i)convert|conversion"):
        asked(lake, "SELECT model::INTEGER FROM usage")


def test_a_question_that_is_broken_off_ends_as_any_command_does(lake: Path) -> None:
    """The database hears Ctrl-C before Python does, and says so in its own way."""
    with AskedLake(FolderStorage(lake)) as open_lake, mock.patch.object(open_lake, "_connection") as broken:
        broken.extract_statements.return_value = [mock.Mock(type=duckdb.StatementType.SELECT)]
        broken.sql.side_effect = RuntimeError("Query interrupted")
        with pytest.raises(KeyboardInterrupt):
            open_lake.ask("SELECT 1")


def test_days_begin_in_the_zone_asked_for(lake: Path) -> None:
    def days(zone: Any) -> list[Any]:
        with AskedLake(FolderStorage(lake), zone) as open_lake:
            return list(open_lake.ask("SELECT day, requests FROM cost_by_day").rows())

    assert days(ZoneInfo("Pacific/Kiritimati")) != days(ZoneInfo("Pacific/Pago_Pago"))


def test_a_folder_without_a_lake_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        asked(tmp_path, "SELECT 1")
    (tmp_path / MANIFEST).parent.mkdir()
    (tmp_path / MANIFEST).write_text("{}x")
    with pytest.raises(Unreadable):
        asked(tmp_path, "SELECT 1")


def test_a_manifest_that_leads_elsewhere_is_refused(lake: Path, tmp_path: Path) -> None:
    manifest = (lake / MANIFEST).read_text().replace('"usage/', '"../usage/')
    (tmp_path / MANIFEST).parent.mkdir()
    (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(Unreadable, match="outside"):
        asked(tmp_path, "SELECT 1")
