"""`unspool forget`: a session removed from the archive for good."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli import archive_helpers, options
from unspool.cli.output import confirm_typed, print_json, say_line

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
    from unspool.store.archive import Archive
    from unspool.store.archive.database import INDEX, remove_database
    from unspool.store.archive.forget import files_to_forget, forget
    from unspool.store.sync.lock import wait_for_lock

    with Archive.open(archive, key=options.key_of(archive)) as opened:
        name, files, its = archive_helpers.forgettable_files(opened, session)
        rows = files_to_forget(opened, files)
        told = {"session": name, "removed": False, "files": rows, "prompts": its.lines}
        told["mentions"] = still = archive_helpers.other_mentions(opened, name, its.parts.drops)
        if not as_json:
            _print(name, rows, its.lines, still)
        if not (yes or (not as_json and confirm_typed(f"Type {name[:8]} to remove it for good", name[:8]))):
            if as_json:
                print_json(told)
            else:
                click.echo("Nothing was removed. Add --yes to remove it for good.")
            return
        with wait_for_lock(archive):  # a sync that is under way does not know yet, and would bring it back
            _, files, its = archive_helpers.forgettable_files(opened, name)
            proof = forget(opened, files, lambda: remove_database(archive / INDEX), its.parts)
    _forget_marks(archive, name)
    if as_json:
        print_json({**told, "removed": True, "proof": proof})
    else:
        _print_proof(proof)
    if proof.found:
        sys.exit(1)


def _forget_marks(archive: Path, session: str) -> None:
    """What the user said about it goes as well."""
    from unspool.app.marks import MARKS_FILE, MarkStore

    if (archive / MARKS_FILE).exists():
        MarkStore(archive, options.key_of(archive)).forget(session)


def _print(session: str, rows: "list[FileToForget]", prompts: dict[str, int], still: dict[str, int]) -> None:
    from unspool import human

    say_line(f"Session {session}: {human.count(len(rows), 'file')}, {human.size(sum(row.bytes for row in rows))}")
    for row in rows:
        shared = f", {human.size(row.shared)} of it also in files that stay" if row.shared else ""
        size = f"{human.count(row.generations, 'generation')}, {human.size(row.bytes)}{shared}"
        say_line(f"  {row.path} ({row.machine}): {size}")
    for path, count in prompts.items():
        say_line(f"  {path}: {human.count(count, 'line')}, its own prompts; the rest of that file stays")
    for path, count in still.items():
        say_line(f"  {path} names it in {human.count(count, 'line')} of others, which {_stay(count)}.")


def _stay(count: int) -> str:
    return "stays" if count == 1 else "stay"


def _print_proof(proof: "Erasure") -> None:
    from unspool import human

    if proof.found:
        where = ", ".join(proof.where)
        say_line(
            f"Removed, but {human.count(proof.found, 'sample')} of {proof.samples} are still in {where}.", err=True
        )
        return
    shared = f" ({proof.shared} more are in sessions that stay)" if proof.shared else ""
    say_line(f"Removed for good: {human.count(proof.samples, 'sample')} looked for, none found{shared}.")
    say_line("The index was removed too; the next `unspool sync` makes it anew.")
