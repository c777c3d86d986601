"""`unspool import`: a session that somebody packed, to be gone on with here."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import cloning, options

if TYPE_CHECKING:
    from unspool.clone.move import Move
    from unspool.library import Library


@click.command("import")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--to", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder it goes on in.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Rename this path too. May be given several times.")
@cloning.outputs
@options.sources
def command(bundle: Path, to: Path, rename: tuple[str, ...], output: cloning.Output, library: "Library") -> None:
    """Take in a session that somebody packed, so that it can be resumed here.

    \b
    unspool import session.tar.gz --to ~/work/tool     a bundle, as session-share makes them
    unspool import 3f2a9c.jsonl --to ~/work/tool       a bare log

    Paths of the other machine become those of this one. The planning session comes along where the bundle has it.
    Bundles are not trusted: one that holds links, paths that lead out of it, or more than a session does is refused
    whole, and nothing is left behind.
    """
    from unspool.clone.bundle import unpacked
    from unspool.clone.move import Move, renamed
    from unspool.clone.source import own_home

    move = Move(to, own_home(), renamed(rename))
    if bundle.suffix in (".jsonl", ".json", ".zst") or bundle.suffixes[-2:] == [".jsonl", ".gz"]:
        _take(library, bundle, move, output)
        return
    with unpacked(bundle) as logs:
        for log in logs:
            _take(library, log, move, output)


def _take(library: "Library", log: Path, move: "Move", output: cloning.Output) -> None:
    from unspool.clone.source import opened

    with opened(library, str(log)) as source:
        draught = move.drawn(source.log, output.title, "import")
        cloning.finish(draught, source._replace(home=move.home, folder=None), output, move.cwd)
