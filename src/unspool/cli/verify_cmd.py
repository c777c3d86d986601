"""`unspool verify`: every byte of the archive proved, and mended."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import keeping, options, terminal

if TYPE_CHECKING:
    from unspool.archive.proof import Proof
    from unspool.archive.repair import Repair


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
    from unspool.archive.place import ARCHIVE
    from unspool.archive.repair import Repair
    from unspool.archive.repair import repair as mend
    from unspool.archive.verify import verify
    from unspool.sync.turn import waiting

    key = options.key_of(archive)
    with terminal.progress(2 * keeping.file_size(archive / ARCHIVE), "Verifying") as done:
        proof = verify(archive, key=key, progress=done)
    outcome = Repair(proof)
    if repair and not proof.clean:
        with waiting(archive):
            outcome = mend(archive, proof, key=key)
    if as_json:
        keeping.print_json({"clean": outcome.proof.clean, "found": proof, "repair": outcome if repair else None})
    else:
        _print(proof)
        if repair and not proof.clean:
            _print_repair(outcome)
    if not outcome.proof.clean:
        sys.exit(1)


def _print(proof: "Proof") -> None:
    from unspool import human

    if proof.clean:
        what = f"{human.count(proof.files, 'file')} in {human.count(proof.generations, 'generation')}"
        keeping.say(f"Every byte is as it was: {what}, {human.size(proof.bytes)}, {human.count(proof.pages, 'page')}.")
        return
    keeping.say(f"{proof.archive} is damaged.")
    if proof.damaged_pages:
        shown = ", ".join(map(str, proof.damaged_pages[:10])) + (", …" if len(proof.damaged_pages) > 10 else "")
        keeping.say(f"{human.count(len(proof.damaged_pages), 'page')} of {proof.pages:,}: {shown}")
    for problem in proof.problems[:20]:
        keeping.say(problem)
    if proof.damages:
        keeping.say(f"{human.count(len(proof.damages), 'segment')} of files:")
        keeping.say_damage(proof.damages)
    if not proof.damages and not proof.refused:
        keeping.say("No byte of a kept file is affected.")


def _print_repair(outcome: "Repair") -> None:
    from unspool import human

    done = [
        f"{human.count(outcome.pages, 'page')} put right" if outcome.pages else "",
        f"{human.count(outcome.pieces, 'segment')} restored" if outcome.pieces else "",
        f"the rest put together anew (the broken file is kept as {outcome.broken})" if outcome.broken else "",
    ]
    keeping.say("\nRepaired: " + ("; ".join(part for part in done if part) or "everything was written anew") + ".")
    if outcome.proof.clean:
        keeping.say("Every byte is as it was.")
        return
    keeping.say("Lost, unless another archive that has it is merged (`unspool archive merge`):")
    for problem in outcome.proof.problems[:20]:
        keeping.say(f"  {problem}")
    keeping.say_damage(outcome.proof.damages)
