"""`unspool json`, `local`, `web` and `all`: sessions as web pages."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from unspool import human
from unspool.agents import FoundLog
from unspool.agents.web_sessions import RemoteSession, WebAccount, connect
from unspool.cli import options, settings, terminal
from unspool.cli.page_options import PAGES, PageMaking, make_pages, making_options, open_page
from unspool.cli.picker import PickerChoice, pick_one
from unspool.cli.session_tables import is_hidden, kept_mark
from unspool.errors import NotFound
from unspool.files import scratch_folder
from unspool.model import Overview
from unspool.prices import PriceTable
from unspool.render.sanitize import one_line
from unspool.site.address import slug
from unspool.site.build.plan import BuildFailure, BuildOptions, BuildPlan, BuildProgress, BuildReport, build_site
from unspool.site.options import SiteOptions
from unspool.store.library import Library, read_stream


@click.command("json")
@click.argument("session", metavar="FILE|URL|SESSION")
@making_options
@options.sources
def json_command(session: str, making: PageMaking, library: Library) -> None:
    """Make a web page of one log or session.

    \b
    unspool json session.jsonl -o pages/           a folder of pages
    unspool json latest                            the newest session, in the browser
    unspool json 3f2a -o talk.html                 one file that needs nothing else
    unspool json https://example.org/log.jsonl -a  a folder named after the session
    unspool json 3f2a --gist                       a secret gist, with what must not leave replaced

    FILE may be JSON lines or the JSON of a web export, also packed with gzip or zstd; "-" is standard input.
    """
    found = library.resolve(session)
    if isinstance(found, FoundLog):
        with library.located(found) as here:
            make_pages(library.open(found), making, library.prices, Path(here.path))
        return
    from unspool.files import scratch_folder

    with scratch_folder() as folder:
        kept = _kept(found, folder) if making.copy or making.gist else None
        make_pages(library.open(str(kept) if kept else found), making, library.prices, kept)


def _kept(name: str, folder: Path) -> Path:
    """The log as a file, so that it can be read and copied as well."""
    from unspool.http import fetch
    from unspool.store.library.inputs import is_url

    path = Path(name)
    if is_url(name):
        path = folder / _file_name(name)
        path.write_bytes(fetch(name))
    elif name == "-":
        path = folder / "stdin.jsonl"
        path.write_bytes(sys.stdin.buffer.read())
    return path


def _file_name(url: str) -> str:
    """The last part of an address as a file name, with a log's suffix."""
    last = urlsplit(url).path.rpartition("/")[2]
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in last).lstrip(".")[:100]
    return plain if plain.endswith((".json", ".jsonl", ".gz", ".zst")) else f"{plain or 'session'}.jsonl"


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@click.command("local")
@making_options
@click.option("--limit", type=click.IntRange(min=1), help="Offer at most so many; all on a terminal, else 10.")
@options.sources
def local_command(making: PageMaking, limit: int | None, library: Library) -> None:
    """Choose a session and make a web page of it.

    Sessions of the project that you are in come first, then the newest. Type to filter by title, project or
    date; without a terminal the sessions are numbered, and the number is read from standard input.
    """
    with terminal.progress(sum(log.size for log in library.logs()), "Reading sessions") as done:
        found = [overview for overview in library.overviews(done) if not is_hidden(overview)]
    if not found:
        raise NotFound("No sessions were found. `unspool local --demo` shows what they look like.")
    offered = sessions_to_choose(found, Path.cwd())
    picked = pick_one([session_choice(overview) for overview in offered], limit)
    if picked is None:
        click.echo("No session selected.", err=True)
        return
    log = next(log for log in library.logs() if log.path == offered[picked].log.path)
    with library.located(log) as here:
        make_pages(library.open(log), making, library.prices, Path(here.path))


def sessions_to_choose(found: list[Overview], here: Path) -> list[Overview]:
    """The sessions of the project we are in, then the others; newest first."""

    def rank(overview: Overview) -> tuple[bool, float]:
        when = overview.ended or overview.log.modified or _LONG_AGO
        return not _inside(here, overview.project), -when.timestamp()

    return sorted(found, key=rank)


def _inside(here: Path, project: str) -> bool:
    """Whether a folder is a project's, or lies below it."""
    place = Path(project)
    return place.is_absolute() and (here == place or place in here.parents)


def session_choice(overview: Overview) -> PickerChoice:
    when = overview.ended or overview.log.modified
    shown = human.minute(when, settings.chosen_zone())
    turns = human.count(overview.turns, "turn")
    project = one_line(human.last_part(overview.project))[:24]
    return PickerChoice(
        (shown, f"{turns:>9}", f"{human.size(overview.size):>7}", project), f"{kept_mark(overview)}{overview.title}"
    )


