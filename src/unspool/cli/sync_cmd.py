"""`unspool sync`: everything new into the archive."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import options, settings
from unspool.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unspool.store.sync import SyncReport

_WORTH_A_BAR = 32 * 1024 * 1024


@click.command("sync")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something went wrong.")
@options.named_sources
@options.archive
def command(as_json: bool, quiet: bool, source: tuple[Path, ...], archive: Path) -> None:
    """Keep everything new of your sessions, for good, and make it searchable.

    \b
    unspool sync                            from the agent's own folder
    unspool sync -s /backup/old-laptop      from a copy elsewhere
    unspool sync --archive /nas/unspool     into an archive elsewhere

    Logs and all that belongs to them are copied byte for byte, compressed, into archive.db, which is readable by
    you alone. What is already kept costs nothing; what the agent deletes stays. Nothing is ever written to a source.
    """
    from unspool.prices import PriceTable
    from unspool.store.sync import sync

    sources, prices = settings.chosen_sources(source), PriceTable.load(settings.price_file())
    with _bar(quiet or as_json) as progress:
        report = sync(archive, sources, progress, options.key_of(archive), prices)
    if report.failures:
        from unspool.cli.terminal import complain

        complain(report.failures)
    if as_json:
        _print_json(report)
    elif not quiet:
        click.echo(sync_summary(report, archive))
    if report.failures:
        sys.exit(5)


def sync_summary(report: "SyncReport", archive: Path) -> str:
    """One or two sentences on what a sync did."""
    from unspool.human import size

    if not report.changed:
        return f"Nothing new in {report.files} files."
    counts = ((report.new, "new"), (report.grown, "grown"), (report.rewritten, "rewritten"), (report.gone, "gone"))
    files = ", ".join(f"{count} {what}" for count, what in counts if count) or "none changed"
    gone = " What is gone stays in the archive." if report.gone else ""
    return (
        f"Kept {size(report.bytes)} in {archive} ({files} of {report.files} files)"
        f" and indexed {report.parsed} sessions in {report.seconds:.1f} s.{gone}"
    )


def _print_json(report: "SyncReport") -> None:

    print_json(report)


@contextmanager
def _bar(quiet: bool) -> "Iterator[Callable[[int, int], None] | None]":
    """A bar on standard error, where it is a terminal and there is enough to do."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from unspool.cli.terminal import progress_bar

    with progress_bar("Keeping sessions") as advance:
        yield lambda done, total: advance(done, total) if total >= _WORTH_A_BAR else None
