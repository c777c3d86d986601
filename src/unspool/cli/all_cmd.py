"""`unspool all`: every session as one web site."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import msgspec

from unspool import human
from unspool.cli import chosen, options
from unspool.cli.paging import page_options, with_options
from unspool.library import Library
from unspool.site.build.plan import Plan, Wanted
from unspool.site.build.report import Failure, Report, Watch
from unspool.site.build.whole import build

Command = Callable[..., Any]

_LISTED = 3
_FAILURES = 20


def _wanted(command: Command) -> Command:
    """How the site is made, for a command that takes `wanted`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        own = chosen.prices()
        fields = {name: given.pop(name) for name in ("project", "force", "strays")}
        jobs = given.pop("jobs") or _cores()
        return command(*args, wanted=Wanted(given.pop("site"), jobs, prices=str(own or ""), **fields), **given)

    return page_options(with_options(run, _OPTIONS))


_OPTIONS = [
    click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT."),
    click.option("--include-agents", "strays", is_flag=True, help="Also subagents' logs whose session is gone."),
    click.option("--force", is_flag=True, help="Make every session again."),
    click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes at once; one a core by default."),
]


@click.command("all")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default="unspool-site",
    show_default=True,
    metavar="DIR",
    help="The site's folder.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be made, and make nothing.")
@click.option("--open", "open_", is_flag=True, help="Open the site in the browser.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
@_wanted
@options.sources
def command(output: Path, dry_run: bool, open_: bool, quiet: bool, wanted: Wanted, library: Library) -> None:
    """Make a web site of all your sessions.

    \b
    unspool all                        every project, into ./unspool-site
    unspool all -o ~/sessions --open   again, quickly: only what has changed is made
    unspool all -p shop --dry-run      what would be made of one project

    A second run makes only sessions that have changed; sessions whose logs are gone stay, and those that only your
    archive has are made from it, marked as kept. It may be stopped at any time: the site is whole, and the next run
    goes on. Subagents are shown in their session.

    Ends with 1 if a session could not be made; the others are.
    """
    logs, wanted = library.logs(), msgspec.structs.replace(wanted, kept=library.kept)
    if dry_run:
        _tell(Plan(logs, output, wanted))
        return
    with _progress(quiet=quiet) as watch:
        report = build(logs, output, wanted, watch)
    if not quiet:
        click.echo(_summary(report, output))
    _fail(report.failures)
    if open_:
        from unspool.cli.making import show

        show(output / "index.html")
    if report.failures:
        sys.exit(1)


def _cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _tell(plan: Plan) -> None:
    """Projects with how much is to be made of each."""
    from unspool.export.inert import one_line

    todo = {step.id for step in plan.todo}
    where = {step.id: plan.manifest.projects[plan.manifest.sessions[step.id].project].path for step in plan.steps}
    for path, group in groupby(sorted(plan.steps, key=lambda step: where[step.id]), key=lambda step: where[step.id]):
        steps = sorted(group, key=lambda step: -step.found.modified)
        click.echo(f"{one_line(path)}: {human.count(len(steps), 'log')}, {sum(s.id in todo for s in steps)} to make")
        for step in steps[:_LISTED]:
            click.echo(f"  {one_line(step.found.session_id)}  {human.size(step.found.size)}")
        if len(steps) > _LISTED:
            click.echo(f"  … and {len(steps) - _LISTED} more")
    click.echo(f"{human.count(len(plan.todo), 'session')} of {len(plan.steps)} would be made.")


def _summary(report: Report, output: Path) -> str:
    """What was done, in one line; that there was nothing to do, too."""
    if not report.made and not report.indexed and not report.failures:
        return f"Nothing has changed: {human.count(report.unchanged, 'session')} in {output / 'index.html'}"
    parts = [f"{human.count(report.made, 'session')} made ({human.count(report.files, 'file')})"]
    parts += [f"{report.unchanged} unchanged"] if report.unchanged else []
    parts += [f"{human.count(report.empty, 'log')} without conversation"] if report.empty else []
    parts += [f"{report.gone} kept though their logs are gone"] if report.gone else []
    return f"{', '.join(parts)}: {output / 'index.html'}"


def _fail(failures: Sequence[Failure]) -> None:
    if not failures:
        return
    from unspool.export.inert import one_line

    click.echo(f"{human.count(len(failures), 'session')} could not be made:", err=True)
    for failure in failures[:_FAILURES]:
        click.echo(f"  {one_line(failure.log)}: {one_line(failure.why)}", err=True)
    if len(failures) > _FAILURES:
        click.echo(f"  … and {len(failures) - _FAILURES} more", err=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Watch]:
    """A bar with rate and time left on standard error, where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from unspool.cli.bar import bar

    with bar("Making pages") as advance:
        yield advance
