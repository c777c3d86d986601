"""`unspool import`: a session that somebody sent, to be read or gone on with here."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from unspool.cli import cloning, options
from unspool.errors import UnspoolError, UsageProblem

if TYPE_CHECKING:
    from unspool.clone.move import Move


@click.command("import")
@click.argument("bundle", metavar="FILE|URL")
@click.option("--to", metavar="DIR", type=click.Path(path_type=Path), help="Make it resumable: where it goes on.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="With --to: rename this path too. May be repeated.")
@cloning.outputs
@options.archive
def command(bundle: str, to: Path | None, rename: tuple[str, ...], output: cloning.Output, archive: Path) -> None:
    """Take in a session that somebody sent, to read it or to go on with it here.

    \b
    unspool import talk.tar.gz                       into the archive, to be read, searched and exported
    unspool import https://example.org/talk.tar.gz   the same, from the web
    unspool import talk.tar.gz --to ~/code/tool      a copy that the agent resumes in this folder
    unspool import 3f2a9c.jsonl --to ~/code/tool     a log by itself

    Takes what `unspool share --bundle` makes, bundles of session-share, and bare logs. The archive keeps the lines as
    they are. With --to, paths of the other machine become those of this one. Sessions of its chain come along where
    the bundle has them. Bundles are not trusted: one that holds links, paths that lead out of it, or more than a
    session does is refused whole, and nothing is left behind.
    """
    from unspool.clone.parcel import received

    asked = {"--rename": rename, "-o": output.path, "--title": output.title, "--dsp": output.dsp}
    if to is None and (useless := [name for name, given in asked.items() if given]):
        raise UsageProblem(f"{useless[0]} is for a session that goes on: add --to, the folder it goes on in.")
    with received(bundle) as logs:
        if to is None:
            from unspool.cli.importing import keep

            keep(logs, bundle, archive, output)
        else:
            _take(logs, Parcel(bundle, to, rename), output)


class Parcel(NamedTuple):
    """What came, and where it goes on."""

    name: str
    to: Path
    rename: tuple[str, ...]

    def move(self) -> "Move":
        from unspool.clone.move import Move, renamed
        from unspool.clone.source import own_home

        return Move(self.to, own_home(), renamed(self.rename))


def _take(logs: list[Path], parcel: Parcel, output: cloning.Output) -> None:
    """Make every log resumable, or none."""
    from unspool.clone.source import opened
    from unspool.library import Library

    move, library = parcel.move(), Library()
    with ExitStack() as stack:
        sources = [stack.enter_context(opened(library, str(log))) for log in logs]
        drawn = [move.drawn(source.log, output.title, "import") for source in sources]
        if len(drawn) > 1 and output.path is not None and not output.path.is_dir():
            raise UsageProblem(f"{len(drawn)} sessions need a folder to go to; {output.path} is none.")
        tellings = list[cloning.Telling]()
        for draught, source in zip(drawn, sources, strict=True):
            source.log.path = parcel.name
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
