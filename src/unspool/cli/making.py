"""The options of every command that makes a site, and one session made into pages as they say."""

import shutil
import tempfile
import webbrowser
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from unspool.cli.paging import page_options, with_options
from unspool.errors import UsageProblem
from unspool.figures import figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.address import slug
from unspool.site.options import SiteOptions

Command = Callable[..., Any]


class Making(msgspec.Struct, frozen=True):
    """What is asked for besides the pages themselves."""

    site: SiteOptions = SiteOptions()
    output: Path | None = None
    auto: bool = False
    copy: bool = False
    open: bool = False
    gist: bool = False
    public: bool = False
    allow_secrets: bool = False

    @property
    def shows(self) -> bool:
        """Whether the browser opens."""
        return self.open or not (self.output or self.auto or self.gist)


_ONE = [
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH",
                 help="A folder; or one file where it ends with .html."),
    click.option("-a", "--output-auto", "auto", is_flag=True, help="Into a folder named after the session."),
    click.option("--json", "copy", is_flag=True, help="Put a copy of the log beside the pages."),
    click.option("--open", "open_", is_flag=True, help="Open the browser; the default without -o, -a and --gist."),
    click.option("--gist", is_flag=True, help="Publish as a secret gist, through gh."),
    click.option("--public", is_flag=True, help="Make the gist a public one."),
    click.option("--allow-secrets", is_flag=True, help="Publish secrets too, which are replaced otherwise."),
]  # fmt: skip


def making_options(command: Command) -> Command:
    """How one session is made, for a command that takes `making`."""

    @wraps(command)
    def run(*args: Any, site: SiteOptions, **given: Any) -> Any:
        names = ("output", "auto", "copy", "gist", "public", "allow_secrets")
        asked = {name: given.pop(name) for name in names}
        return command(*args, making=checked(Making(site, open=given.pop("open_"), **asked)), **given)

    return with_options(page_options(run), _ONE)


def checked(making: Making) -> Making:
    """What was asked for, made whole; UsageProblem where it contradicts itself."""
    if (making.public or making.allow_secrets) and not making.gist:
        raise UsageProblem("--public and --allow-secrets say something of a gist: add --gist.")
    if making.gist and making.copy:
        raise UsageProblem("--json would publish the whole log in the gist: leave one of them out.")
    if not is_file(making):
        return making
    if making.auto or making.copy or making.gist:
        raise UsageProblem(f"{making.output} is one file: -a, --json and --gist need a folder.")
    return msgspec.structs.replace(making, site=single(making.site))


def is_file(making: Making) -> bool:
    return making.output is not None and making.output.suffix.lower() in (".html", ".htm")


def single(site: SiteOptions) -> SiteOptions:
    return msgspec.structs.replace(site, single_page=True, self_contained=True)


def make(session: Session, making: Making, prices: PriceTable, source: Path | None = None) -> None:
    """Make a session's pages, and publish or open them as asked; `source` is the log, to copy or to publish from."""
    from unspool.site.build.one import write_file, write_folder

    counted = figures(session, prices)
    if making.gist:
        _publish(making, prices, source)
        if making.output is None and not making.auto:
            return
    target = _target(session, making)
    if is_file(making):
        first = write_file(session, counted, making.site, target)
    else:
        first = write_folder(session, counted, making.site, target)
        if making.copy and source is not None:
            shutil.copyfile(source, target / source.name)
    click.echo(str(first))
    if making.shows:
        show(first)


def _target(session: Session, making: Making) -> Path:
    name = slug(session.id)
    if making.auto:
        return (making.output or Path()) / name
    return making.output or Path(tempfile.mkdtemp(prefix=f"unspool-{name[:40]}-"))


def show(page: Path) -> None:
    """Open a page in the browser; where there is none, its address is already printed."""
    if not webbrowser.open(page.resolve().as_uri()):
        click.echo("No browser could be opened; open the page yourself.", err=True)


def _publish(making: Making, prices: PriceTable, source: Path | None) -> None:
    from unspool.cli.publishing import published

    if source is None:
        raise UsageProblem("--gist needs a log that can be read more than once.")
    made = published(source, making.site, prices, allow=making.allow_secrets, public=making.public)
    click.echo(f"Gist: {made.gist.address}\nPreview: {made.gist.preview}")
    click.echo(made.note, err=True)
    if making.open:
        webbrowser.open(made.gist.preview)
