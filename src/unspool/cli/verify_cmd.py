"""`unspool verify`: every byte of the archive proved, and mended."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import archive_helpers, options
from unspool.cli.output import print_result, progress

if TYPE_CHECKING:
    from unspool.store.archive.repair import RepairReport
    from unspool.store.archive.verify import Damage, VerifyResult


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
    from unspool.store.archive.repair import RepairReport, repair_archive
    from unspool.store.archive.verify import verify_archive
    from unspool.store.sync.lock import wait_for_lock

    key = options.key_of(archive)
    with progress(2 * archive_helpers.file_size(archive / ARCHIVE), "Verifying") as done:
        proof = verify_archive(archive, key=key, progress=done)
    outcome = RepairReport(proof)
    if repair and not proof.clean:
        with wait_for_lock(archive):
            outcome = repair_archive(archive, proof, key=key)
    lines = [*_lines(proof), *(_repair_lines(outcome) if repair and not proof.clean else ())]
    data = {"clean": outcome.proof.clean, "found": proof, "repair": outcome if repair else None}
    print_result(data, lines, as_json=as_json)
    if not outcome.proof.clean:
        sys.exit(1)


def _lines(proof: "VerifyResult") -> Iterator[str]:
    if proof.clean:
        what = f"{human.count(proof.files, 'file')} in {human.count(proof.generations, 'generation')}"
        yield f"Every byte is as it was: {what}, {human.size(proof.bytes)}, {human.count(proof.pages, 'page')}."
        return
    yield f"{proof.archive} is damaged."
    if proof.damaged_pages:
        shown = ", ".join(map(str, proof.damaged_pages[:10])) + (", …" if len(proof.damaged_pages) > 10 else "")
        yield f"{human.count(len(proof.damaged_pages), 'page')} of {proof.pages:,}: {shown}"
    yield from proof.problems[:20]
    if proof.damages:
        yield f"{human.count(len(proof.damages), 'segment')} of files:"
        yield from map(_damage_line, proof.damages)
    if not proof.damages and not proof.refused:
        yield "No byte of a kept file is affected."


def _damage_line(one: "Damage") -> str:
    where = f"{one.path}, generation {one.generation}, bytes {one.start:,} to {one.start + one.size:,}"
    return f"  {where} (of {one.machine}, {one.root}): {one.why}"


def _repair_lines(outcome: "RepairReport") -> Iterator[str]:
    done = [
        f"{human.count(outcome.pages, 'page')} put right" if outcome.pages else "",
        f"{human.count(outcome.pieces, 'segment')} restored" if outcome.pieces else "",
        f"the rest put together anew (the broken file is kept as {outcome.broken})" if outcome.broken else "",
    ]
    yield f"\nRepaired: {'; '.join(filter(None, done)) or 'everything was written anew'}."
    if outcome.proof.clean:
        yield "Every byte is as it was."
        return
    yield "Lost, unless another archive that has it is merged (`unspool archive merge`):"
    yield from (f"  {problem}" for problem in outcome.proof.problems[:20])
    yield from map(_damage_line, outcome.proof.damages)
