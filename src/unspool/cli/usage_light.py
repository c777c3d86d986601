"""Usage straight from logs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from unspool.cli import chosen
from unspool.errors import NotFound, UsageProblem
from unspool.index.billing import Indexed, Wanted
from unspool.library.light import ANSWERS, light
from unspool.library.sources import discovered
from unspool.prices import PriceTable


@contextmanager
def from_logs(by: str, wanted: Wanted, sources: Sequence[Path]) -> Iterator[Indexed]:
    """The requests of the logs of these folders, or of the agents' own; logs that cannot be read are named."""
    if by not in ANSWERS or wanted.project:
        raise UsageProblem(
            "Sessions, projects, tools and subagents are told from what is kept: run `unspool sync` first."
        )
    logs = discovered(chosen.sources(sources))
    if not logs:
        raise NotFound(
            "Nothing is kept yet, and no sessions were found; `unspool sync -s DIR` keeps those of a folder."
        )
    found = light(logs, PriceTable.load(chosen.prices()))
    if found.failures:
        from unspool.cli.terminal import complain

        complain(found.failures)
    if not sources:
        click.echo(
            "unspool: there is no index yet, so these figures are of the logs that are still there"
            " (`unspool sync` keeps them).\n",
            err=True,
        )
    yield found
