"""How fast logs become sessions on one core: every log of a source opened whole, subagents included."""

import json
import os
import sys
import time
from pathlib import Path

from bench import corpus
from bench.measure import median
from bench.table import Row

AIM = 60


def row(source: Path) -> Row:
    """MB of logs a second, the middling of three processes."""
    got = median([sys.executable, "-m", "bench.assembly", str(source)], 3, {"PYTHONPATH": str(corpus.ROOT)})
    if got.failed:
        return Row("full assembly, one core", got.failed, aim=f">= {AIM} MB/s", met=False)
    figures = json.loads(got.output)
    rate = corpus.size(source) / 1e6 / figures["seconds"]
    what = f"full assembly, one core ({figures['sessions']} sessions, {got.peak_mb:.0f} MB peak)"
    return Row(what, f"{rate:.0f} MB/s", aim=f">= {AIM} MB/s", met=rate >= AIM)


def main(source: Path) -> None:
    """The measured process: open every log, and say how long that took."""
    from unspool.store.library import Library

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    library = Library(sources=[source])
    begun = time.perf_counter()
    opened = [library.open(log).id for log in library.logs()]
    print(json.dumps({"seconds": time.perf_counter() - begun, "sessions": len(opened)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
