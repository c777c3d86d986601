"""`unspool import`: a session that somebody packed, to be gone on with here."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import cloning, options
from unspool.errors import UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.clone.move import Move
    from unspool.library import Library

_BARE = (".jsonl", ".json", ".jsonl.gz", ".jsonl.zst")


@click.command("import")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--to", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder it goes on in.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename this path too. May be given several times.")
@cloning.outputs
@options.sources
def command(bundle: Path, to: Path, rename: tuple[str, ...], output: cloning.Output, library: "Library") -> None:
    """Take in a session that somebody packed, so that it can be resumed here.

    \b
    unspool import session.tar.gz --to ~/code/tool     a bundle, as session-share makes them
    unspool import 3f2a9c.jsonl --to ~/code/tool       a bare log

    Paths of the other machine become those of this one. The planning session comes along where the bundle has it.
    Bundles are not trusted: one that holds links, paths that lead out of it, or more than a session does is refused
    whole, and nothing is left behind.
    """
    from unspool.clone.bundle import unpacked
    from unspool.clone.move import Move, renamed
    from unspool.clone.source import own_home

    move = Move(to, own_home(), renamed(rename))
    if bundle.name.endswith(_BARE):
        _take(library, [bundle], move, output)
    else:
        with unpacked(bundle) as logs:
            _take(library, logs, move, output)


def _take(library: "Library", logs: list[Path], move: "Move", output: cloning.Output) -> None:
    """Every log or none."""
    from unspool.clone.source import opened

    with ExitStack() as stack:
        sources = [stack.enter_context(opened(library, str(log))) for log in logs]
        drawn = [move.drawn(source.log, output.title, "import") for source in sources]
        if len(drawn) > 1 and output.path is not None and not output.path.is_dir():
            raise UsageProblem(f"{len(drawn)} sessions need a folder to go to; {output.path} is none.")
        tellings = list[cloning.Telling]()
        for draught, source in zip(drawn, sources, strict=True):
            try:
                there = source._replace(home=move.home, folder=None)
                tellings.append(cloning.finished(draught, there, output, move.cwd))
            except UnspoolError:
                _take_back(tellings, output)
                raise
    cloning.show_all(tellings, output, [])


def _take_back(tellings: list[cloning.Telling], output: cloning.Output) -> None:
    from unspool.clone import lineage

    for one in () if output.dry_run else tellings:
        lineage.undo(lineage.find(one.data["session"]))
