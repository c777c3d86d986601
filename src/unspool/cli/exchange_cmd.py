"""Sessions for other programs: `unspool export` with an exchange format, and `unspool lake export` for all of them."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_result, progress, say_line
from unspool.errors import UnspoolError, UsageProblem
from unspool.render.exchange import EXCHANGE_FORMATS
from unspool.render.view import View

if TYPE_CHECKING:
    from unspool.agents import FoundLog
    from unspool.render.writers import SessionWriter
    from unspool.share.choices import Advance, ShareSettings
    from unspool.share.exchange import ExportSummary
    from unspool.share.otlp_client import OtlpClient
    from unspool.store.library import Library

NAMES = tuple(one.name for one in EXCHANGE_FORMATS)
_LISTED = 5


class ExchangeAsked(NamedTuple):
    """What was asked of an exchange format."""

    no_redact: bool
    to: str
    header: tuple[str, ...]
    content: bool
    like: str
    arguments: Literal["object", "string"] | None
    split: bool
    license: str

    def check(self, name: str) -> None:
        """UsageProblem where an option says nothing of a format."""
        for option, formats in _OF_FORMAT.items():
            if name not in formats and getattr(self, option):
                known = ", ".join(formats[:-1]) + (" and " if formats[1:] else "") + formats[-1]
                raise UsageProblem(f"--{option.replace('_', '-')} is for {known}, not for {name}.")
        if self.header and not self.to:
            raise UsageProblem("--header goes to a collector: add --to URL.")


_OF_FORMAT: dict[str, tuple[str, ...]] = {
    "no_redact": NAMES,
    **dict.fromkeys(("to", "header", "content", "like"), ("otel",)),
    "arguments": ("messages",),
    "split": ("messages", "sharegpt"),
    "license": ("hf",),
}
"""The formats that each option is for."""

exchange_options = options.as_argument(
    "asked",
    ExchangeAsked,
    click.option("--no-redact", is_flag=True, help="Exchange formats: leave everything in; for your eyes alone."),
    click.option("--to", default="", metavar="URL", help="otel: send to a collector, such as http://localhost:4318."),
    click.option("--header", multiple=True, metavar="NAME:VALUE", help="otel: send this header too, as for a key."),
    click.option("--content", is_flag=True, help="otel: words too, not only shapes, sizes and figures."),
    click.option("--like", default="", metavar="AGENT", help="otel: name spans and events as this agent itself does."),
    click.option(
        "--arguments",
        type=click.Choice(["object", "string"]),
        help="messages: what tools were given as data (default), or as the API has it.",
    ),
    click.option("--split", is_flag=True, help="messages, sharegpt: conversations cut where they were compacted."),
    click.option("--license", default="", metavar="NAME", help="hf: the dataset's licence, as cc-by-4.0."),
)


def exchange_writer(name: str, asked: ExchangeAsked) -> "SessionWriter":
    """The writer of a format, as it was asked for; UsageProblem for what it cannot do."""
    from unspool.agents import agent_named
    from unspool.render.exchange.messages import MessagesWriter, ShareGptWriter
    from unspool.render.exchange.otel import OtelWriter
    from unspool.render.exchange.otel_names import GenAiNames
    from unspool.render.writers import find_writer

    asked.check(name)
    if name == OtelWriter.name:
        names = agent_named(asked.like).telemetry if asked.like else GenAiNames()
        if names is None:
            raise UsageProblem(f"{agent_named(asked.like).name} has no names of its own for spans and events.")
        return OtelWriter(asked.content, names)
    if name == MessagesWriter.name:
        return MessagesWriter(asked.arguments or "object", asked.split)
    return ShareGptWriter(asked.split) if name == ShareGptWriter.name else find_writer(name)


def _settings(asked: ExchangeAsked, advance: "Advance") -> "ShareSettings | None":
    """How sessions are redacted: everything found goes, but for what was chosen for their projects."""
    from unspool.share.choices import ShareSettings, load_choices

    if asked.no_redact:
        return None
    return ShareSettings(load_choices, options.redaction_rules(), rehearsed=True, advance=advance)


def _client(asked: ExchangeAsked) -> "OtlpClient | None":
    from unspool.share.otlp_client import OtlpClient, parse_headers

    return OtlpClient(asked.to, parse_headers(asked.header)) if asked.to else None


def _work(names: Sequence["str | FoundLog"], asked: ExchangeAsked) -> int:
    """The bytes that will be gone through."""
    from unspool.share.prepare import work_of

    return sum(_size(one) for one in names) if asked.no_redact else work_of(names)


def _passing(names: Sequence["str | FoundLog"], advance: "Advance") -> "Iterator[str | FoundLog]":
    """The logs, each heard of once the next is asked for."""
    for one in names:
        yield one
        advance(_size(one))


def _size(name: "str | FoundLog") -> int:
    return 0 if isinstance(name, str) else name.size


class FilesTarget(NamedTuple):
    """Where `unspool export` writes: a file, a folder, or standard output."""

    path: Path | None
    folder: bool


def export_exchange(
    library: "Library",
    names: Sequence["str | FoundLog"],
    writer: "SessionWriter",
    target: FilesTarget,
    view: View,
    asked: ExchangeAsked,
) -> None:
    """Write or send the sessions that were named."""
    from unspool.render.writers import write
    from unspool.share.exchange import SessionExporter, file_name

    client, path = _client(asked), target.path
    if client is not None and path is not None:
        raise UsageProblem("--to sends what -o would write: give one of them.")
    dataset = writer.name == "hf" and path is not None
    licence = _licence(asked) if dataset else ""
    with progress(_work(names, asked), "Looking for secrets") as advance:
        exporter = SessionExporter(library, writer, view, _settings(asked, advance), licence=licence)
        ready = exporter.ready(names, strict=True)
        if client is not None:
            exporter.to_collector(ready, client)
        elif dataset and path is not None:
            exporter.to_folder(ready, path, _say_path)
        else:
            for one in ready:
                if path is None:
                    write(writer, one.session, sys.stdout.buffer, view)
                    continue
                file = path / file_name(one.session.id, writer.suffixes[0]) if target.folder else path
                for made in exporter.to_file(one, file):
                    _say_path(made)
    _tell(exporter.summary, client, path if dataset else None)


def _say_path(path: Path) -> None:
    say_line(str(path), err=True)


def _licence(asked: ExchangeAsked) -> str:
    from unspool.render.exchange.hf_traces import check_licence

    if not asked.license:
        raise UsageProblem(
            "A dataset needs a licence, which only you can choose: --license cc-by-4.0, apache-2.0, other, ..."
        )
    return check_licence(asked.license)


def _tell(summary: "ExportSummary", client: "OtlpClient | None", dataset: Path | None) -> None:
    """Say what became of it, on standard error: the output is the sessions' own."""
    from unspool.render.exchange.hf_traces import upload_commands

    say_line(summary.note(), err=True)
    if client is not None:
        taken = human.count(client.report.batches, "batch", "batches")
        refused = f"{client.report.refused:,} refused" if client.report.refused else ""
        say_line(human.joined(f"{taken} sent", refused, *client.report.said), err=True)
    for failure in summary.failures[:_LISTED]:
        say_line(f"unspool: not exported: {failure}", err=True)
    if (more := len(summary.failures) - _LISTED) > 0:
        say_line(f"unspool: and {more:,} more", err=True)
    if dataset is not None:
        say_line("Look through it, then give it to the Hub with one of these:", err=True)
        for command in upload_commands(dataset):
            say_line(f"  {command}", err=True)


