"""`unspool move`: a session, or all of a project's, in another folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import cloning, keeping, options
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from unspool.clone.move import Move
    from unspool.formats import Found
    from unspool.library import Library


@click.command("move")
@click.argument("what", metavar="SESSION|PROJECT")
@click.option("--to", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder it goes on in.")
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="The agent's folder of another user or machine; else your own.",
)
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename this path too. May be given several times.")
@cloning.outputs
@options.sources
def command(
    what: str, to: Path, into: Path | None, rename: tuple[str, ...], output: cloning.Output, library: "Library"
) -> None:
    """Let a session go on in another folder, of another user or on another machine.

    \b
    unspool move 3f2a --to ~/work/new-name            the project was renamed
    unspool move ~/work/old-name --to ~/work/new-name all of its sessions
    unspool move 3f2a --to /home/eve/tool --into /mnt/eve/.claude

    Paths are rewritten alike wherever they stand: the working folder, the user's own folder where that differs, the
    agent's folder, and what --rename names. Subagents, spilled results, todos and file history go along. The
    original stays where it is: what is written is a copy under a new id.
    """
    from unspool.clone.move import Move, renamed
    from unspool.clone.source import own_home

    move = Move(to, into or own_home(), renamed(rename))
    logs = _project(library, what)
    if len(logs) > 1 and output.path is not None and not output.path.is_dir():
        raise UsageProblem(f"{len(logs)} sessions need a folder to go to; {output.path} is none.")
    for name in [log.path for log in logs] or [what]:
        _one(library, name, move, output)
    if len(logs) > 1 and not output.as_json:
        keeping.say(f"\n{len(logs)} sessions.")


def _one(library: "Library", name: str, move: "Move", output: cloning.Output) -> None:
    from unspool.clone.source import opened

    with opened(library, name) as source:
        draught = move.drawn(source.log, output.title)
        cloning.finish(draught, source._replace(home=move.home, folder=None), output, move.cwd)


def _project(library: "Library", what: str) -> "list[Found]":
    """The sessions of a project, by its folder or by the name of the agent's folder for it; none: it is a session."""
    path = Path(what).expanduser()
    if path.is_file():
        return []
    from unspool.formats import FORMATS

    names = {what, *(f.writer().place(Path(), str(path.absolute()), "x").parent.name for f in FORMATS)}
    logs = [log for log in library.logs() if log.folder in names]
    if not logs and ("/" in what or "\\" in what):
        raise NotFound(f"No session of the folder {what} was found.")
    return logs
