"""`unspool repair`: a damaged session, mended in a copy."""

from typing import TYPE_CHECKING, Any

import click

from unspool.cli import copy_options, options
from unspool.cli.output import print_json, say_line

if TYPE_CHECKING:
    from unspool.agents.writing import RepairedLog
    from unspool.store.library import Library

_LISTED = 40
_SHOWN = 200
"""Bytes of what was lost that are told."""


@click.command("repair")
@click.argument("session", default="latest")
@copy_options.copy_output_options
@options.sources
def command(session: str, output: copy_options.CopyOutput, library: "Library") -> None:
    """Write a copy of a damaged session that can be resumed.

    \b
    unspool repair 3f2a             a mended copy beside the original
    unspool repair 3f2a -n          what would be mended, line by line
    unspool repair torn.jsonl -o mended.jsonl

    Torn lines go, lines that were glued together are parted, ids are made unique, parents that are missing or run in
    a circle are tied to what came before, empty content and reasoning that nobody signed go, a result without its
    call goes, a call without a result gets one that says so, and pictures that are too large become words. Each is
    told with its line. The original is never touched; where nothing is wrong, nothing is written.

    SESSION is an id or its first characters, a path, "-" for standard input, an http(s) URL, a piece of a title, or
    `latest`, which is the default. `unspool lint` only tells what is wrong.
    """
    from unspool.copies import material
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.fork import repair_original
    from unspool.copies.original import open_source
    from unspool.copies.treatment import PRESETS

    with open_source(library, session) as source:
        log, done = repair_original(source.log)
        told = {"deeds": [_plain(deed) for deed in done.deeds]}
        if not done.deeds:
            _nothing(output, told)
            return
        if not output.as_json:
            _tell(done)
        wish = CopyRequest(
            "repair", output.title or material.marked_title(log, "mended"), options={"deeds": len(done.deeds)}
        )
        copy_options.finish_copy(plan_copy(log, PRESETS["none"], wish), source._replace(log=log), output, told=told)


def _nothing(output: copy_options.CopyOutput, told: dict[str, Any]) -> None:
    if output.as_json:
        print_json(told)
    else:
        say_line("Nothing is wrong with the log, and nothing was written.")


def _plain(deed: Any) -> dict[str, Any]:
    from msgspec.structs import asdict

    return {**asdict(deed), "lost": deed.lost[:_SHOWN].decode(errors="replace"), "lost_bytes": len(deed.lost)}


def _tell(done: "RepairedLog") -> None:
    for deed in done.deeds[:_LISTED]:
        say_line(f"line {deed.line:<8}{deed.rule:<20}{deed.message}")
    if len(done.deeds) > _LISTED:
        say_line(f"... and {len(done.deeds) - _LISTED:,} more; --json lists all.")
    say_line("")
