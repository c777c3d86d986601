"""`unspool repair`: a damaged session, mended in a copy."""

from typing import TYPE_CHECKING

import click

from unspool.cli import copy_options, options
from unspool.cli.output import print_result, say_line

if TYPE_CHECKING:
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
    from msgspec.structs import asdict

    from unspool.copies import material
    from unspool.copies.copy_plan import CopyRequest, plan_copy
    from unspool.copies.fork import repair_original
    from unspool.copies.original import open_source
    from unspool.copies.treatment import PRESETS

    with open_source(library, session) as source:
        log, done = repair_original(source.log)
        data = {
            "deeds": [
                {**asdict(deed), "lost": deed.lost[:_SHOWN].decode(errors="replace"), "lost_bytes": len(deed.lost)}
                for deed in done.deeds
            ]
        }
        if not done.deeds:
            print_result(data, ["Nothing is wrong with the log, and nothing was written."], as_json=output.as_json)
            return
        for deed in () if output.as_json else done.deeds[:_LISTED]:
            say_line(f"line {deed.line:<8}{deed.rule:<20}{deed.message}")
        if not output.as_json:
            more = f"... and {len(done.deeds) - _LISTED:,} more; --json lists all.\n"
            say_line(more if len(done.deeds) > _LISTED else "")
        title = output.title or material.marked_title(log, "mended")
        request = CopyRequest("repair", title, options={"deeds": len(done.deeds)})
        plan = plan_copy(log, PRESETS["none"], request)
        copy_options.finish_copy(plan, source._replace(log=log), output, data=data)
