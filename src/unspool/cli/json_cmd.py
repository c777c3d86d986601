"""`unspool json`: one session, by file, address or name, as pages."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from unspool.cli import options
from unspool.cli.making import Making, make, making_options
from unspool.formats import Found
from unspool.library import Library


@click.command("json")
@click.argument("session", metavar="FILE|URL|SESSION")
@making_options
@options.sources
def command(session: str, making: Making, library: Library) -> None:
    """Make a web page of one log or session.

    \b
    unspool json session.jsonl -o pages/           a folder of pages
    unspool json latest                            the newest session, in the browser
    unspool json 3f2a -o talk.html                 one file that needs nothing else
    unspool json https://example.org/log.jsonl -a  a folder named after the session
    unspool json 3f2a --gist                       a secret gist, with what must not leave replaced

    FILE may be JSON lines or the JSON of a web export, also packed with gzip or zstd; "-" is standard input.
    """
    found = library.resolve(session)
    if isinstance(found, Found):
        with library.located(found) as here:
            make(library.open(found), making, library.prices, Path(here.path))
        return
    from unspool.library.scratch import scratch

    with scratch() as folder:
        kept = _kept(found, folder) if making.copy or making.gist else None
        make(library.open(str(kept) if kept else found), making, library.prices, kept)


def _kept(name: str, folder: Path) -> Path:
    """The log as a file, so that it can be read and copied as well."""
    from unspool.library.inputs import fetch, is_url

    path = Path(name)
    if is_url(name):
        path = folder / _file_name(name)
        path.write_bytes(fetch(name))
    elif name == "-":
        path = folder / "stdin.jsonl"
        path.write_bytes(sys.stdin.buffer.read())
    return path


def _file_name(url: str) -> str:
    """The last part of an address as a file name, with a log's suffix."""
    last = urlsplit(url).path.rpartition("/")[2]
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in last).lstrip(".")[:100]
    return plain if plain.endswith((".json", ".jsonl", ".gz", ".zst")) else f"{plain or 'session'}.jsonl"
