"""The lake: how fast logs become Parquet, how small it is against them, and how soon five questions are answered."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from bench import corpus
from bench.answers import UNSPOOL
from bench.family import Family, watched
from bench.table import Row

WITH_RESULTS, WITHOUT = 20.0, 10.0
"""Percent of the logs that a lake may take."""
SECOND = 1000.0
_ROOM = 0.6
"""Free disk that two lakes need, as a share of the logs."""
_TIMES = 3
QUESTIONS = {
    "dollars by day": "FROM cost_by_day",
    "tools and how their calls ended": "FROM tools",
    "dollars by project": "FROM cost_by_project",
    "a word in all results": "SELECT count(*), count(DISTINCT session) FROM calls WHERE result LIKE '%Traceback%'",
    "files most touched": "SELECT * FROM files_touched LIMIT 20",
}


def rows(source: Path) -> Iterator[Row]:
    """What it takes to write a lake with and without results, once more with nothing new, and to ask it."""
    mb = corpus.size(source) / corpus.MB
    if shutil.disk_usage(corpus.ROOT).free < mb * corpus.MB * _ROOM:
        yield Row(f"lake of {mb:.0f} MB", "left out: the disk is too full")
        return
    corpus.warm(source)
    with corpus.scratch() as folder:
        lake = folder / "lake"
        command = [UNSPOOL, "lake", "write", str(lake), "--source", str(source)]
        yield _written(f"lake of {mb:.0f} MB", mb, watched(command))
        yield _size("its size, with results", mb, lake, WITH_RESULTS)
        again = watched(command)
        yield Row("lake, nothing new", again.failed or f"{again.seconds:.2f} s; {again.told}")
        yield from _asked(lake)
        bare = folder / "bare"
        watched([UNSPOOL, "lake", "write", str(bare), "--source", str(source), "--without-results"])
        yield _size("its size, without results", mb, bare, WITHOUT)


def _written(what: str, mb: float, took: Family) -> Row:
    told = f"{took.seconds:.1f} s, {mb / took.seconds:.0f} MB/s, {mb / took.cpu:.1f} MB/s a core; {took.told}"
    return Row(what, took.failed or told)


def _size(what: str, mb: float, lake: Path, aim: float) -> Row:
    tables = sum(path.stat().st_size for path in lake.glob("*/agent=*/**/*.parquet"))
    known = sum(path.stat().st_size for path in (lake / "_unspool").rglob("*") if path.is_file())
    percent = 100 * (tables + known) / (mb * corpus.MB)
    told = f"{percent:.1f} % ({known / (mb * corpus.MB):.1%} of it to know what changed)"
    return Row(what, told, aim=f"<= {aim:.0f} %", met=percent <= aim)


def _asked(lake: Path) -> Iterator[Row]:
    """Best of some, in this process, the lake opened before; and how long opening it takes."""
    from unspool.lake.query import AskedLake
    from unspool.lake.storage import open_storage

    begun = time.perf_counter()
    with AskedLake(open_storage(lake)) as asked:
        yield Row("opening it", f"{(time.perf_counter() - begun) * 1000:.0f} ms")
        for what, question in QUESTIONS.items():
            best, count = float("inf"), 0
            for _ in range(_TIMES):
                begun = time.perf_counter()
                count = sum(1 for _ in asked.ask(question).rows())
                best = min(best, (time.perf_counter() - begun) * 1000)
            yield Row(f"asked: {what}", f"{best:.0f} ms, {count:,} rows", aim="< 1 s", met=best < SECOND)
