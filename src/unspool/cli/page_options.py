"""Options of commands that make pages, and publishing a gist."""

import shutil
import tempfile
import webbrowser
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import click
import msgspec

from unspool.errors import UsageProblem
from unspool.figures import figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.address import slug
from unspool.site.options import KINDS, SiteOptions, Theme

if TYPE_CHECKING:
    from unspool.redact.replacements import SecretFinding
    from unspool.share.choices import ShareChoices
    from unspool.site.build.disk import Gist


Command = Callable[..., Any]


def parse_hidden_kinds(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> frozenset[str]:
    """Kinds of blocks, with commas or given several times."""
    named = frozenset(part.strip().lower() for one in value for part in one.split(",") if part.strip())
    if unknown := sorted(named - set(KINDS)):
        raise click.BadParameter(f"{', '.join(unknown)}: can hide {', '.join(KINDS)}.")
    return named


_PAGES = [
    click.option("--repo", "repository", default="", metavar="OWNER/NAME", help="Link commits and files there."),
    click.option("--per-page", type=click.IntRange(min=1), default=5, show_default=True, help="Prompts on a page."),
    click.option("--single-page", is_flag=True, help="A whole session on one page."),
    click.option("--self-contained", is_flag=True, help="Styles and scripts inside each page."),
    click.option("--theme", type=click.Choice(get_args(Theme)), default="system", show_default=True, help="Colours."),
    click.option("--hide", multiple=True, callback=parse_hidden_kinds, metavar="KINDS",
                 help=f"Leave out, with commas: {', '.join(KINDS)}."),
]  # fmt: skip


def page_options(command: Command) -> Command:
    """How pages are made, for a command that takes `site`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        fields = {name: given.pop(name) for name in SiteOptions.__struct_fields__}
        return command(*args, site=SiteOptions(**fields), **given)

    return with_options(run, _PAGES)


def with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


class PublishedGist(NamedTuple):
    """Where a gist is, and what was replaced in it, in a sentence."""

    gist: "Gist"
    note: str


def publish_gist(log: Path, site: "SiteOptions", prices: "PriceTable", *, allow: bool, public: bool) -> PublishedGist:
    """Publish the session of a log as it was chosen for its project; `allow` lets secrets stay."""
    from unspool.config import config_folder
    from unspool.redact.rules import OWN, own_rules
    from unspool.share.choices import ShareSettings, load_choices
    from unspool.share.prepare import prepare_shares
    from unspool.share.publish import publish_share_gist
    from unspool.store.library import Library

    ask = ShareSettings(load_choices, own_rules(config_folder() / OWN), review=_allowed if allow else None)
    with prepare_shares(Library(prices=prices), [str(log.absolute())], ask) as share:
        return PublishedGist(publish_share_gist(share, site, prices, public=public), share.report.note())


def _allowed(findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
    """The choices with every rule kept that found a secret."""
    from msgspec.structs import replace

    secret = {one.match.rule for one in findings if one.match.kind == "secret"}
    return replace(choices, keep=choices.keep | secret)


MakingCommand = Callable[..., Any]


class PageMaking(msgspec.Struct, frozen=True):
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


def making_options(command: MakingCommand) -> MakingCommand:
    """How one session is made, for a command that takes `making`."""

    @wraps(command)
    def run(*args: Any, site: SiteOptions, **given: Any) -> Any:
        names = ("output", "auto", "copy", "gist", "public", "allow_secrets")
        asked = {name: given.pop(name) for name in names}
        return command(*args, making=check_making(PageMaking(site, open=given.pop("open_"), **asked)), **given)

    return with_options(page_options(run), _ONE)


def check_making(making: PageMaking) -> PageMaking:
    """What was asked for, made whole; UsageProblem where it contradicts itself."""
    if (making.public or making.allow_secrets) and not making.gist:
        raise UsageProblem("--public and --allow-secrets say something of a gist: add --gist.")
    if making.gist and making.copy:
        raise UsageProblem("--json would publish the whole log in the gist: leave one of them out.")
    if not makes_one_file(making):
        return making
    if making.auto or making.copy or making.gist:
        raise UsageProblem(f"{making.output} is one file: -a, --json and --gist need a folder.")
    return msgspec.structs.replace(making, site=single_page(making.site))


def makes_one_file(making: PageMaking) -> bool:
    return making.output is not None and making.output.suffix.lower() in (".html", ".htm")


def single_page(site: SiteOptions) -> SiteOptions:
    return msgspec.structs.replace(site, single_page=True, self_contained=True)


def make_pages(session: Session, making: PageMaking, prices: PriceTable, source: Path | None = None) -> None:
    """Make a session's pages, and publish or open them as asked; `source` is the log, to copy or to publish from."""
    from unspool.site.turn_pages import write_file, write_folder

    counted = figures(session, prices)
    if making.gist:
        _publish(making, prices, source)
        if making.output is None and not making.auto:
            return
    target = _target(session, making)
    if makes_one_file(making):
        first = write_file(session, counted, making.site, target)
    else:
        first = write_folder(session, counted, making.site, target)
        if making.copy and source is not None:
            shutil.copyfile(source, target / source.name)
    click.echo(str(first))
    if making.shows:
        open_page(first)


def _target(session: Session, making: PageMaking) -> Path:
    name = slug(session.id)
    if making.auto:
        return (making.output or Path()) / name
    return making.output or Path(tempfile.mkdtemp(prefix=f"unspool-{name[:40]}-"))


def open_page(page: Path) -> None:
    """Open a page in the browser; where there is none, its address is already printed."""
    if not webbrowser.open(page.resolve().as_uri()):
        click.echo("No browser could be opened; open the page yourself.", err=True)


def _publish(making: PageMaking, prices: PriceTable, source: Path | None) -> None:

    if source is None:
        raise UsageProblem("--gist needs a log that can be read more than once.")
    made = publish_gist(source, making.site, prices, allow=making.allow_secrets, public=making.public)
    click.echo(f"Gist: {made.gist.address}\nPreview: {made.gist.preview}")
    click.echo(made.note, err=True)
    if making.open:
        webbrowser.open(made.gist.preview)
