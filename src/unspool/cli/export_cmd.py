"""`unspool export`: sessions written to files, for people and for other programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from unspool.cli import options
from unspool.cli.exchange_cmd import (
    NAMES,
    ExchangeAsked,
    FilesTarget,
    exchange_options,
    exchange_writer,
    export_exchange,
)
from unspool.cli.options import check_view, view_options
from unspool.errors import UsageProblem
from unspool.render.view import View
from unspool.store.library import Library

if TYPE_CHECKING:
    from unspool.render.writers import SessionWriter

_FORMATS = ("markdown", "json", "text", "session-share", "pdf", "docx", "card", *NAMES)
_OUTPUT = "A file, or a folder for several sessions; standard output if not given."
_FORM = (
    click.option(
        "-f", "--format", "name", type=click.Choice(_FORMATS), help="By default what the file is called, or markdown."
    ),
    click.option("-o", "--output", metavar="PATH", help=_OUTPUT),
    click.option("--inline-images", is_flag=True, help="Markdown: images inside the file instead of beside it."),
)


class FileForm(NamedTuple):
    """What is written, and where to."""

    name: str | None
    output: str | None
    inline_images: bool


@click.command("export")
@click.argument("session", nargs=-1, required=True)
@options.as_argument("form", FileForm, *_FORM)
@view_options(whole=True)
@exchange_options
@options.sources
def command(session: tuple[str, ...], form: "FileForm", view: View, asked: ExchangeAsked, library: Library) -> None:
    """Write sessions to files, for people and for other programs.

    \b
    unspool export latest -o session.md              Markdown, images beside it
    unspool export 3f2a 77b0 -o exports/ -f json     several, one file each
    unspool export latest -f text | less             to standard output
    unspool export latest -o s.session-share.json    for session-share's viewers
    unspool export latest -o session.pdf             for paper; .docx for Word
    unspool export latest -o card.png                its story as a picture of 1200×630; card.svg needs no more

    \b
    For other programs, redacted unless --no-redact says otherwise:
    unspool export latest -o run.atif.json           an ATIF trajectory, which `show` reads back
    unspool export latest -f messages                OpenAI messages with tools; sharegpt is the other way
    unspool export latest -f otel --to URL           OpenTelemetry spans to a collector; -o writes a file
    unspool export 3f2a -f hf -o traces/ --license cc-by-4.0
                                                     a dataset for the Hugging Face Hub
    unspool export latest -o t.transcripts.jsonl     for Inspect Scout; .parquet where pyarrow is

    JSON holds every block, problem and figure, by the schema that `unspool schema` prints, whatever the
    other options leave out. PDFs are printed by Chromium or Chrome, or by WeasyPrint (the extra `pdf`); Word
    needs the extra `docx`. Trajectories, spans and transcripts hold the whole session, but for --no-thinking and
    --no-notices; what messages leave out is counted.
    """
    from unspool.render.writers import write
    from unspool.share.exchange import file_name

    output = form.output
    target = Path(output) if output not in (None, "-") else None
    if target is None and len(session) > 1 and not asked.to:
        raise UsageProblem("Several sessions need a folder to go to: -o DIR.")
    folder = target is not None and (len(session) > 1 or target.is_dir() or str(output).endswith(("/", "\\")))
    view = msgspec.structs.replace(view, prices=library.prices)
    called = form.name or _usual_format(target, folder=folder)
    writer = _writer(called, target, library, inline=form.inline_images)
    writer = exchange_writer(writer.name, asked) if writer.name in NAMES else writer
    asked.check(writer.name)
    if target is None and writer.binary and sys.stdout.isatty():
        raise UsageProblem(f"A terminal cannot show {writer.name}: name a file with -o.")
    names = [library.resolve(one) for one in session]
    if writer.name in NAMES:
        export_exchange(library, names, writer, FilesTarget(target, folder), view, asked)
        return
    for log in names:
        found = library.open(log)
        check_view(found, view)
        if target is None:
            write(writer, found, sys.stdout.buffer, view)
            continue
        path = target / file_name(found.id, writer.suffixes[0]) if folder else target
        path.parent.mkdir(parents=True, exist_ok=True)
        write(writer, found, path, view)
        click.echo(str(path), err=True)


def _usual_format(target: Path | None, *, folder: bool) -> str:
    """What a file of that name is written as."""
    from unspool.site.story_card import CardWriter

    if target is None or folder:
        return "markdown"
    ending = target.suffix.lower()
    return "card" if ending in CardWriter.suffixes else "inspect" if ending == ".parquet" else target.name


def _writer(called: str, target: Path | None, library: Library, *, inline: bool) -> "SessionWriter":
    """The writer that is called so, or writes files of that name."""
    from unspool.render.json import JsonWriter
    from unspool.render.markdown import MarkdownWriter
    from unspool.render.writers import find_writer
    from unspool.site.story_card import CardWriter

    chosen: dict[str, SessionWriter] = {
        "markdown": MarkdownWriter(images="inline" if inline else "beside"),
        "json": JsonWriter(prices=library.prices),
        "card": CardWriter(library.prices, png=target is not None and target.suffix.lower() == ".png"),
    }
    writer = chosen[called] if called in chosen else find_writer(called)
    return chosen.get(writer.name, writer)
