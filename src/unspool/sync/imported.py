"""Sessions that somebody sent, kept in the archive as those of no machine."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from unspool.archive import Archive, Keeper, Origin, Status
from unspool.errors import UsageProblem
from unspool.formats import Format
from unspool.index.schema import VERSION
from unspool.prices import PriceTable
from unspool.sync.forgotten import rules
from unspool.sync.report import Report, Terms
from unspool.sync.run import indexed
from unspool.sync.turn import waiting

ROOT = "/imported"
"""Where the logs of such sessions are said to lie; there is no such folder."""
FOLDER = "projects/imported"
"""Where they lie below it, all in one, so that those of a chain are known to be one."""


def keep(folder: Path, source: Path, format_: Format, key: str | None, prices: PriceTable) -> Report:
    """Keep all files of the sessions of a folder in the archive, and index them.

    What came before under the same name stays as an earlier generation. UsageProblem where one was forgotten, and
    then nothing is kept.
    """
    with waiting(folder), Archive.open(folder, key=key) as archive:
        files = {f"{FOLDER}/{path.relative_to(source).as_posix()}": path for path in _files(source)}
        _check(archive, format_, files)
        with archive.db:
            origin = archive.origin(Origin("imported", "", ROOT, format_.id))
        outcomes = list[str]()
        with Keeper(archive) as keeper:
            for name, path in sorted(files.items()):
                status = Status.of(path.stat())
                outcomes.append(keeper.keep(origin, name, path, status, archive.last(origin, name)))
        report = indexed(archive, (), Terms(prices, f"{VERSION} {prices.digest}", lambda _, __: None), key)
    report.new, report.grown, report.rewritten = (outcomes.count(one) for one in ("new", "grown", "rewritten"))
    report.files, report.bytes = len(files), keeper.bytes
    return report


def _files(source: Path) -> Iterator[Path]:
    return (path for path in source.rglob("*") if path.is_file() and not path.is_symlink())


def _check(archive: Archive, format_: Format, names: Iterable[str]) -> None:
    forgotten = rules(archive.graves(), format_.id)
    for name in names:
        if forgotten.hides(name):
            session = format_.belongs(name) or name
            raise UsageProblem(f"{session} was forgotten here, so that it would not come back; nothing was kept.")
