"""`unspool move`: a session, or all of a project's, in another folder."""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import copy_options, options
from unspool.errors import NotFound, Unreadable, Unsound, UsageProblem
from unspool.store.library.inputs import is_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.agents import FoundLog
    from unspool.copies.copy_plan import CopyPlan
    from unspool.copies.fork import Move
    from unspool.copies.original import CopySource
    from unspool.store.library import Library


@click.command("move")
@click.argument("what", metavar="SESSION|PROJECT")
@click.option("--to", required=True, metavar="DIR", type=options.PATH, help="The folder it goes on in.")
@click.option(
    "--into", metavar="DIR", type=options.FOLDER, help="The agent's folder of another user or machine; else your own."
)
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename this path too. May be given several times.")
@copy_options.copy_output_options
@options.sources
def command(
    what: str, to: Path, into: Path | None, rename: tuple[str, ...], output: copy_options.CopyOutput, library: "Library"
) -> None:
    """Let a session go on in another folder, of another user or on another machine.

    \b
    unspool move 3f2a --to ~/code/new-name            the project was renamed
    unspool move ~/code/old-name --to ~/code/new-name all of its sessions
    unspool move 3f2a --to /home/eve/tool --into /mnt/eve/.claude

    Paths are rewritten alike wherever they stand: the working folder, the user's own folder where that differs, the
    agent's folder, and what --rename names. Subagents, spilled results, todos and file history go along. The
    original stays where it is: what is written is a copy under a new id.
    """
    from unspool.copies.fork import Move, parse_renames
    from unspool.copies.original import own_home

    move = Move(to, into or own_home(), parse_renames(rename))
    logs = _project(library, what)
    if not logs:
        with _moved(library, what, move, output) as (plan, source):
            copy_options.finish_copy(plan, source, output, move.cwd)
        return
    if output.path is not None and not output.path.is_dir():
        raise UsageProblem(f"The sessions of a project need a folder to go to; {output.path} is none.")
    done, failed = list[copy_options.CopyTelling](), list[str]()
    for log in logs:
        try:
            with _moved(library, log, move, output) as (plan, source):
                done.append(copy_options.write_or_plan(plan, source, output, move.cwd))
        except (Unsound, Unreadable, UsageProblem) as error:
            if not done and log is logs[-1]:  # none can be moved
                raise
            failed.append(str(error))
    copy_options.show_copies(done, output, failed)


@contextmanager
def _moved(
    library: "Library", what: "str | FoundLog", move: "Move", output: copy_options.CopyOutput
) -> "Iterator[tuple[CopyPlan, CopySource]]":
    from unspool.copies.original import open_source

    with open_source(library, what) as source:
        yield move.drawn(source.log, output.title), source._replace(home=move.home, folder=None)


def _project(library: "Library", what: str) -> "list[FoundLog]":
    """The sessions of a project, by its folder or by the name of the agent's folder for it; none: it is a session."""
    path = Path(what).expanduser()
    if path.is_file() or what == "-" or is_url(what):
        return []
    from unspool.agents import AGENTS

    names = {what}
    for cwd in {os.path.abspath(path), os.path.realpath(path)}:  # noqa: PTH100  the agent knows both
        names |= {one.writer.place(Path(), cwd, "x").parent.name for one in AGENTS if one.writer is not None}
    logs = [log for log in library.logs() if log.folder in names]
    if not logs and ("/" in what or "\\" in what):
        raise NotFound(f"There is no file {what}, nor is there a session of such a folder.")
    return logs