@click.command("export")
@click.argument("name", metavar="FORMAT", type=click.Choice(NAMES))
@click.argument("folder", metavar="DIR", type=options.FOLDER, required=False)
@click.option("-p", "--project", default="", metavar="TEXT", help="Only projects whose path holds TEXT.")
@click.option("-m", "--model", default="", metavar="TEXT", help="Only sessions that used such a model.")
@click.option("--since", callback=options.day, metavar="WHEN", help="Active since 2026-01-31, or 3d, 2w ago.")
@click.option("--until", callback=options.day, metavar="WHEN", help="Active before a date or an age.")
@click.option("--no-thinking", is_flag=True, help="Leave out the model's thinking.")
@click.option("--no-notices", is_flag=True, help="Leave out hooks, reminders and other notices.")
@exchange_options
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@options.sources
def export_command(
    name: str, folder: Path | None, asked: ExchangeAsked, as_json: bool, library: "Library", **given: Any
) -> None:
    """Write all sessions for other programs, redacted.

    \b
    unspool lake export atif runs/                       an ATIF trajectory a session
    unspool lake export messages data/ --since 30d       for training: a file of conversations a session
    unspool lake export hf traces/ --license cc-by-4.0   a dataset for the Hugging Face Hub, with its card
    unspool lake export inspect scout/                   one table for Inspect Scout
    unspool lake export otel --to http://localhost:4318  spans of all sessions, to a collector

    FORMAT is one of those that `unspool export -f` has for other programs. One session at a time is read, redacted as
    a share of it would be, and written; one that cannot be read is told of, and ends the command with 1 when all
    others are done. Nothing is uploaded but with --to.
    """
    from unspool.share.exchange import ExportTarget, SessionExporter, export_many

    writer, client = exchange_writer(name, asked), _client(asked)
    if (folder is None) == (client is None):
        raise UsageProblem("Say where it goes: a folder, or for otel --to URL.")
    licence = _licence(asked) if name == "hf" else ""
    view = View(not given.pop("no_thinking"), notices=not given.pop("no_notices"), agents=True, prices=library.prices)
    logs = _chosen(library, given)
    with progress(_work(logs, asked), "Exporting") as advance:
        exporter = SessionExporter(library, writer, view, _settings(asked, advance), licence=licence)
        heard = _passing(logs, advance) if asked.no_redact else logs
        summary = export_many(exporter, heard, ExportTarget(folder, client))
    if as_json:
        print_result({**_data(summary), "sent": client.report if client else None}, (), as_json=True)
    else:
        _tell(summary, client, folder if name == "hf" else None)
    if summary.failures:
        raise UnspoolError(f"{human.count(len(summary.failures), 'session')} could not be exported.")


def _data(summary: "ExportSummary") -> dict[str, Any]:
    import msgspec

    return dict(msgspec.to_builtins(summary))


def _chosen(library: "Library", given: dict[str, Any]) -> "list[str | FoundLog]":
    """The logs of the sessions that are listed and fit, the newest first."""
    from unspool.cli.list_cmd import ListFilter

    wanted = ListFilter(**given)
    with progress(sum(log.total_size for log in library.logs()), "Reading sessions") as done:
        overviews = library.listing(done).overviews
    fitting = {(one.agent, one.id) for one in overviews if wanted.fits(one) and not wanted.hides(one)}
    return [log for log in library.logs() if (log.agent_id, log.session_id) in fitting]
