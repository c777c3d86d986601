"""`unspool sync`, `watch` and `doctor`: the archive kept up to date, and what endangers sessions."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool import human
from unspool.cli import options, settings
from unspool.cli.output import WORTH_A_BAR, complain, console, print_json, printable_data, progress_bar
from unspool.errors import UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.store.sync import SyncReport
    from unspool.store.sync.doctor_scene import DoctorFinding, Level
    from unspool.store.sync.lock import StopSignal
    from unspool.store.sync.service.plan import InstallPlan


@click.command("sync")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something went wrong.")
@options.named_sources
@options.archive
def sync_command(as_json: bool, quiet: bool, source: tuple[Path, ...], archive: Path) -> None:
    """Keep everything new of your sessions, for good, and make it searchable.

    \b
    unspool sync                            from the agent's own folder
    unspool sync -s /backup/old-laptop      from a copy elsewhere
    unspool sync --archive /nas/unspool     into an archive elsewhere

    Logs and all that belongs to them are copied byte for byte, compressed, into archive.db, which is readable by
    you alone. What is already kept costs nothing; what the agent deletes stays. Nothing is ever written to a source.
    """
    from unspool.store.sync import sync

    sources, choices = settings.chosen_sources(source), settings.sync_choices()
    with progress_bar("Keeping sessions", quiet=quiet or as_json, least=WORTH_A_BAR) as progress:
        report = sync(archive, sources, progress, options.key_of(archive), choices)
    complain(report.failures)
    if as_json:
        print_json(report)
    elif not quiet:
        click.echo(sync_summary(report, archive))
    if report.failures:
        sys.exit(5)


def _counts(report: "SyncReport") -> list[tuple[int, str]]:
    counts = ((report.new, "new"), (report.grown, "grown"), (report.rewritten, "rewritten"), (report.gone, "gone"))
    return [one for one in counts if one[0]]


def sync_summary(report: "SyncReport", archive: Path) -> str:
    if not report.changed:
        return f"Nothing new in {report.files} files."
    files = ", ".join(f"{count} {what}" for count, what in _counts(report)) or "none changed"
    gone = " What is gone stays in the archive." if report.gone else ""
    return (
        f"Kept {human.size(report.bytes)} in {archive} ({files} of {report.files} files)"
        f" and indexed {report.parsed} sessions in {report.seconds:.1f} s.{gone}"
    )


_WORDS: "dict[Level, str]" = {
    "bad": "Something must be done",
    "warn": "Worth a look",
    "note": "Good to know",
    "ok": "All well",
}
_STYLES: "dict[Level, str]" = {"bad": "bold red", "warn": "yellow", "note": "cyan", "ok": "green"}
_LISTED = 5
"""Details that are printed of each finding; `--json` has all."""


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every path.")
@options.named_sources
@options.archive
def doctor_command(as_json: bool, source: tuple[Path, ...], archive: Path) -> None:
    """Tell what is at risk, and how to mend it.

    \b
    unspool doctor                 look at your sessions and the archive
    unspool doctor --json | jq '.findings[] | select(.level == "bad")'

    It tells what Claude Code will delete by itself and when, what is not kept yet, logs that stopped growing while
    their session runs, what cannot be read, and which sessions are gone already. It writes nothing. The exit code
    is 1 where something must be done, 0 otherwise.
    """
    from unspool.store.sync.doctor import diagnose

    try:
        key = options.key_of(archive)
    except UnspoolError:  # that the archive cannot be read is a finding like others
        key = None
    findings = tuple(diagnose(settings.chosen_sources(source), archive, datetime.now(UTC), key))
    if as_json:
        print_json({"findings": findings})
    else:
        _print(findings)
    if any(finding.level == "bad" for finding in findings):
        sys.exit(1)


def _print(findings: "tuple[DoctorFinding, ...]") -> None:
    from rich.text import Text

    to = console()
    groups = [(level, [one for one in findings if one.level == level]) for level in _WORDS]
    for level, group in ((level, group) for level, group in groups if group):
        to.print(Text(_WORDS[level], _STYLES[level]))
        for finding in group:
            to.print(Text("\n".join(_finding_lines(finding))), soft_wrap=True)
        to.print()


def _finding_lines(finding: "DoctorFinding") -> list[str]:
    """A finding in lines that cannot drive the terminal."""
    from unspool.render.sanitize import one_line

    def safe(text: str) -> str:
        return one_line(printable_data(text))

    found = [f"  {safe(finding.message)}"]
    if finding.level != "ok":
        found += [f"      {safe(detail)}" for detail in finding.details[:_LISTED]]
        if len(finding.details) > _LISTED:
            found.append(f"      and {len(finding.details) - _LISTED:,} more")
    if finding.remedy:
        found.append(f"    → {safe(finding.remedy)}")
    return found


_KINDS = ("systemd", "launchd", "cron", "hooks")
_USUAL = "usual"
_INTERVAL = 600
_SPAN = click.FloatRange(min=1)
_AT_LEAST = "Look at everything at least so often, in case an event was lost."
_INSTEAD = "Look so often instead of waiting for file events, which network file systems do not have."


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
@click.option("--interval", type=_SPAN, default=_INTERVAL, show_default=True, metavar="SECONDS", help=_AT_LEAST)
@click.option("--poll", type=_SPAN, metavar="SECONDS", help=_INSTEAD)
@_service_option("--install", "Have it started by this; by what fits the machine where none is named.")
@_service_option("--uninstall", "Undo that; all of it where none is named.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
def watch_command(
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
    wanted = WatchOptions(archive, source, interval, poll or 0.0)
    install, uninstall = given["install"], given["uninstall"]
    if install and uninstall:
        raise UsageProblem("Either --install or --uninstall.")
    if install or uninstall:
        _change_service(wanted, install or "", uninstall or "", yes=given["yes"])
    else:
        _follow(wanted, quiet)


def _change_service(wanted: WatchOptions, install: str, uninstall: str, *, yes: bool) -> None:
    """Have it started by something, or no longer."""
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.keys import KEY_FILE, is_encrypted
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
    confirm_plan(plan, yes=yes)


def confirm_plan(plan: "InstallPlan", *, yes: bool) -> None:
    """Show what would be done, ask, and do it."""
    from unspool.render.sanitize import safe_row
    from unspool.store.sync import service

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
    from unspool.store.library.discover import usual_roots
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

    from unspool.store.library.discover import watched_paths
    from unspool.store.sync import sync
    from unspool.store.sync.watch import Watcher, WatchPace, WatchTarget

    Watcher(
        lambda changed: sync(wanted.archive, changed, None, key, settings.sync_choices()),
        WatchTarget(wanted.sources, watched_paths, wanted.archive),
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
            counts = (human.count(count, f"{what} file") for count, what in _counts(report))
            files = ", ".join(counts) or "no file"
            kept = f"{files}, {human.size(report.bytes)} kept; {human.count(report.parsed, 'session')} indexed"
            _say(f"{kept} ({human.duration(report.seconds)})")

    def failed(self, why: Exception, wait: float) -> None:
        _say(f"The sync failed: {why} It is tried again in {human.duration(wait)}.", err=True)

    def deaf(self, why: OSError, poll: float) -> None:
        _say(f"No file events ({why}); looking every {human.duration(poll)} instead.", err=True)
