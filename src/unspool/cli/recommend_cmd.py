"""`unspool recommend`: which treatment a session needs."""

from shlex import quote
from typing import TYPE_CHECKING

import click

from unspool.cli import options
from unspool.cli.output import print_json, say_line
from unspool.cli.tables import Column, print_table

if TYPE_CHECKING:
    from unspool.store.library import Library


@click.command("recommend")
@click.argument("session", default="latest")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every figure.")
@options.sources
def command(session: str, as_json: bool, library: "Library") -> None:
    """Tell how full a session is, and which treatment to choose.

    \b
    unspool recommend             the session you used last
    unspool recommend 4f2a --json | jq -r .recommended

    Tokens are estimated (docs/context.md), and what every request holds besides the conversation is taken from the
    last one measured; where the log keeps that request whole, its system prompt and tools are known exactly. Over
    70 % of the window the mildest treatment is named that brings it under 50 %; under 50 % nothing needs doing.
    `unspool context` tells what fills the window.
    """
    from unspool.copies.fit import advise, window_of
    from unspool.copies.material import CopyMaterial
    from unspool.copies.original import open_source

    with open_source(library, session) as source:
        given = advise(CopyMaterial(source.log), window_of(source.log))
    if as_json:
        print_json(given)
        return

    known = "" if given.window_known else " (taken for granted: the model's own is not known)"
    how = "exact: the log keeps the last request" if given.exact else "estimated"
    click.echo(f"{given.total:,} of {given.window:,} tokens{known}, {given.share:.0%} ({how})\n")
    rows = given.choices
    print_table(
        [
            Column("", ["→" if one.name == given.recommended else "" for one in rows], right=False),
            Column("treatment", [one.name for one in rows], right=False),
            Column("leaves", [f"{one.total:,}" for one in rows]),
            Column("of window", [f"{one.share:.0%}" for one in rows]),
            Column("wins", [f"{one.gain:,}" for one in rows]),
            Column("unspool clone SESSION ...", [one.flags for one in rows], right=False, rank=1),
        ]
    )
    click.echo(f"\n{given.reason}")
    flags = next((one.flags for one in rows if one.name == given.recommended), "")
    if flags:
        say_line(f"  unspool clone {quote(session)} {flags}")
