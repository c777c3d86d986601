"""A real watcher whose sync only tells what it was asked to do: `python -m tests.store.sync.counting FOLDER SOURCE...`.

FOLDER stands for the archive. A file `fail`, `slow` or `takes` (seconds) in it makes a sync fail, last long or use
a processor so long, and tell how long the pause before it was; PACE is the pace as JSON. Every line printed is one
thing that happened.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

from unspool.errors import UnspoolError
from unspool.store.sync.lock import Stopped, StopSignal, sole_lock
from unspool.store.sync.watch import Watcher, WatchPace, WatchTarget


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


_ENDED: list[float] = []
"""When the sync before ended."""


class Voice:
    def synced(self, report: str) -> None:
        say("synced", report)

    def failed(self, why: Exception, wait: float) -> None:
        say("failed", f"{wait:g}", why)

    def deaf(self, why: OSError, poll: float) -> None:
        say("deaf", f"{poll:g}", why)


def sync(folder: Path, sources: tuple[Path, ...]) -> str:
    if (folder / "fail").exists():
        raise UnspoolError("The disk is full.")
    if (folder / "takes").exists():
        if _ENDED:
            say("paused", f"{time.monotonic() - _ENDED.pop():.2f}")
        enough = time.process_time() + float((folder / "takes").read_text())
        while time.process_time() < enough:
            pass
        _ENDED.append(time.monotonic())
    if (folder / "slow").exists():
        try:
            say("begun")
            time.sleep(60)
        finally:
            say("rolled back")
    return " ".join(source.name for source in sources)


def main() -> int:
    folder, *sources = map(Path, sys.argv[1:])
    if most := os.environ.get("FILES"):
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(most), int(most)))
    stop = StopSignal()
    watched = WatchTarget(tuple(sources), lambda source: [source], folder)
    with stop.heeding(), sole_lock(folder):
        try:
            pace = WatchPace(**json.loads(os.environ.get("PACE", "{}")))
            Watcher(lambda changed: sync(folder, changed), watched, Voice(), stop, pace).follow()
        except Stopped:
            pass
        say("used", sum(os.times()[:2]))
    return 130 if stop.interrupted else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UnspoolError as error:
        say(error)
        sys.exit(error.exit_code)
