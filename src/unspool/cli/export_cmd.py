"""`unspool export`: sessions as Markdown, JSON, text, or what session-share reads."""

import re
import sys
from pathlib import Path

import click

from unspool.cli import options
from unspool.cli.view_options import check_view, view_options
from unspool.errors import UsageProblem
from unspool.model import Session
from unspool.prices import PriceTable
from unspool.render import SessionWriter, find_writer, write
from unspool.render.json import JsonWriter
from unspool.render.markdown import MarkdownWriter
from unspool.render.sessionshare import SessionShareWriter
from unspool.render.text import TextWriter
from unspool.render.view import View
from unspool.store.library import Library

_FORMATS = ("markdown", "json", "text", "session-share")
_OUTPUT = "A file, or a folder for several sessions; standard output if not given."


@click.command("export")
@click.argument("session", nargs=-1, required=True)
@click.option(
    "-f", "--format", "name", type=click.Choice(_FORMATS), help="By default what the file is called, or markdown."
)
@click.option("-o", "--output", metavar="PATH", help=_OUTPUT)
@view_options(whole=True)
@click.option("--inline-images", is_flag=True, help="Markdown: images inside the file instead of beside it.")
@options.sources
def command(
    session: tuple[str, ...],
    name: str | None,
    output: str | None,
    view: View,
    inline_images: bool,
    library: Library,
) -> None:
    """Write sessions as Markdown, JSON or text.

    \b
    unspool export latest -o session.md              Markdown, images beside it
    unspool export 3f2a 77b0 -o exports/ -f json     several, one file each
    unspool export latest -f text | less             to standard output
    unspool export latest -o s.session-share.json    for session-share's viewers

    JSON holds every block, problem and figure, by the schema that `unspool schema` prints, whatever the
    other options leave out.
    """
    target = Path(output) if output not in (None, "-") else None
    if target is None and len(session) > 1:
        raise UsageProblem("Several sessions need a folder to go to: -o DIR.")
    folder = target if target is not None and _is_folder(str(output), target, len(session)) else None
    file = None if folder is not None else target
    writer = _writer(
        name or (find_writer(file.name).name if file is not None else "markdown"),
        inline=inline_images,
        prices=library.prices,
    )
    for one in [library.resolve(name) for name in session]:
        found = library.open(one)
        check_view(found, view)
        _write(writer, found, folder / _file_name(found, writer) if folder is not None else file, view)


def _is_folder(given: str, target: Path, sessions: int) -> bool:
    return sessions > 1 or target.is_dir() or given.endswith(("/", "\\"))


def _writer(name: str, *, inline: bool, prices: PriceTable) -> SessionWriter:
    made: dict[str, SessionWriter] = {
        "markdown": MarkdownWriter(images="inline" if inline else "beside"),
        "json": JsonWriter(prices=prices),
        "text": TextWriter(),
        "session-share": SessionShareWriter(),
    }
    return made[name]


def _file_name(session: Session, writer: SessionWriter) -> str:
    """The session's id as a file name that cannot lead out of the folder."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", session.id).lstrip(".") or "session"
    return safe + writer.suffixes[0]


def _write(writer: SessionWriter, session: Session, where: Path | None, view: View) -> None:
    if where is None:
        write(writer, session, sys.stdout.buffer, view)
        return
    where.parent.mkdir(parents=True, exist_ok=True)
    write(writer, session, where, view)
    click.echo(str(where), err=True)
