"""From the start of a process to the first page that is of use: with nothing there yet, and with everything."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from bench import agentsview, corpus
from bench.agentsview import Installed
from bench.beside import Runs, row
from bench.measure import Run
from bench.serving import Server, free_port, ours, started
from bench.table import Row

PEER = "agentsview serve"
LIST = "/api/v1/sessions?limit=50"
"""Of the peer."""
_LARGE = 1000 * corpus.MB
_LINK = b'href="/s/'
"""A session on our page."""


@dataclass(frozen=True)
class _Starts:
    """What several starts took: until some sessions are listed, and until the sync is done."""

    first: list[Run] = field(default_factory=list)
    whole: list[Run] = field(default_factory=list)


def archive(folder: Path, number: int) -> Path:
    return folder / f"archive-{number}"


def home(folder: Path, number: int) -> Path:
    """Of the peer."""
    return folder / f"home-{number}"


def rows(what: str, source: Path, folder: Path) -> Iterator[Row]:
    """Each first without anything, then again; archive 0 and home 0 are left behind, up to date."""
    cold, again, peer_cold, peer_again = (_Starts() for _ in range(4))
    for number in range(1 if corpus.size(source) >= _LARGE else 3):
        place, peer = archive(folder, number), Installed(home(folder, number), source)
        for mine, theirs in ((cold, peer_cold), (again, peer_again)):
            _start(place, source, mine)
            if agentsview.program():
                _start_peer(peer, theirs)
    yield _row(f"app: first sessions shown, no archive yet, {what}", cold.first, peer_cold)
    yield _row(f"... all of them, no archive yet, {what}", cold.whole, peer_cold)
    yield _row(f"app: sessions shown, archive there, {what}", again.first, peer_again)


def synced(server: Server) -> float | None:
    """Seconds from the start of our app until its sync was done."""
    return server.until("/api/state", lambda page: json.loads(page)["state"] == "done")


def served(peer: Installed) -> AbstractContextManager[Server]:
    """The peer's server as a person starts it, but for the browser: it syncs, and listens when that is done."""
    peer.home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    return started(peer.command("serve", "--no-browser", "--no-update-check", "--port", str(port)), port, peer.env)


def listed(server: Server) -> float | None:
    """Seconds from the start of the peer's server until it listed sessions."""
    return server.until(LIST, lambda page: bool(json.loads(page)["sessions"]))


def _start(place: Path, source: Path, starts: _Starts) -> None:
    port = free_port()
    with started(ours(place, source, port), port) as server:
        starts.first.append(_run(server, server.until("/", lambda page: _LINK in page)))
        starts.whole.append(_run(server, synced(server)))


def _start_peer(peer: Installed, starts: _Starts) -> None:
    with served(peer) as server:
        starts.first.append(_run(server, listed(server)))


def _run(server: Server, seconds: float | None) -> Run:
    failed = "" if seconds is not None else f"never came up: {server.last_words}"
    return Run(seconds or float("inf"), 0.0, "", failed)


def _row(what: str, mine: list[Run], theirs: _Starts) -> Row:
    return row(what, Runs(mine), PEER, Runs(theirs.first) if theirs.first else None, 1.0)
