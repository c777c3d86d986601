"""`unspool context`: what fills the window of a session."""

from typing import TYPE_CHECKING, Any

import click

from unspool.cli import options

if TYPE_CHECKING:
    from unspool.figures.filling import Filling
    from unspool.library import Library
    from unspool.model import Session


@click.command("context")
@click.argument("session", default="latest")
@click.option("--turns", default=20, show_default=True, metavar="N", type=click.IntRange(0), help="How many turns.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every turn.")
@options.sources
def command(session: str, turns: int, as_json: bool, library: "Library") -> None:
    """Tell what fills the window of a session, by kind, turn and tool.

    \b
    unspool context                    the session you used last
    unspool context 4f2a --turns 5     the five turns that added most
    unspool context 4f2a --json | jq '.now.kinds'

    The window is the one that the last request found. What a request measured is in the log; what each piece takes
    is estimated from its text, and what is left over is `unaccounted`: the system prompt, the definitions of the
    tools, and instructions that no log holds. The window's size is known for known models.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default.
    """
    from unspool.figures.filling import filling

    found = library.open(session)
    filled = filling(found)
    if as_json:
        click.echo(_json(found, filled))
    else:
        _print(found, filled, turns)


def _print(session: "Session", filled: "Filling", turns: int) -> None:
    from unspool.cli.context_rows import heading, sections
    from unspool.cli.grid import coloured, safe, show, width

    click.echo(click.style(safe(session.title), bold=True), color=coloured())
    for line in heading(filled):
        click.echo(line)
    for title, table, note in sections(session, filled, turns, width()):
        click.echo()
        click.echo(click.style(title, bold=True), color=coloured())
        show(table)
        if note:
            click.echo(note)


def _json(session: "Session", filled: "Filling") -> str:
    import msgspec

    data: dict[str, Any] = {"session": session.id, "title": session.title, "share": filled.share}
    return msgspec.json.format(msgspec.json.encode({**data, **msgspec.structs.asdict(filled)})).decode()
