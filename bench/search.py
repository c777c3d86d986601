"""How long an answer takes: in process, from the shell without any server, and from ripgrep and a peer.

Many questions of many kinds, made of the words of the logs. A peer is asked only what it understands as well: words,
phrases and the beginnings of words. It needs its server to run; ripgrep reads the logs and names those that match.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import agentsview, corpus
from bench.agentsview import Installed
from bench.answers import UNSPOOL
from bench.measure import Run, run
from bench.queries import Question, questions
from bench.table import Row

MANY, SOME = 1000, 30
IN_PROCESS_MS, SHELL_MS = 10, 150


@dataclass(frozen=True)
class Times:
    """How long each of several answers took, in milliseconds."""

    each: Sequence[float]
    failed: str = ""
    cpu: float = 0.0
    """Milliseconds that an answer kept a core busy, on average; 0 where that is not known."""

    def at(self, share: float) -> float:
        """That which so many of a hundred keep to."""
        ranked = sorted(self.each)
        return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else float("inf")

    @property
    def told(self) -> str:
        busy = f", mean cpu {_ms(self.cpu)}" if self.cpu else ""
        return self.failed or f"p50 {_ms(self.at(0.5))}, p99 {_ms(self.at(0.99))}{busy} ({len(self.each)})"


def rows(what: str, source: Path, archive: Path, peer: Installed, seed: int) -> Iterator[Row]:
    """In process by kind and together; then from the shell beside the peers."""
    asked = questions(source, seed, MANY)
    done = _in_process(archive, asked)
    if done.failed:
        yield Row(f"search in process, {what}", done.failed, aim=f"p50 < {IN_PROCESS_MS} ms", met=False)
        return
    given = json.loads(done.output)
    answers, times = given["answers"], [float(ms) for ms, _ in given["answers"]]
    yield _judged(f"search in process, {what}", Times(times, cpu=given["cpu"]), IN_PROCESS_MS)
    for kind in dict.fromkeys(one.kind for one in asked):
        of_kind = Times([ms for ms, one in zip(times, asked, strict=True) if one.kind == kind])
        yield Row(f"... {kind}", of_kind.told)
    found = [one for one, (_, sessions) in zip(asked, answers, strict=True) if sessions]
    if not found:
        yield Row(f"search from the shell, {what}", "nothing is found at all", aim=f"p50 < {SHELL_MS} ms", met=False)
        return
    yield from _from_shell(what, source, archive, peer, found)


def _in_process(archive: Path, asked: Sequence[Question]) -> Run:
    with corpus.scratch() as folder:
        given = folder / "questions.json"
        given.write_text(json.dumps([one.text for one in asked]))
        command = [sys.executable, "-m", "bench.search", str(archive), str(given)]
        return run(command, {"PYTHONPATH": str(corpus.ROOT)})


def _from_shell(what: str, source: Path, archive: Path, peer: Installed, found: Sequence[Question]) -> Iterator[Row]:
    ours = _timed(_spread(found), lambda one: run([UNSPOOL, "search", "--json", "--archive", str(archive), one.text]))
    yield _judged(f"search from the shell, {what}", ours, SHELL_MS)
    plain = _spread([one for one in found if one.plain])
    ours = _timed(plain, lambda one: run([UNSPOOL, "search", "--json", "--archive", str(archive), one.text]))
    for name, theirs in _peers(source, peer, plain):
        both = not ours.failed and not theirs.failed and theirs.each
        ratio = f"{theirs.at(0.5) / ours.at(0.5):.1f}x as fast" if both else ""
        yield Row(f"... words and phrases, {what}", ours.told, f"{name}: {theirs.told}", ratio)


def _peers(source: Path, peer: Installed, plain: Sequence[Question]) -> Iterator[tuple[str, Times]]:
    ripgrep = os.environ.get("UNSPOOL_RIPGREP")
    if ripgrep:
        look = [ripgrep, "--ignore-case", "--fixed-strings", "--files-with-matches", "--no-ignore"]
        yield "ripgrep", _timed(plain, lambda one: run([*look, "--", one.plain, str(source / "projects")]))
    else:
        yield "ripgrep", Times([], "not installed")
    if not agentsview.program():
        yield "agentsview", Times([], "not installed")
        return
    with peer.served() as up:
        for how in ("", "--fts"):
            theirs = _timed(plain, partial(_asked, peer, how)) if up else Times([], "its server did not start")
            yield f"agentsview {how or 'search'}, its server running", theirs


def _asked(peer: Installed, how: str, one: Question) -> Run:
    return peer.search(one.plain, *how.split())


def _timed(asked: Sequence[Question], answer: Callable[[Question], Run]) -> Times:
    runs = [answer(one) for one in asked]
    # Search of files and of an archive ends with 1 where nothing is found.
    failed = next((one.failed for one in runs if one.failed and not one.failed.startswith("exit 1:")), "")
    busy = sum(one.cpu for one in runs) * 1000 / max(1, len(runs))
    return Times([one.seconds * 1000 for one in runs], failed, busy)


def _spread(asked: Sequence[Question]) -> list[Question]:
    """Some of them, from beginning to end."""
    return [asked[number * len(asked) // SOME] for number in range(SOME)] if asked else []


def _judged(what: str, times: Times, aim: int) -> Row:
    return Row(what, times.told, aim=f"p50 < {aim} ms", met=not times.failed and times.at(0.5) < aim)


def _ms(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def main(archive: Path, given: Path) -> None:
    """The measured process: every question put to an open archive; prints how long each took, and what it found."""
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.index.database import Index
    from unspool.store.index.query import parse_query
    from unspool.store.index.search import search_index

    answers = []
    with ArchiveDatabase.open(archive, readonly=True) as kept, Index.open(archive, readonly=True) as index:
        asked = json.loads(given.read_bytes())
        busy = time.process_time()
        for text in asked:
            begun = time.perf_counter()
            found = search_index(index.db, kept, parse_query(text))
            answers.append(((time.perf_counter() - begun) * 1000, len(found.sessions)))
        busy = time.process_time() - busy
    print(json.dumps({"answers": answers, "cpu": busy * 1000 / len(asked)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
