"""Short ways to a lake, and from a lake to its rows."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from unspool.lake.group import ReadingTerms
from unspool.lake.manifest import LakeManifest, load_manifest
from unspool.lake.query import AskedLake
from unspool.lake.storage import FolderStorage, LakeStorage
from unspool.lake.write import LakeReport, WriteRequest, write_lake
from unspool.prices import PriceTable
from unspool.store.library import Library

PRICES = PriceTable.load()
TERMS = ReadingTerms(PRICES)


def written(lake: Path | LakeStorage, *sources: Path, **request: Any) -> LakeReport:
    """Bring a lake up to date with the sessions of folders, in this process; `terms` and the like go to the request."""
    storage = FolderStorage(lake) if isinstance(lake, Path) else lake
    return write_lake(
        storage, Library(sources), WriteRequest(**{"terms": TERMS, "jobs": 1, "patience": 0.0, **request})
    )


def asked(lake: Path | LakeStorage, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a question."""
    with AskedLake(FolderStorage(lake) if isinstance(lake, Path) else lake) as open_lake:
        return list(open_lake.ask(sql).rows())


def globbed(sql: str) -> list[tuple[Any, ...]]:
    """The rows of a question to DuckDB alone, which knows nothing of manifests."""
    return duckdb.connect().execute(sql).fetchall()


def manifest_of(lake: Path | LakeStorage) -> LakeManifest:
    found = load_manifest(FolderStorage(lake) if isinstance(lake, Path) else lake)
    assert found is not None
    return found


def contents(
    lake: Path | LakeStorage, tables: Sequence[str] = ("sessions", "turns", "calls", "usage", "blocks")
) -> Any:
    """All rows of some tables, in an order of their own: equal for lakes that hold the same."""
    with AskedLake(FolderStorage(lake) if isinstance(lake, Path) else lake) as open_lake:
        return {name: sorted(open_lake.ask(f"FROM {name}").rows(), key=repr) for name in tables}


def files_of(lake: Path) -> set[str]:
    return {path.relative_to(lake).as_posix() for path in lake.rglob("*") if path.is_file()}


def grow(log: Path, line: bytes, seconds: float = 60.0) -> None:
    """Append to a log, which is newer afterwards."""
    before = log.stat().st_mtime
    with log.open("ab") as file:
        file.write(line)
    os.utime(log, (before + seconds, before + seconds))
