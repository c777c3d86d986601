"""`unspool sync`: everything new into the archive."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import options, settings
from unspool.cli.output import WORTH_A_BAR, complain, print_json, progress_bar

if TYPE_CHECKING:
    from unspool.store.sync import SyncReport


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
    from unspool.store.sync import sync

    sources, prices = settings.chosen_sources(source), settings.price_table()
    with progress_bar("Keeping sessions", quiet=quiet or as_json, least=WORTH_A_BAR) as progress:
        report = sync(archive, sources, progress, options.key_of(archive), prices)
    complain(report.failures)
    if as_json:
        print_json(report)
    elif not quiet:
        click.echo(sync_summary(report, archive))
    if report.failures:
        sys.exit(5)


def sync_summary(report: "SyncReport", archive: Path) -> str:
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
