"""Does time grow with the logs and no faster, and does memory stay? The first sync of larger and larger corpora.

A line a size, and a picture.
"""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import corpus
from bench.answers import UNSPOOL
from bench.family import Family, watched
from bench.table import Row

SIZES = (50, 150, 500, 1500, 5000)
PEAK_MB = 400
LINEAR = 1.25
"""So much more may a MB cost in the largest corpus than in the smallest."""
_ROOM = 2
"""Free disk that a corpus and its archive need, as a multiple of the corpus."""

Maker = Callable[[int], Path]
"""Gives a source of so many MB, which it keeps."""


@dataclass(frozen=True)
class Point:
    """One size: MB of logs, and what their first sync took."""

    mb: float
    family: Family


def rows(made: Maker, sizes: Sequence[int], picture: Path) -> Iterator[Row]:
    """A row a size; at the end `picture` is written."""
    points: list[Point] = []
    for mb in sizes:
        if shutil.disk_usage(corpus.ROOT).free < mb * corpus.MB * _ROOM:
            yield Row(f"first sync of {mb} MB", "left out: the disk is too full")
            continue
        source = made(mb)
        with corpus.scratch() as folder:
            corpus.warm(source)
            command = [UNSPOOL, "sync", "-q", "--archive", str(folder / "archive"), "--source", str(source)]
            points.append(Point(corpus.size(source) / 1e6, watched(command)))
        yield _row(points)
    from bench.plot import drawn

    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_text(drawn([(one.mb, one.family.seconds, one.family.together / 1e6) for one in points], PEAK_MB))
    print(f"the picture is in {picture}", file=sys.stderr)


def _row(points: Sequence[Point]) -> Row:
    first, last = points[0], points[-1]
    took = last.family
    per, before = took.seconds / last.mb, first.family.seconds / first.mb
    told = f"{took.seconds:.1f} s, cpu {took.cpu:.1f} s, {last.mb / took.seconds:.0f} MB/s; {took.told}"
    met = not took.failed and took.together <= PEAK_MB * corpus.MB and per <= LINEAR * before
    aim = f"<= {PEAK_MB} MB, <= {LINEAR}x a MB"
    return Row(
        f"first sync of {last.mb:.0f} MB", took.failed or told, ratio=f"{per / before:.2f}x a MB", aim=aim, met=met
    )
