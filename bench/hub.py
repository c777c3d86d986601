"""The hub: what two processes on one PostgreSQL and one object store bear, and one on files; what its content takes.

Sessions are listed and searched among many made rows; those that are looked at were really pushed and shared.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench import corpus, hub_bytes, hub_cost, hub_scale
from bench.hub_bearing import Borne, bear
from bench.hub_running import PROCESSES, Hubs, on_files, on_servers, real_servers, running
from bench.hub_sending import Ready, ready, view
from bench.hub_world import World, begin, crowd, pushed, shared, world
from bench.plot import Panel, panels
from bench.table import Row
from tests.hub.servers import Servers

SIZES = (100, 1_000, 10_000)
MINUTE = 60
AIM_MS = 200
_LOOKED_AT = 16
"""Sessions that are looked at in turn."""
_DRAWN = {"view, session": "Page of a session", "list, page": "Page of the list", "search, JSON": "Search"}


def rows(sources: Sequence[Path], sizes: Sequence[int], picture: Path) -> Iterator[Row]:
    """What is taken in of each source and what it takes; load over more and more sessions, drawn in `picture`.

    Sessions of the first source are looked at.
    """
    try:
        with corpus.scratch() as folder, real_servers() as servers:
            for number, source in enumerate(sources):
                sent = ready(source, folder / f"ready-{number}")
                with on_servers(servers, folder) as place, running(place, PROCESSES, servers) as hubs:
                    yield from _taken(hubs, sent)
            seen = ready(sources[0], folder / "seen")[:_LOOKED_AT]
            yield from _grown(servers, folder, seen, sizes, picture)
            yield from _on_files(folder, seen, max(sizes))
    except pytest.skip.Exception as missing:
        yield Row("hub", f"left out: {missing}")


def _taken(hubs: Hubs, sent: Sequence[Ready]) -> Iterator[Row]:
    """What is taken in, how quickly, and what it takes."""
    _, there = crowd(hubs, 0)
    begin(there, hubs, sent)
    before = hub_bytes.taken(hubs.store.db)
    sessions, done = pushed(there, sent)
    viewed = there.ask(view, sessions)[1]
    yield from hub_bytes.rows(before, hub_bytes.taken(hubs.store.db), done.sessions)
    shown = shared(there, sent)[1]
    yield Row(f"hub, {PROCESSES} processes: {done.sessions} sessions taken in", done.told)
    yield Row(f"hub, {PROCESSES} processes: {viewed.sessions} sessions viewed for the first time", viewed.told)
    yield Row(f"hub, {PROCESSES} processes: {shown.sessions} shares taken in", shown.told)


def _grown(servers: Servers, folder: Path, seen: Sequence[Ready], sizes: Sequence[int], picture: Path) -> Iterator[Row]:
    points: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        what = f"hub, {PROCESSES} processes, {size:,} sessions"
        with on_servers(servers, folder) as place, running(place, PROCESSES, servers) as hubs:
            there = world(hubs, size, seen)
            for name, borne in _loads(hubs, there):
                points.setdefault(name, []).append((size, borne.cost))
                yield _row(f"{what}: {name}", borne, points[name][0][1])
            if size == max(sizes):
                yield from _minute(hubs, there, what)
    _draw(points, picture)


def _on_files(folder: Path, seen: Sequence[Ready], size: int) -> Iterator[Row]:
    what = f"hub on files, 1 process, {size:,} sessions"
    with on_files(folder) as place, running(place, 1) as hubs:
        there = world(hubs, size, seen)
        yield Row(f"{what}: sessions taken in", there.pushed.told)
        yield Row(f"{what}: shares taken in", there.shared.told)
        for name, borne in _loads(hubs, there):
            yield _row(f"{what}: {name}", borne)
        yield from _minute(hubs, there, what)
        yield from hub_cost.rows(hub_cost.costs(hubs.store, there.token, there.paths()))


def _loads(hubs: Hubs, there: World) -> Iterator[tuple[str, Borne]]:
    for name, paths in there.paths().items():
        yield name, bear(hubs, there.token, paths)


def _minute(hubs: Hubs, there: World, what: str) -> Iterator[Row]:
    """Everything mixed for a minute, after which nothing must have gone wrong; and the memory that all this took."""
    borne = bear(hubs, there.token, there.mixed(), MINUTE)
    failed = hubs.failed()
    told = f"{borne.told}; {failed} answers of 5xx since the start"
    yield Row(f"{what}: mixed, {MINUTE} s", told, aim="no 5xx", met=not failed and not borne.load.failed)
    for number, one in enumerate(hubs.memory(), 1):
        main = f"VmHWM {one.own / 1e6:.0f} MB; PSS with those that make pages {one.together / 1e6:.0f} MB now"
        yield Row(f"{what}: memory of process {number}", main)


def _row(what: str, borne: Borne, first: float = 0.0) -> Row:
    ratio = f"{borne.cost / first:.2f}x a core" if first and borne.cost else ""
    return Row(what, borne.told, ratio=ratio, met=False if borne.load.failed else None)


def _draw(points: dict[str, list[tuple[float, float]]], picture: Path) -> None:
    drawn = [Panel(f"{said}, ms", points[name]) for name, said in _DRAWN.items() if name in points]
    if not drawn or any(not cost for panel in drawn for _, cost in panel.points):
        return
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_text(
        panels("Milliseconds of a core, in hub and database, that an answer costs over the sessions kept", drawn)
    )
    print(f"the picture is in {picture}", file=sys.stderr)


def scale_rows(sessions: int, source: Path | None, times: int = 200) -> Iterator[Row]:
    """Lists and searches of very many sessions on PostgreSQL, asked in process, each with its p99.

    Their texts are of the logs of a source, made up where there is none.
    """
    try:
        with hub_scale.on_postgresql() as store:
            told = hub_scale.of_logs(source) if source else hub_scale.MADE
            size = hub_scale.fill(store, sessions, told)
            what = f"hub, {sessions:,} sessions: {size / 1e6:.0f} MB of texts"
            yield Row(what, hub_bytes.beside_texts(store.db, size))
            for name, median, late in hub_scale.measured(store, times, told):
                taken = f"p50 {median:.1f} ms, p99 {late:.1f} ms"
                yield Row(f"hub, {sessions:,} sessions: {name}", taken, aim=f"p99 <= {AIM_MS} ms", met=late <= AIM_MS)
    except pytest.skip.Exception as missing:
        yield Row("hub-scale", f"left out: {missing}")
