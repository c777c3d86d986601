"""`unspool context`: what fills the window of a session."""

from typing import TYPE_CHECKING, Any

import click

from unspool.cli import options

if TYPE_CHECKING:
    from unspool.figures.filling import Filling, KindCost
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
    tools, and instructions that no log holds. Where the log keeps the requests themselves (Claude Code since
    2.1.28x), nothing is left over, and what each kind cost over all requests is told too. The window's size is known
    for known models.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default.
    """
    from unspool.figures.filling import filling, input_costs, requests

    log = library.resolve(session)
    found = library.open(log)
    recorded = library.requests(log)
    filled = filling(found, recorded)
    costs = input_costs(found, requests(found, recorded), library.prices) if recorded else ()
    if as_json:
        click.echo(_json(found, filled, costs))
    else:
        _print(found, filled, costs, turns)


def _print(session: "Session", filled: "Filling", costs: "tuple[KindCost, ...]", turns: int) -> None:
    from unspool.cli.context_rows import heading, sections
    from unspool.cli.grid import coloured, safe, show, width

    click.echo(click.style(safe(session.title), bold=True), color=coloured())
    for line in heading(filled):
        click.echo(line)
    for title, table, note in sections(session, filled, costs, (turns, width())):
        click.echo()
        click.echo(click.style(title, bold=True), color=coloured())
        show(table)
        if note:
            click.echo(note)


def _json(session: "Session", filled: "Filling", costs: "tuple[KindCost, ...]") -> str:
    import msgspec

    data: dict[str, Any] = {"session": session.id, "title": session.title, "share": filled.share}
    whole = {**data, **msgspec.structs.asdict(filled), "costs": costs}
    return msgspec.json.format(msgspec.json.encode(whole)).decode()
