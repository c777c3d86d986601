"""`unspool restore`: the files of a session, as they were."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import archive_helpers, options
from unspool.cli.output import print_result
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.store.archive.restore import RestoredFile, RestoreOptions


def _restore_options(
    generation: int | None, all_generations: bool, machine: str | None, force: bool
) -> "RestoreOptions":
    from unspool.store.archive.restore import RestoreOptions

    if generation and all_generations:
        raise UsageProblem("--generation and --all-generations contradict each other.")
    return RestoreOptions(generation or 0, all_generations, force, machine or "")


@click.command("restore")
@click.argument("session")
@click.option("--to", metavar="DIR", type=options.FOLDER, help="Write them here [./SESSION].")
@click.option("--into-agent", is_flag=True, help="Put them back where they were, so that the agent can resume it.")
@options.as_argument(
    "wanted",
    _restore_options,
    click.option("--generation", type=click.IntRange(min=1), help="That generation of files that were rewritten."),
    click.option("--all-generations", is_flag=True, help="All of them; earlier ones are called NAME.generation-N."),
    click.option("--machine", metavar="NAME", help="Only what came from that machine."),
    click.option("--force", is_flag=True, help="Replace files of other content."),
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
@options.archive
def command(
    session: str, to: Path | None, into_agent: bool, wanted: "RestoreOptions", as_json: bool, archive: Path
) -> None:
    """Give the files of a session back, byte for byte.

    \b
    unspool restore 1c0ffee0                    into ./SESSION
    unspool restore 1c0ffee0 --to look/         somewhere else
    unspool restore 1c0ffee0 --into-agent       where they were: then `claude --resume` finds it again

    SESSION is an id or its first characters. Its log comes with all that belongs to it: subagents, spilled output,
    todos, file history, and what was pasted into its prompts. Times are those of the originals, and nobody but you
    may read the files. A file that is there already and differs stops everything before a byte is written, unless
    --force is given.
    """
    from unspool.store.archive.restore import restore
    from unspool.store.sync.prompts import own_prompts

    if to is not None and into_agent:
        raise UsageProblem("--to and --into-agent are two places; choose one.")
    with options.open_archive(archive, readonly=True) as opened:
        name, files = archive_helpers.session_files(opened, session)
        files += own_prompts(opened, name).pasted
        place = None if into_agent else to or Path(name)
        done = restore(opened, files, place, wanted)
    where = place if place is not None else " and ".join(sorted({one.place.root for one in files}))
    print_result({"session": name, "files": done}, _lines(done, where), as_json=as_json)


def _lines(done: "list[RestoredFile]", where: object) -> Iterator[str]:
    total = human.size(sum(one.size for one in done))
    same = sum(one.outcome == "same" for one in done)
    note = f" ({same} of them were there already)" if same else ""
    yield f"Restored {human.count(len(done), 'file')}, {total}, in {where}{note}."
    yield from (f"  replaced {one.path}" for one in done if one.outcome == "replaced")
