"""Brings the archive up to date with its sources, and the index with the archive."""

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import apsw

from unspool.archive import Archive
from unspool.index.schema import VERSION
from unspool.index.store import Index, discard, telling
from unspool.prices import PriceTable
from unspool.sync.places import Place, places
from unspool.sync.report import Progress, Report, Terms
from unspool.sync.scan import Scan
from unspool.sync.stale import Known, stale
from unspool.sync.turn import waiting


def sync(
    folder: Path,
    sources: Sequence[Path] = (),
    progress: Progress | None = None,
    key: str | None = None,
    prices: PriceTable | None = None,
) -> Report:
    """Keep everything new of the sources in the archive of a folder, and index it. Nothing is written to a source."""
    began = time.monotonic()
    table = prices or PriceTable.load()
    terms = Terms(table, f"{VERSION} {table.digest}", progress or (lambda _, __: None))
    with waiting(folder), Archive.open(folder, key=key) as archive:
        report = indexed(archive, places(sources), terms, key)
    report.seconds = time.monotonic() - began
    return report


def indexed(archive: Archive, at: Sequence[Place], terms: Terms, key: str | None) -> Report:
    """Keep what is new at some places, and index it and whatever else the archive holds; for whoever has the turn."""
    try:
        return _indexed(archive, at, terms, key)
    except apsw.CorruptError:  # of the index, which is nothing that could not be made anew
        discard(archive.path.parent)
        return _indexed(archive, at, terms, key)


def _indexed(archive: Archive, at: Sequence[Place], terms: Terms, key: str | None) -> Report:
    folder = archive.path.parent
    with telling(folder), Index.open(folder, key=key) as index:
        return _run(archive, index, [Scan(archive, place) for place in at], terms)


def _run(archive: Archive, index: Index, scans: Sequence[Scan], terms: Terms) -> Report:
    query = "SELECT origin, path, state, named FROM session WHERE kind <> 'ghost'"
    known = {(origin, path): Known(*rest) for origin, path, *rest in index.db.execute(query)}
    wanted = stale(archive, scans, known, cache(lambda: _attached(index)), terms.salt)
    report = Report(files=sum(len(scan.files) for scan in scans))
    if any(wanted) or any(scan.fresh for scan in scans) or any(True for scan in scans for _ in scan.gone):
        from unspool.archive.tidy import tidy
        from unspool.sync.work import Work  # as much as all the rest, and most syncs find nothing to do

        index.note("ghosts", "")  # not known until all is done, which may be prevented
        Work(archive, index, terms, report).all(scans, wanted)
        tidy(archive)
        index.shrink()
    for scan in scans:
        report.failures += scan.failures
    _haunt(archive, index, report)
    if scans and not report.failures:
        index.note("synced", str(time.time()))
    return report


def _attached(index: Index) -> set[tuple[int, str]]:
    query = "SELECT origin, log.path FROM log JOIN session ON session.id = session WHERE agent <> ''"
    return {(origin, path) for origin, path in index.db.execute(query)}


def _haunt(archive: Archive, index: Index, report: Report) -> None:
    """Look for sessions that left traces only, where anything changed that could tell of them."""
    if not index.meta("ghosts"):
        from unspool.sync.haunt import Haunt

        report.ghosts = Haunt(archive, index).all()
        index.note("ghosts", str(report.ghosts))
    else:
        report.ghosts = int(index.meta("ghosts"))
