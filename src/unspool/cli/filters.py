"""The filters of `unspool list`, as one value."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, get_args

import click
import msgspec

from unspool.cli import options
from unspool.cli.rows import hidden
from unspool.model import Overview, SessionKind

Command = Callable[..., Any]
_KINDS = get_args(SessionKind)
_KIND_HELP = f"Only this kind: {', '.join(_KINDS)}."


class Wanted(msgspec.Struct, frozen=True):
    """What the filters ask for; texts are found anywhere, in any case."""

    project: str = ""
    title: str = ""
    model: str = ""
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    everything: bool = False

    def fits(self, overview: Overview, name: str = "") -> bool:
        """Whether a session is asked for; `name` is one that a person gave it."""
        when = overview.ended or overview.log.modified
        return (
            self.project.casefold() in overview.project.casefold()
            and any(self.title.casefold() in title.casefold() for title in (overview.title, name))
            and (not self.model or any(self.model.casefold() in name.casefold() for name in overview.models))
            and (self.since is None or (when is not None and when >= self.since))
            and (self.until is None or (when is not None and when < self.until))
            and (overview.kind == self.kind if self.kind else self.everything or not hidden(overview))
        )


def filter_options(command: Command) -> Command:
    """The filters, for a command that takes `wanted`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        fields = {name: given.pop(name) for name in Wanted.__struct_fields__}
        return command(*args, wanted=Wanted(**fields), **given)

    wrapped: Command = run
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


_OPTIONS = [
    click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT."),
    click.option("-t", "--title", default="", metavar="TEXT", help="Only sessions whose title holds TEXT."),
    click.option("-m", "--model", default="", metavar="TEXT", help="Only sessions that used such a model."),
    click.option("-k", "--kind", type=click.Choice(_KINDS), metavar="KIND", help=_KIND_HELP),
    click.option("--since", callback=options.day, metavar="WHEN", help="Active since 2026-01-31, or 3d, 2w ago."),
    click.option("--until", callback=options.day, metavar="WHEN", help="Active before a date or an age."),
    click.option("-a", "--all", "everything", is_flag=True, help="Also empty sessions, stubs and warm-ups."),
]  # fmt: skip
