"""`unspool verify`: every byte of the archive proved, and mended."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import archive_helpers, options, terminal
from unspool.cli.output import print_json, say_line

if TYPE_CHECKING:
    from unspool.store.archive.repair import RepairReport
    from unspool.store.archive.verify import VerifyResult


@click.command("verify")
@click.option("--repair", is_flag=True, help="Mend what can be mended, from the sources where they still have it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every damaged segment.")
@options.archive
def command(repair: bool, as_json: bool, archive: Path) -> None:
    """Prove that every byte of the archive is as it was.

    \b
    unspool verify              read everything, name what is damaged
    unspool verify --repair     and mend it

    Every page of the file has a checksum, every piece of a log a digest, and the digests of a log are chained, so
    that a change anywhere shows. A single changed byte of a page is put right from its checksum alone; more is taken
    from the source, where that still has it; what neither has is named, and everything else stays readable. The exit
    code is 0 where all is well (or is again), 1 where something is damaged.
    """
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.repair import RepairReport
    from unspool.store.archive.repair import repair_archive as mend
    from unspool.store.archive.verify import verify_archive
    from unspool.store.sync.lock import wait_for_lock

    key = options.key_of(archive)
    with terminal.progress(2 * archive_helpers.file_size(archive / ARCHIVE), "Verifying") as done:
        proof = verify_archive(archive, key=key, progress=done)
    outcome = RepairReport(proof)
    if repair and not proof.clean:
        with wait_for_lock(archive):
            outcome = mend(archive, proof, key=key)
    if as_json:
        print_json({"clean": outcome.proof.clean, "found": proof, "repair": outcome if repair else None})
    else:
        _print(proof)
        if repair and not proof.clean:
            _print_repair(outcome)
    if not outcome.proof.clean:
        sys.exit(1)


def _print(proof: "VerifyResult") -> None:
    from unspool import human

    if proof.clean:
        what = f"{human.count(proof.files, 'file')} in {human.count(proof.generations, 'generation')}"
        say_line(f"Every byte is as it was: {what}, {human.size(proof.bytes)}, {human.count(proof.pages, 'page')}.")
        return
    say_line(f"{proof.archive} is damaged.")
    if proof.damaged_pages:
        shown = ", ".join(map(str, proof.damaged_pages[:10])) + (", …" if len(proof.damaged_pages) > 10 else "")
        say_line(f"{human.count(len(proof.damaged_pages), 'page')} of {proof.pages:,}: {shown}")
    for problem in proof.problems[:20]:
        say_line(problem)
    if proof.damages:
        say_line(f"{human.count(len(proof.damages), 'segment')} of files:")
        archive_helpers.say_damage(proof.damages)
    if not proof.damages and not proof.refused:
        say_line("No byte of a kept file is affected.")


def _print_repair(outcome: "RepairReport") -> None:
    from unspool import human

    done = [
        f"{human.count(outcome.pages, 'page')} put right" if outcome.pages else "",
        f"{human.count(outcome.pieces, 'segment')} restored" if outcome.pieces else "",
        f"the rest put together anew (the broken file is kept as {outcome.broken})" if outcome.broken else "",
    ]
    say_line("\nRepaired: " + ("; ".join(part for part in done if part) or "everything was written anew") + ".")
    if outcome.proof.clean:
        say_line("Every byte is as it was.")
        return
    say_line("Lost, unless another archive that has it is merged (`unspool archive merge`):")
    for problem in outcome.proof.problems[:20]:
        say_line(f"  {problem}")
    archive_helpers.say_damage(outcome.proof.damages)
