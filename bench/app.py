"""The app beside a peer's: how soon it shows sessions, how much it bears, and the memory of its server.

Both are asked for what a person sees first: a list of sessions. Ours is a page; the peer's page is a program that asks
its server for JSON, so that is asked for. No browser is measured.
"""

from collections.abc import Iterator
from pathlib import Path

from bench import bearing, corpus, opening
from bench.agentsview import Installed
from bench.table import Row


def rows(source: Path, seed: int) -> Iterator[Row]:
    """Starts without and with an archive, answers under load, memory after everything was looked at."""
    what = f"{corpus.size(source) / 1e6:.0f} MB"
    with corpus.scratch() as folder:
        corpus.warm(source)
        yield from opening.rows(what, source, folder)
        archive, peer = opening.archive(folder, 0), Installed(opening.home(folder, 0), source)
        yield from bearing.rows(what, archive, peer, seed)
