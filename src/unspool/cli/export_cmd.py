"""`unspool export`: sessions as Markdown, JSON, text, or what session-share reads."""

import re
import sys
from pathlib import Path

import click

from unspool.cli import options
from unspool.cli.options import check_view, view_options
from unspool.errors import UsageProblem
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
    session: tuple[str, ...], name: str | None, output: str | None, view: View, inline_images: bool, library: Library
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
    folder = target is not None and (len(session) > 1 or target.is_dir() or str(output).endswith(("/", "\\")))
    writers: dict[str, SessionWriter] = {
        "markdown": MarkdownWriter(images="inline" if inline_images else "beside"),
        "json": JsonWriter(prices=library.prices),
        "text": TextWriter(),
        "session-share": SessionShareWriter(),
    }
    writer = writers[name or ("markdown" if target is None or folder else find_writer(target.name).name)]
    for log in [library.resolve(name) for name in session]:
        found = library.open(log)
        check_view(found, view)
        if target is None:
            write(writer, found, sys.stdout.buffer, view)
            continue
        safe = re.sub(r"[^A-Za-z0-9._-]", "_", found.id).lstrip(".") or "session"  # it leads nowhere else
        path = target / f"{safe}{writer.suffixes[0]}" if folder else target
        path.parent.mkdir(parents=True, exist_ok=True)
        write(writer, found, path, view)
        click.echo(str(path), err=True)
