"""The most memory that streaming takes: listing and usage of one huge log, and of one huge line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import corpus
from bench.answers import UNSPOOL
from bench.measure import Run, run
from bench.table import Row

AIM = 300


def rows(source: Path, big_mb: int, line_mb: int) -> Iterator[Row]:
    """Both ways of streaming, over both kinds of huge; what is huge is not kept."""
    with corpus.scratch() as folder:
        corpus.huge_log(corpus.largest(source), big_mb, folder)
        yield from _streamed(f"one log of {big_mb} MB", folder)
    with corpus.scratch() as folder:
        corpus.long_line(line_mb, folder)
        yield from _streamed(f"one line of {line_mb} MB", folder)


def _streamed(what: str, source: Path) -> Iterator[Row]:
    yield _peak(f"peak of list, {what}", run([UNSPOOL, "list", "--json", "--source", str(source)]))
    usage = [sys.executable, "-m", "bench.memory", str(source)]
    yield _peak(f"peak of usage, {what}", run(usage, {"PYTHONPATH": str(corpus.ROOT)}))


def _peak(what: str, got: Run) -> Row:
    ours = got.failed or f"{got.peak_mb:.0f} MB in {got.seconds:.1f} s"
    return Row(what, ours, aim=f"<= {AIM} MB", met=not got.failed and got.peak_mb <= AIM)


def main(source: Path) -> None:
    """The measured process: the tokens of every session, added up."""
    from unspool.store.library import Library

    print(json.dumps({one.id: one.usage.total for one in Library(sources=[source]).overviews()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
