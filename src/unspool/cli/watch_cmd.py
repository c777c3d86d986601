"""`unspool watch`: the archive kept up to date, here and now or as a service."""

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool import human
from unspool.cli import options, settings
from unspool.errors import UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.store.sync import SyncReport
    from unspool.store.sync.lock import StopSignal

_KINDS = ("systemd", "launchd", "cron", "hooks")
_USUAL = "usual"
_INTERVAL = 600


class WatchOptions(NamedTuple):
    archive: Path
    sources: tuple[Path, ...]
    interval: float
    poll: float

    def pace(self) -> list[str]:
        """The options of the pace that are not as they are anyway."""
        interval = ["--interval", f"{self.interval:g}"] if self.interval != _INTERVAL else []
        return interval + (["--poll", f"{self.poll:g}"] if self.poll else [])


def _service_option(name: str, help_line: str) -> options.Decorator:
    kinds = click.Choice([*_KINDS, _USUAL])
    metavar = f"[{'|'.join(_KINDS)}]"
    return click.option(name, is_flag=False, flag_value=_USUAL, type=kinds, metavar=metavar, help=help_line)


@click.command("watch")
@options.named_sources
@options.archive
@click.option(
    "--interval",
    type=click.FloatRange(min=1),
    default=_INTERVAL,
    show_default=True,
    metavar="SECONDS",
    help="Look at everything at least so often, in case an event was lost.",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Look so often instead of waiting for file events, which network file systems do not have.",
)
@_service_option("--install", "Have it started by this; by what fits the machine where none is named.")
@_service_option("--uninstall", "Undo that; all of it where none is named.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
def command(
    archive: Path, source: tuple[Path, ...], interval: float, poll: float | None, quiet: bool, **given: Any
) -> None:
    """Keep the archive up to date while sessions go on.

    \b
    unspool watch                     here, until Ctrl-C
    unspool watch --install           always, started by systemd, launchd or cron
    unspool watch --install hooks     whenever Claude Code ends or compacts a session
    unspool watch --uninstall         no longer
    unspool watch --poll 30           where files change without file events

    It syncs once, then whenever logs have changed, and uses no more than a twentieth of a core. What --install
    and --uninstall would write and run is shown before it is done. Only `hooks` ever changes a file of the agent:
    two entries in its settings.json, put there and taken out by these commands.

    Ends with 0 when asked to by SIGTERM, with 130 after Ctrl-C, and with 7 where the archive is watched already.
    """
    wanted, install, uninstall = (
        WatchOptions(archive, source, interval, poll or 0.0),
        given["install"],
        given["uninstall"],
    )
    if install and uninstall:
        raise UsageProblem("Either --install or --uninstall.")
    if install or uninstall:
        _change_service(wanted, install or "", uninstall or "", yes=given["yes"])
    else:
        _follow(wanted, quiet)


def _change_service(wanted: WatchOptions, install: str, uninstall: str, *, yes: bool) -> None:
    """Show what would be done, ask, and do it."""
    from unspool.render.sanitize import safe_row
    from unspool.store.archive.database import ARCHIVE, KEY_FILE, is_encrypted
    from unspool.store.sync import service

    kind = (install or uninstall).replace(_USUAL, "")
    if install:
        key_file = os.environ.get(KEY_FILE)
        if not key_file and is_encrypted(wanted.archive / ARCHIVE):  # a service has nobody to ask for a passphrase
            raise UsageProblem(
                f"The archive in {wanted.archive} is encrypted: a service needs its key in a file, --key-file FILE."
            )
        job = service.service_job(wanted.archive, wanted.sources, Path(key_file) if key_file else None, wanted.pace())
        plan = service.install(kind, job)
    else:
        plan = service.uninstall(kind)
    for line in service.plan_lines(plan):
        click.echo(safe_row(line))
    if not plan.steps:
        click.echo("Nothing to do.")
        return
    if not yes and not sys.stdin.isatty():
        raise UsageProblem("Nothing was done: give --yes to do this without being asked.")
    if yes or click.confirm("Do this?"):
        service.perform_plan(plan)
        click.echo("Done.")
    else:
        click.echo("Nothing was done.")


def _follow(wanted: WatchOptions, quiet: bool) -> None:
    from unspool.store.library.library import usual_roots
    from unspool.store.sync.lock import Stopped, StopSignal, sole_lock

    stop, key = StopSignal(), options.key_of(wanted.archive)
    sources = wanted.sources or settings.wanted_sources() or tuple(usual_roots())
    with stop.heeding(), sole_lock(wanted.archive):
        there = [source for source in sources if source.is_dir()]
        for source in () if quiet else there:
            _say(f"Watching {source} for {wanted.archive}.")
        if not there and not quiet:
            _say(f"There is no folder {' or '.join(map(str, sources))} yet; it is kept as soon as it is there.")
        try:
            _watch(wanted._replace(sources=sources), key, _Voice(quiet), stop)
        except Stopped:
            if not stop.interrupted:
                return
    if stop.interrupted:
        raise KeyboardInterrupt


def _watch(wanted: WatchOptions, key: str | None, voice: "_Voice", stop: "StopSignal") -> None:
    from concurrent.futures import BrokenExecutor

    import apsw

    from unspool.agents import AGENTS
    from unspool.store.sync import sync
    from unspool.store.sync.watch import Watcher, WatchPace, WatchTarget

    def lively(root: Path) -> list[Path]:
        return list(dict.fromkeys(path for format_ in AGENTS for path in format_.watched_paths(root)))

    Watcher(
        lambda changed: sync(wanted.archive, changed, None, key, settings.price_table()),
        WatchTarget(wanted.sources, lively, wanted.archive),
        voice,
        stop,
        WatchPace(interval=wanted.interval, poll=wanted.poll),
        (UnspoolError, OSError, apsw.Error, BrokenExecutor),
    ).follow()


def _say(text: str, *, err: bool = False) -> None:
    from unspool.render.sanitize import one_line

    now = datetime.now().astimezone().strftime("%H:%M:%S")
    click.echo(f"{now}  {one_line(text)}", err=err)


class _Voice:
    """Tells what happens, a line each: what was kept, unless that is nothing; what went wrong, always."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._failures: set[str] = set()

    def synced(self, report: "SyncReport") -> None:
        for failure in report.failures:
            if failure not in self._failures:  # once: a log that cannot be read now cannot be read in ten minutes
                _say(failure, err=True)
        self._failures |= set(report.failures)
        if report.changed and not self._quiet:
            counts = (
                ("new", report.new),
                ("grown", report.grown),
                ("rewritten", report.rewritten),
                ("gone", report.gone),
            )
            files = ", ".join(f"{human.count(count, f'{what} file')}" for what, count in counts if count) or "no file"
            kept = f"{files}, {human.size(report.bytes)} kept; {human.count(report.parsed, 'session')} indexed"
            _say(f"{kept} ({human.duration(report.seconds)})")

    def failed(self, why: Exception, wait: float) -> None:
        _say(f"The sync failed: {why} It is tried again in {human.duration(wait)}.", err=True)

    def deaf(self, why: OSError, poll: float) -> None:
        _say(f"No file events ({why}); looking every {human.duration(poll)} instead.", err=True)
