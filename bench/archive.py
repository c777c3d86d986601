"""The archive beside a peer's database: the first sync, the next one, their sizes and memory; then search and usage.

The same logs for all, read once before so that none waits for the disk. "Cold" is without archive and index.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import agentsview, corpus, search, usage
from bench.agentsview import Installed
from bench.answers import UNSPOOL
from bench.beside import Runs, in_turns, row
from bench.family import Family, watched
from bench.measure import Run, run
from bench.table import Row

PARTS = ("sync", "search", "usage")
FASTER = 3.5
ARCHIVE, INDEX = 0.15, 0.12
PEAK_MB = 400
_SMALL = 100 * corpus.MB
PEER = "agentsview"
NAME = f"{PEER} sync"


@dataclass(frozen=True)
class Kept:
    """A source, and what was made of it by us and by the peer."""

    what: str
    source: Path
    folder: Path
    """Where archives and homes are made, each with its number."""

    def archive(self, number: int = 0) -> Path:
        return self.folder / f"archive-{number}"

    def peer(self, number: int = 0) -> Installed:
        return Installed(self.folder / f"home-{number}", self.source)

    def sync(self, number: int = 0) -> Run:
        return run(_command(self.archive(number), self.source))

    @property
    def times(self) -> int:
        return 5 if corpus.size(self.source) < _SMALL else 3


def rows(sources: Iterable[Path], seed: int, parts: Sequence[str] = PARTS) -> Iterator[Row]:
    """The parts asked for, of each source after the other."""
    for source in sources:
        with corpus.scratch() as folder:
            kept = Kept(corpus.described(source), source, folder)
            corpus.warm(source)
            yield from _parts(kept, seed, parts)


def _parts(kept: Kept, seed: int, parts: Sequence[str]) -> Iterator[Row]:
    if "sync" in parts:
        yield from _synced(kept)
    else:
        kept.sync()
        if "search" in parts and agentsview.program():
            kept.peer().sync()
    if "search" in parts:
        yield from search.rows(kept.what, kept.source, kept.archive(), kept.peer(), seed)
    if "usage" in parts:
        yield from usage.rows(kept.what, kept.source, kept.archive(), kept.times)


def _command(archive: Path, source: Path) -> list[str]:
    return [UNSPOOL, "sync", "--json", "--archive", str(archive), "--source", str(source)]


def _synced(kept: Kept) -> Iterator[Row]:
    """Installation and archive 0 are left behind, up to date."""
    there = agentsview.program() is not None
    first = in_turns(kept.sync, (lambda number: kept.peer(number).sync()) if there else None, kept.times)
    yield row(f"sync, cold, {kept.what}", first[0], NAME, first[1], FASTER)
    yield from _sizes(kept, first[0])
    again = in_turns(lambda _: kept.sync(), (lambda _: kept.peer().sync()) if there else None, max(kept.times, 5))
    yield row(f"sync, nothing new, {kept.what}", again[0], NAME, again[1], 1.0)
    yield _memory(kept, watched(_command(kept.archive(99), kept.source)), _theirs(kept) if there else None)


def _sizes(kept: Kept, ours: Runs) -> Iterator[Row]:
    """Against the bytes of all files that were kept; the peer's is one database, which keeps no original."""
    if ours.failed:
        return
    taken = int(json.loads(ours.best.output)["bytes"])
    peer = kept.peer().size
    beside = f"{PEER}: {_share(peer, taken)}" if peer else ""
    for name, aim in (("archive.db", ARCHIVE), ("index.db", INDEX)):
        size = sum(path.stat().st_size for path in kept.archive().glob(f"{name}*"))
        told = f"{peer / size:.1f}x as small" if peer else ""
        yield Row(
            f"size of {name}, {kept.what}", _share(size, taken), beside, told, f"<= {aim:.0%}", size <= aim * taken
        )


def _share(size: int, of: int) -> str:
    return f"{size / 1e6:.1f} MB, {size / of:.1%}"


def _theirs(kept: Kept) -> Family:
    peer = kept.peer(99)
    peer.home.mkdir(parents=True)
    return watched(peer.command("sync"), peer.env)


def _memory(kept: Kept, ours: Family, theirs: Family | None) -> Row:
    met = not ours.failed and ours.together <= PEAK_MB * corpus.MB
    beside = f"{NAME}: {theirs.told}" if theirs else ""
    ratio = f"{ours.together / theirs.together:.0%}" if theirs and theirs.together else ""
    return Row(f"memory of sync, cold, {kept.what}", ours.told, beside, ratio, f"<= {PEAK_MB} MB", met)
