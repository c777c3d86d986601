"""`unspool json`, `local`, `web` and `all`: sessions as web pages."""

import os
import shutil
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

import click
import msgspec

from unspool import human
from unspool.agents import FoundLog
from unspool.agents.web_sessions import RemoteSession, WebAccount, connect
from unspool.cli import options, settings
from unspool.cli.list_cmd import kept_mark
from unspool.cli.options import as_argument
from unspool.cli.output import progress, progress_bar
from unspool.cli.picker import PickerChoice, pick_one
from unspool.errors import NotFound, UsageProblem
from unspool.figures import figures
from unspool.files import scratch_folder
from unspool.model import Overview, Session
from unspool.model.session import is_unlisted
from unspool.prices import PriceTable
from unspool.render.sanitize import one_line
from unspool.site.address import slug
from unspool.site.build.plan import BuildOptions, BuildPlan, BuildReport, build_site
from unspool.site.options import KINDS, SiteOptions, Theme
from unspool.site.session_view import web_address
from unspool.store.library import Library, read_stream

if TYPE_CHECKING:
    from unspool.redact.replacements import SecretFinding
    from unspool.share.choices import ShareChoices


def parse_hidden_kinds(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> frozenset[str]:
    """Kinds of blocks, with commas or given several times."""
    named = frozenset(part.strip().lower() for one in value for part in one.split(",") if part.strip())
    if unknown := sorted(named - set(KINDS)):
        raise click.BadParameter(f"{', '.join(unknown)}: can hide {', '.join(KINDS)}.")
    return named


def parse_repository(_: click.Context, __: click.Parameter, value: str) -> str:
    """A repository that pages can link to."""
    if value and not web_address(value):
        raise click.BadParameter(f"“{value}” is no repository; owner/name is one, or an address such as https://...")
    return value


PAGES = (
    click.option("--repo", "repository", default="", callback=parse_repository, metavar="OWNER/NAME",
                 help="Link commits and files there."),
    click.option("--per-page", type=click.IntRange(min=1), default=5, show_default=True,
                 help="Prompts on a page, at most."),
    click.option("--single-page", is_flag=True, help="A whole session on one page."),
    click.option("--self-contained", is_flag=True, help="Styles and scripts inside each page."),
    click.option("--theme", type=click.Choice(get_args(Theme)), default="system", show_default=True, help="Colours."),
    click.option("--hide", multiple=True, callback=parse_hidden_kinds, metavar="KINDS",
                 help=f"Leave out, with commas: {', '.join(KINDS)}."),
)  # fmt: skip
"""How pages are made: the fields of SiteOptions."""


class PageMaking(msgspec.Struct, frozen=True):
    site: SiteOptions = SiteOptions()
    output: Path | None = None
    auto: bool = False
    copy: bool = False
    open: bool = False
    gist: bool = False
    public: bool = False
    allow_secrets: bool = False

    @property
    def one_file(self) -> bool:
        return self.output is not None and self.output.suffix.lower() in (".html", ".htm")


_ONE = (
    click.option("-o", "--output", type=options.PATH, metavar="PATH",
                 help="A folder; or one file where it ends with .html."),
    click.option("-a", "--output-auto", "auto", is_flag=True, help="Into a folder named after the session."),
    click.option("--json", "copy", is_flag=True, help="Put a copy of the log beside the pages."),
    click.option("--open", is_flag=True, help="Open the browser; the default without -o, -a and --gist."),
    click.option("--gist", is_flag=True, help="Publish as a secret gist, through gh."),
    click.option("--public", is_flag=True, help="Make the gist a public one."),
    click.option("--allow-secrets", is_flag=True, help="Publish secrets too, which are replaced otherwise."),
)  # fmt: skip


def _making(**given: Any) -> PageMaking:
    """What was asked for; UsageProblem where it contradicts itself."""
    site = SiteOptions(**{name: given.pop(name) for name in SiteOptions.__struct_fields__})
    making = PageMaking(site, **given)
    if (making.public or making.allow_secrets) and not making.gist:
        raise UsageProblem("--public and --allow-secrets say something of a gist: add --gist.")
    if making.gist and making.copy:
        raise UsageProblem("--json would publish the whole log in the gist: leave one of them out.")
    if not making.one_file:
        return making
    if making.auto or making.copy or making.gist:
        raise UsageProblem(f"{making.output} is one file: -a, --json and --gist need a folder.")
    single = msgspec.structs.replace(site, single_page=True, self_contained=True)
    return msgspec.structs.replace(making, site=single)


making_options = as_argument("making", _making, *_ONE, *PAGES)
"""How the pages of one session are made."""


def make_pages(session: Session, making: PageMaking, prices: PriceTable, source: Path | None = None) -> None:
    """Make a session's pages, and publish or open them as asked; `source` is the log, to copy or to publish from."""
    from unspool.site.turn_pages import write_file, write_folder

    if making.gist:
        _publish(making, prices, source)
        if making.output is None and not making.auto:
            return
    counted, name = figures(session, prices), slug(session.id)
    if making.auto:
        target = (making.output or Path()) / name
    else:
        target = making.output or Path(tempfile.mkdtemp(prefix=f"unspool-{name[:40]}-"))
    if making.one_file:
        first = write_file(session, counted, making.site, target)
    else:
        first = write_folder(session, counted, making.site, target)
        if making.copy and source is not None:
            shutil.copyfile(source, target / source.name)
    click.echo(str(first))
    if making.open or not (making.output or making.auto or making.gist):
        open_page(first)


def open_page(page: Path) -> None:
    """Open a page in the browser; where there is none, its address is already printed."""
    if not webbrowser.open(page.resolve().as_uri()):
        click.echo("No browser could be opened; open the page yourself.", err=True)


def _publish(making: PageMaking, prices: PriceTable, source: Path | None) -> None:
    """Publish the session of a log as a gist, redacted as it was chosen for its project."""
    from unspool.share.choices import ShareSettings, load_choices
    from unspool.share.prepare import prepare_shares
    from unspool.share.publish import publish_share_gist
    from unspool.store.library import Library

    if source is None:
        raise UsageProblem("--gist needs a log that can be read more than once.")
    review = _keep_secrets if making.allow_secrets else None
    ask = ShareSettings(load_choices, options.redaction_rules(), review=review)
    with prepare_shares(Library(prices=prices), [str(source.absolute())], ask) as share:
        gist = publish_share_gist(share, making.site, prices, public=making.public)
    click.echo(f"Gist: {gist.address}\nPreview: {gist.preview}")
    click.echo(share.report.note(), err=True)
    if making.open:
        webbrowser.open(gist.preview)


def _keep_secrets(findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
    secret = {one.match.rule for one in findings if one.match.kind == "secret"}
    return msgspec.structs.replace(choices, keep=choices.keep | secret)


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

    with scratch_folder() as folder:
        kept = _kept(found, folder) if making.copy or making.gist else None
        make_pages(library.open(str(kept) if kept else found), making, library.prices, kept)


def _kept(name: str, folder: Path) -> Path:
    """The log as a file, so that it can be read and copied as well."""
    from unspool.http import fetch
    from unspool.store.library.inputs import is_url

    path = Path(name)
    if is_url(name):
        last = urlsplit(name).path.rpartition("/")[2]
        plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in last).lstrip(".")[:100]
        known = plain.endswith((".json", ".jsonl", ".gz", ".zst"))
        path = folder / (plain if known else f"{plain or 'session'}.jsonl")
        path.write_bytes(fetch(name))
    elif name == "-":
        path = folder / "stdin.jsonl"
        path.write_bytes(sys.stdin.buffer.read())
    return path


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
    with progress(sum(log.total_size for log in library.logs()), "Reading sessions") as done:
        found = [overview for overview in library.overviews(done) if not is_unlisted(overview.kind, overview.title)]
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
        when, project = overview.ended or overview.log.modified or _LONG_AGO, Path(overview.project)
        inside = project.is_absolute() and (here == project or project in here.parents)
        return not inside, -when.timestamp()

    return sorted(found, key=rank)


def session_choice(overview: Overview) -> PickerChoice:
    when = human.minute(overview.ended or overview.log.modified, settings.chosen_zone())
    turns, size = human.count(overview.turns, "turn"), human.size(overview.size)
    project = one_line(human.last_part(overview.project))[:24]
    return PickerChoice((when, f"{turns:>9}", f"{size:>7}", project), f"{kept_mark(overview)}{overview.title}")


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
    Token          --token, UNSPOOL_WEB_TOKEN, CLAUDE_CODE_OAUTH_TOKEN, the macOS keychain, or .credentials.json
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
        make_pages(read_stream(str(log)), making, settings.price_table(), log)


def _picked(listed: Sequence[RemoteSession], repository: str, limit: int | None) -> str:
    """The id of the session that a person picks; empty where none is picked."""
    wanted = repository.removeprefix("https://github.com/").casefold()
    offered = [one for one in listed if wanted in one.repository.casefold()]
    if not offered:
        raise NotFound(f"No session of {repository} is there." if listed and repository else "No sessions are there.")
    choices = []
    for one in offered:
        when = human.minute(one.updated or one.created, settings.chosen_zone())
        place, status = one_line(one.repository)[:30] or "(no repository)", one_line(one.status)[:10]
        choices.append(PickerChoice((when, place, status), one.title))
    at = pick_one(choices, limit)
    return offered[at].id if at is not None else ""


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


_SITE = "The site's folder.  [default: unspool-site]"


@click.command("all")
@click.option("-o", "--output", type=options.FOLDER, default="unspool-site", metavar="DIR", help=_SITE)
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
        _tell(BuildPlan(logs, output, wanted), wanted, library.overviews())
        return
    with progress_bar("Making pages", quiet=quiet) as advance:
        report = build_site(logs, output, wanted, advance)
    if not quiet:
        click.echo(_summary(report, output))
    if failures := report.failures:
        click.echo(f"{human.count(len(failures), 'session')} could not be made:", err=True)
        for failure in failures[:_FAILURES]:
            click.echo(f"  {one_line(failure.log)}: {one_line(failure.why)}", err=True)
        if len(failures) > _FAILURES:
            click.echo(f"  … and {len(failures) - _FAILURES} more", err=True)
    if open_:
        open_page(output / "index.html")
    if failures:
        sys.exit(1)


def _tell(plan: BuildPlan, wanted: BuildOptions, overviews: Sequence[Overview]) -> None:
    """Name every session that a run would make, by the same decision."""
    listed = {one.log.path: one for one in overviews if wanted.makes(one.kind, one.title)}
    steps = [step for step in plan.foreseen() if step.found.path in listed]
    where = {step.id: plan.manifest.projects[plan.manifest.sessions[step.id].project].path for step in steps}
    for path, group in groupby(sorted(steps, key=lambda step: where[step.id]), key=lambda step: where[step.id]):
        found = sorted(group, key=lambda step: -step.found.modified)
        click.echo(f"{one_line(path)}: {human.count(len(found), 'session')} to make")
        for step in found:
            size, title = human.size(step.found.size), listed[step.found.path].title
            click.echo(f"  {one_line(step.found.session_id[:8])}  {size:>7}  {one_line(title)}")
    every = sum(step.found.path in listed for step in plan.steps)
    click.echo(f"{human.count(len(steps), 'session')} of {every} would be made.")


def _summary(report: BuildReport, output: Path) -> str:
    if not (report.made or report.unchanged or report.empty or report.gone or report.failures):
        where = "`unspool agents --all` tells where they are looked for"
        return f"No sessions were found ({where}); an empty site is in {output / 'index.html'}"
    if not report.made and not report.indexed and not report.failures:
        return f"Nothing has changed: {human.count(report.unchanged, 'session')} in {output / 'index.html'}"
    parts = [f"{human.count(report.made, 'session')} made ({human.count(report.files, 'file')})"]
    parts += [f"{report.unchanged} unchanged"] if report.unchanged else []
    parts += [f"{human.count(report.empty, 'log')} without conversation"] if report.empty else []
    parts += [f"{report.gone} kept though their logs are gone"] if report.gone else []
    return f"{', '.join(parts)}: {output / 'index.html'}"