@click.command("web")
@click.argument("session", required=False, metavar="[ID]")
@click.option("--token", default="", metavar="TOKEN", help="Access token; better in UNSPOOL_WEB_TOKEN.")
@click.option("--org-uuid", default="", metavar="UUID", help="Organisation; or UNSPOOL_WEB_ORGANIZATION.")
@click.option("--base-url", default="", metavar="URL", help="The service's address; or UNSPOOL_WEB_URL.")
@click.option("--limit", type=click.IntRange(min=1), help="Offer at most so many; all on a terminal, else 10.")
@making_options
def web_command(
    session: str | None, token: str, org_uuid: str, base_url: str, limit: int | None, making: PageMaking
) -> None:
    """Make a web page of a session that is kept on the web.

    For Claude Code on the web. Without an ID your sessions are listed to choose from; --repo OWNER/NAME lists
    only those of a repository.

    \b
    Token          --token, UNSPOOL_WEB_TOKEN, CLAUDE_CODE_OAUTH_TOKEN, or the macOS keychain
    Organisation   --org-uuid, UNSPOOL_WEB_ORGANIZATION, or .claude.json

    The service is not documented and changes; what it answers is checked, and a change is told as such.
    """
    remote = connect(WebAccount(token, org_uuid, base_url))
    picked = session or _picked(list(remote.sessions()), making.site.repository, limit)
    if not picked:
        click.echo("No session selected.", err=True)
        return
    with scratch_folder() as folder:
        log = folder / f"{slug(picked)}.jsonl"
        log.write_bytes(remote.log(picked))
        make_pages(read_stream(str(log)), making, PriceTable.load(settings.price_file()), log)


def _picked(listed: Sequence[RemoteSession], repository: str, limit: int | None) -> str:
    """The id of the session that a person picks; empty where none is picked."""
    wanted = repository.removeprefix("https://github.com/").casefold()
    offered = [one for one in listed if wanted in one.repository.casefold()]
    if not offered:
        raise NotFound(f"No session of {repository} is there." if listed and repository else "No sessions are there.")
    at = pick_one([_choice(one) for one in offered], limit)
    return offered[at].id if at is not None else ""


def _choice(one: RemoteSession) -> PickerChoice:
    when = one.updated or one.created
    shown = human.minute(when, settings.chosen_zone())
    return PickerChoice(
        (shown, one_line(one.repository)[:30] or "(no repository)", one_line(one.status)[:10]), one.title
    )


_LISTED = 3
_FAILURES = 20


def _build_options(jobs: int | None, **given: Any) -> BuildOptions:
    site = SiteOptions(**{name: given.pop(name) for name in SiteOptions.__struct_fields__})
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return BuildOptions(site, jobs or cores, prices=str(settings.price_file() or ""), **given)


_build = options.as_argument(
    "wanted",
    _build_options,
    *PAGES,
    click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT."),
    click.option("--include-agents", "strays", is_flag=True, help="Also subagents' logs whose session is gone."),
    click.option("--force", is_flag=True, help="Make every session again."),
    click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes at once; one a core by default."),
)


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
@_build
@options.sources
def all_command(output: Path, dry_run: bool, open_: bool, quiet: bool, wanted: BuildOptions, library: Library) -> None:
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
        _tell(BuildPlan(logs, output, wanted))
        return
    with _progress(quiet=quiet) as watch:
        report = build_site(logs, output, wanted, watch)
    if not quiet:
        click.echo(_summary(report, output))
    _fail(report.failures)
    if open_:
        open_page(output / "index.html")
    if report.failures:
        sys.exit(1)


def _tell(plan: BuildPlan) -> None:
    """Projects with how much is to be made of each."""
    from unspool.render.sanitize import one_line

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


def _summary(report: BuildReport, output: Path) -> str:
    """What was done, in one line; that there was nothing to do, too."""
    if not report.made and not report.indexed and not report.failures:
        return f"Nothing has changed: {human.count(report.unchanged, 'session')} in {output / 'index.html'}"
    parts = [f"{human.count(report.made, 'session')} made ({human.count(report.files, 'file')})"]
    parts += [f"{report.unchanged} unchanged"] if report.unchanged else []
    parts += [f"{human.count(report.empty, 'log')} without conversation"] if report.empty else []
    parts += [f"{report.gone} kept though their logs are gone"] if report.gone else []
    return f"{', '.join(parts)}: {output / 'index.html'}"


def _fail(failures: Sequence[BuildFailure]) -> None:
    if not failures:
        return
    from unspool.render.sanitize import one_line

    click.echo(f"{human.count(len(failures), 'session')} could not be made:", err=True)
    for failure in failures[:_FAILURES]:
        click.echo(f"  {one_line(failure.log)}: {one_line(failure.why)}", err=True)
    if len(failures) > _FAILURES:
        click.echo(f"  … and {len(failures) - _FAILURES} more", err=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[BuildProgress]:
    """A bar with rate and time left on standard error, where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from unspool.cli.terminal import progress_bar

    with progress_bar("Making pages") as advance:
        yield advance
