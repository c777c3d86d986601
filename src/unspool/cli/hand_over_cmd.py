"""`unspool hand-over`: a session of one agent as one that another resumes."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_json, say_line
from unspool.errors import Exists

if TYPE_CHECKING:
    from unspool.copies.hand_over import HandOver
    from unspool.store.library import Library


@click.command("hand-over")
@click.argument("session", default="latest")
@click.option("--to", required=True, metavar="AGENT", help="Who goes on with it; `unspool agents` says which can.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it there instead of the agent's folder.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.sources
def command(session: str, to: str, output: Path | None, dry_run: bool, as_json: bool, library: "Library") -> None:
    """Go on with a session in another agent.

    \b
    unspool hand-over 3f2a --to AGENT      a session of any agent, to be resumed by another
    unspool hand-over latest --to AGENT -n   what would become of the last one

    What was said and done goes along, tools named as the other agent names its own. Thinking and notices stay
    behind; a tool that the other agent has none for is told in words. The original stays as it is.
    """
    from unspool.agents import agent_named
    from unspool.copies.hand_over import hand_over
    from unspool.files import write_atomically

    made = hand_over(library.open(session), agent_named(to))
    path = made.path if output is None else output / made.path.name if output.is_dir() else output
    if path.exists():
        raise Exists(f"{path} is there already; nothing was written.")
    if not dry_run:
        write_atomically(path, [made.data])
    if as_json:
        facts = {"session": made.session.id, "path": str(path), "resume": made.command, "written": not dry_run}
        print_json({**facts, "tools": made.mapped, "told_in_words": made.told, "left_behind": made.left})
        return
    _say(made, path, dry_run=dry_run)


def _say(made: "HandOver", path: Path, *, dry_run: bool) -> None:
    if made.mapped:
        pairs = (f"{one} → {other}" if one != other else one for one, other in made.mapped.items())
        say_line(f"Tools:        {', '.join(pairs)}")
    if made.told:
        counts = (f"{name} ({human.count(number, 'call')})" for name, number in made.told.items())
        say_line(f"In words:     {', '.join(counts)}")
    if made.left:
        say_line(f"Left behind:  {', '.join(f'{number} {name}' for name, number in made.left.items())}")
    say_line(f"\n{'It would be' if dry_run else 'Wrote'} {path} ({human.size(len(made.data))})")
    if not dry_run:
        say_line(f"Go on:  {made.command}")
