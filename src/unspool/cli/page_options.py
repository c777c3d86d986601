"""Options of commands that make pages, and publishing a gist."""

import shutil
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from unspool.cli.options import as_argument
from unspool.errors import UsageProblem
from unspool.figures import figures
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.site.address import slug
from unspool.site.options import KINDS, SiteOptions, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unspool.redact.replacements import SecretFinding
    from unspool.share.choices import ShareChoices


def parse_hidden_kinds(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> frozenset[str]:
    """Kinds of blocks, with commas or given several times."""
    named = frozenset(part.strip().lower() for one in value for part in one.split(",") if part.strip())
    if unknown := sorted(named - set(KINDS)):
        raise click.BadParameter(f"{', '.join(unknown)}: can hide {', '.join(KINDS)}.")
    return named


PAGES = (
    click.option("--repo", "repository", default="", metavar="OWNER/NAME", help="Link commits and files there."),
    click.option("--per-page", type=click.IntRange(min=1), default=5, show_default=True, help="Prompts on a page."),
    click.option("--single-page", is_flag=True, help="A whole session on one page."),
    click.option("--self-contained", is_flag=True, help="Styles and scripts inside each page."),
    click.option("--theme", type=click.Choice(get_args(Theme)), default="system", show_default=True, help="Colours."),
    click.option("--hide", multiple=True, callback=parse_hidden_kinds, metavar="KINDS",
                 help=f"Leave out, with commas: {', '.join(KINDS)}."),
)  # fmt: skip
"""How pages are made: the fields of SiteOptions."""


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
    def one_file(self) -> bool:
        return self.output is not None and self.output.suffix.lower() in (".html", ".htm")


_ONE = (
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH",
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
    from unspool.config import config_folder
    from unspool.redact.rules import OWN, own_rules
    from unspool.share.choices import ShareSettings, load_choices
    from unspool.share.prepare import prepare_shares
    from unspool.share.publish import publish_share_gist
    from unspool.store.library import Library

    if source is None:
        raise UsageProblem("--gist needs a log that can be read more than once.")
    review = _keep_secrets if making.allow_secrets else None
    ask = ShareSettings(load_choices, own_rules(config_folder() / OWN), review=review)
    with prepare_shares(Library(prices=prices), [str(source.absolute())], ask) as share:
        gist = publish_share_gist(share, making.site, prices, public=making.public)
    click.echo(f"Gist: {gist.address}\nPreview: {gist.preview}")
    click.echo(share.report.note(), err=True)
    if making.open:
        webbrowser.open(gist.preview)


def _keep_secrets(findings: "Sequence[SecretFinding]", choices: "ShareChoices") -> "ShareChoices":
    secret = {one.match.rule for one in findings if one.match.kind == "secret"}
    return msgspec.structs.replace(choices, keep=choices.keep | secret)
