"""`unspool fork`: a conversation up to a point, as a session of its own."""

from typing import TYPE_CHECKING

import click

from unspool.cli import copy_options, options

if TYPE_CHECKING:
    from unspool.store.library import Library


@click.command("fork")
@click.argument("session")
@click.option("--at", metavar="TURN|ID", help="End behind this turn, or this line or message by its id.")
@click.option("--without", callback=options.turn_ranges, metavar="TURNS", help="Leave whole turns out: 3,7..9.")
@click.option("--branch", type=click.IntRange(min=1), metavar="N", help="Go on from a branch that was left.")
@copy_options.copy_output_options
@options.sources
def command(
    session: str,
    at: str | None,
    without: tuple[tuple[int, int], ...],
    branch: int | None,
    output: copy_options.CopyOutput,
    library: "Library",
) -> None:
    """Go on from an earlier point of a session, in a copy.

    \b
    unspool fork 3f2a --at 12              as it stood when turn 12 was answered
    unspool fork 3f2a --at 5e1d0c9a        as it stood behind that line (ids: `unspool export --format json`)
    unspool fork 3f2a --without 3,7..9     without these turns
    unspool fork 3f2a --branch 1           along the branch that was left (`unspool info` counts them)

    Turns have the numbers that `unspool show` gives them. The original stays as it is; `unspool clone --undo` takes
    the fork back.
    """
    from unspool.copies import material
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.fork import Fork
    from unspool.copies.original import open_source
    from unspool.copies.treatment import PRESETS
    from unspool.store.library.read import read_session

    with open_source(library, session) as source:
        fork = Fork(source.log, read_session(source.log.found), branch or 0)
        if at:
            fork.until(at)
        if without:
            fork.leave_out(without)
        chosen = {"at": at, "without": without, "branch": branch}
        title = output.title or material.marked_title(source.log, "fork")
        named: dict[str, object] = {name: value for name, value in chosen.items() if value}
        request = CopyRequest("fork", title, fork.leaf, frozenset(fork.without), options=named)
        copy_options.finish_copy(plan_copy(fork.material, PRESETS["none"], request), source, output)
