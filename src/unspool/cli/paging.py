"""The options that say how pages are made; commands get them as one SiteOptions."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, get_args

import click

from unspool.site.options import KINDS, SiteOptions, Theme

Command = Callable[..., Any]


def hidden_kinds(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> frozenset[str]:
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
    click.option("--hide", multiple=True, callback=hidden_kinds, metavar="KINDS",
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
