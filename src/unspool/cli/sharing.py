"""The options of `unspool share`, and what they ask for."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from unspool.cli import hub_sharing, options
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.share.choices import Choices

Form = Literal["html", "site", "bundle", "gist"]


class Left(NamedTuple):
    """What is asked to be left out; None: as it was chosen for the project before."""

    without: tuple[tuple[int, int], ...]
    thinking: bool | None
    tools: bool | None
    images: bool | None
    subagents: bool | None
    terms: tuple[str, ...]
    keep: tuple[str, ...]
    fresh: bool

    def choices(self, project: str) -> "Choices":
        """These choices over those that were made for the project before."""
        from msgspec.structs import replace

        from unspool.share.choices import Choices, remembered

        before = Choices() if self.fresh else remembered(project)
        kinds = {"thinking": self.thinking, "tools": self.tools, "images": self.images, "subagents": self.subagents}
        return replace(
            before,
            without=self.without,
            terms=tuple(dict.fromkeys((*before.terms, *self.terms))),
            keep=before.keep | set(self.keep),
            **{name: said for name, said in kinds.items() if said is not None},
        )


class Target(NamedTuple):
    """What is made, and where it goes."""

    form: Form | None
    path: Path | None
    title: str
    url: str
    public: bool
    encrypt: bool
    passphrase_file: str
    placed: hub_sharing.Placed


class Manner(NamedTuple):
    """How it is asked and told."""

    yes: bool
    dry_run: bool
    as_json: bool
    chain: bool


_LEFT = [
    click.option("--without", callback=options.turn_ranges, metavar="TURNS", help="Leave whole turns out: 3,7..9."),
    click.option("--thinking/--no-thinking", default=None, help="Whether reasoning is shared."),
    click.option("--tools/--no-tools", default=None, help="Whether what tools answered is shared."),
    click.option("--images/--no-images", default=None, help="Whether pictures are shared."),
    click.option("--subagents/--no-subagents", default=None, help="Whether subagents' conversations are shared."),
    click.option("--term", "terms", multiple=True, metavar="WORD", help="Replace this word too. May be repeated."),
    click.option("--keep", multiple=True, metavar="RULE|ID", help="Let this stay: a rule, or one finding by its id."),
    click.option("--fresh", is_flag=True, help="Do not use what was chosen for this project before."),
]
_TARGET = [
    click.option("--html", "form", flag_value="html", help="One HTML file that needs nothing else."),
    click.option("--site", "form", flag_value="site", help="A folder of pages."),
    click.option("--bundle", "form", flag_value="bundle", help="One file that `unspool import` goes on with."),
    click.option("--gist", "form", flag_value="gist", help="A secret gist, through gh."),
    click.option("-o", "--output", "path", metavar="PATH", type=click.Path(path_type=Path), help="Where it goes."),
    click.option("--title", default="", metavar="TEXT", help="What it is called."),
    click.option("--url", default="", metavar="URL", help="Where a folder will be found, for link previews."),
    click.option("--public", is_flag=True, help="Make the gist a public one."),
    click.option("--encrypt", is_flag=True, help="With --html or --site: only its key opens it, which is printed."),
    click.option("--passphrase-file", default="", metavar="FILE", help="Encrypt with its first line; -: typed."),
]
_MANNER = [
    click.option("--chain", is_flag=True, help="Share the sessions before and after it, too."),
    click.option("-y", "--yes", is_flag=True, help="Replace everything found, without asking."),
    click.option("-n", "--dry-run", is_flag=True, help="Tell what is found; make nothing."),
    click.option("--json", "as_json", is_flag=True, help="Tell as JSON."),
]


def asked(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that make `left`, `target` and `manner`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        left = Left(**{name: given.pop(name) for name in Left._fields})
        placed = hub_sharing.Placed(**{name: given.pop(name) for name in hub_sharing.Placed._fields})
        target = Target(**{name: given.pop(name) for name in Target._fields[:-1]}, placed=placed)
        manner = Manner(**{name: given.pop(name) for name in Manner._fields})
        return command(*args, left=left, target=checked(target, manner), manner=manner, **given)

    made: Callable[..., Any] = run
    for option in reversed((*_TARGET, *hub_sharing.OPTIONS, *_LEFT, *_MANNER)):
        made = option(made)
    return made


def checked(target: Target, manner: Manner) -> Target:
    """What is to be made; UsageProblem where that cannot be."""
    placed = target.placed.checked(target.form)
    if target.form is None and placed.hub is None and not manner.dry_run:
        raise UsageProblem(
            "Say what to make: --html, --site, --bundle, --gist or --hub; --dry-run tells what is found."
        )
    if target.form in ("html", "site") and target.path is None and not manner.dry_run:
        raise UsageProblem(f"--{target.form} needs -o: where it goes.")
    if target.form == "gist" and target.path is not None:
        raise UsageProblem("A gist goes to no file: leave -o out.")
    if target.public and target.form != "gist":
        raise UsageProblem("--public says something of a gist: add --gist.")
    if (target.encrypt or target.passphrase_file) and target.form not in ("html", "site"):
        raise UsageProblem("What is encrypted are pages: add --html or --site.")
    return target
