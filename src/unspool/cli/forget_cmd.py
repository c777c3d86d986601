"""`unspool forget`: a session removed from the archive for good."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import archive_helpers, options
from unspool.cli.output import confirm_typed, print_result, say_line

if TYPE_CHECKING:
    from unspool.store.archive.forget import Erasure, FileToForget


@click.command("forget")
@click.argument("session")
@click.option("--yes", is_flag=True, help="Remove it; without this, and unless you confirm, nothing is removed.")
@click.option("--json", "as_json", is_flag=True, help="Print what would go, or went, as JSON.")
@options.archive
def command(session: str, yes: bool, as_json: bool, archive: Path) -> None:
    """Remove a session from the archive for good.

    \b
    unspool forget 1c0ffee0           show what would go
    unspool forget 1c0ffee0 --yes     remove it
    unspool archive unbury 1c0ffee0   let sync keep it again

    All generations of all its files go, its prompts in the list of all prompts and what was pasted into them as well,
    and what was compressed together with them is written anew. Then samples of the removed bytes are looked for
    everywhere in the archive's folder, which proves that they are gone. A tombstone, which does not tell what it is
    of, keeps sync from bringing the session back. The agent's own files are not touched: unspool never writes there.
    """
    from unspool.app.marks import MARKS_FILE, MarkStore
    from unspool.store.archive.database import INDEX, remove_database
    from unspool.store.archive.forget import files_to_forget, forget
    from unspool.store.sync.lock import wait_for_lock

    with options.open_archive(archive) as opened:
        name, files, its = archive_helpers.forgettable_files(opened, session)
        rows = files_to_forget(opened, files)
        still = archive_helpers.other_mentions(opened, name, its.parts.drops)
        data = {"session": name, "removed": False, "files": rows, "prompts": its.lines, "mentions": still}
        lines = _lines(name, rows, its.lines, still)
        if not as_json:
            print_result(None, lines, as_json=False)
        if not yes and (as_json or not confirm_typed(f"Type {name[:8]} to remove it for good", name[:8])):
            print_result(data, ["Nothing was removed. Add --yes to remove it for good."], as_json=as_json)
            return
        with wait_for_lock(archive):  # a sync that is under way does not know yet, and would bring it back
            _, files, its = archive_helpers.forgettable_files(opened, name)
            proof = forget(opened, files, lambda: remove_database(archive / INDEX), its.parts)
    if (archive / MARKS_FILE).exists():
        MarkStore(archive, options.key_of(archive)).forget(name)
    print_result({**data, "removed": True, "proof": proof}, _proof_lines(proof), as_json=as_json)
    if proof.found:
        sys.exit(1)


def _lines(session: str, rows: "list[FileToForget]", prompts: dict[str, int], still: dict[str, int]) -> Iterator[str]:
    yield f"Session {session}: {human.count(len(rows), 'file')}, {human.size(sum(row.bytes for row in rows))}"
    for row in rows:
        shared = f", {human.size(row.shared)} of it also in files that stay" if row.shared else ""
        size = f"{human.count(row.generations, 'generation')}, {human.size(row.bytes)}{shared}"
        yield f"  {row.path} ({row.machine}): {size}"
    for path, count in prompts.items():
        yield f"  {path}: {human.count(count, 'line')}, its own prompts; the rest of that file stays"
    for path, count in still.items():
        stay = "stays" if count == 1 else "stay"
        yield f"  {path} names it in {human.count(count, 'line')} of others, which {stay}."


def _proof_lines(proof: "Erasure") -> Iterator[str]:
    if proof.found:
        where = ", ".join(proof.where)
        found = human.count(proof.found, "sample")
        say_line(f"Removed, but {found} of {proof.samples} are still in {where}.", err=True)
        return
    shared = f" ({proof.shared} more are in sessions that stay)" if proof.shared else ""
    yield f"Removed for good: {human.count(proof.samples, 'sample')} looked for, none found{shared}."
    yield "The index was removed too; the next `unspool sync` makes it anew."
