"""`unspool verify`, `restore` and `forget`: what the archive keeps, proved, given back and removed."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import confirm_typed, print_result, progress, say_line
from unspool.errors import NotFound, UsageProblem
from unspool.files import file_size

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.archive.forget import Erasure, FileToForget, LinesToForget, SessionFile
    from unspool.store.archive.line_filter import Drops
    from unspool.store.archive.repair import RepairReport
    from unspool.store.archive.restore import RestoredFile, RestoreOptions
    from unspool.store.archive.verify import Damage, VerifyResult
    from unspool.store.sync.prompts import OwnPrompts


def forgettable_files(archive: "ArchiveDatabase", name: str) -> "tuple[str, list[SessionFile], OwnPrompts]":
    """A session, the files that go with it, and what is its own in files that stay. A ghost has only the latter."""
    from unspool.store.library.session_files import files_of_session
    from unspool.store.sync.prompts import own_prompts, session_of_prompt

    try:
        session, files = files_of_session(archive, name)
    except NotFound:
        session, files = session_of_prompt(archive, name), []
    its = own_prompts(archive, session)
    return session, [*files, *its.alone], its


def forgettable_context_file(archive: "ArchiveDatabase", path: Path) -> "tuple[list[SessionFile], LinesToForget]":
    """A context file by its path, as it is kept from here or from other machines, and the names that it is buried by
    besides; empty where there is none."""
    from unspool.store.archive.forget import LinesToForget, SessionFile
    from unspool.store.index.context_files import is_context_file, whole_path
    from unspool.store.sync.scan import buried_name

    whole, files, names = str(path.expanduser().absolute()), list[SessionFile](), set[str]()
    for number, place in archive.origins().items():
        root = place.root.rstrip("/")
        inside = whole.removeprefix(f"{root}/") if whole.startswith(f"{root}/") else ""
        kept = archive.last(number, inside) if inside and is_context_file(place, inside) else None
        if kept is not None and whole_path(place, inside) == whole:
            files.append(SessionFile(number, place, kept))
            names.add(buried_name(place, inside))
    return files, LinesToForget(names=names)


def other_mentions(archive: "ArchiveDatabase", session: str, own: "Drops") -> dict[str, int]:
    """Kept files that are no single session's, and how many of their lines name one without being its `own`; all
    generations together."""
    from unspool.store.archive.line_filter import split_lines
    from unspool.store.library.session_files import session_of_path

    found = {}
    for origin, place in archive.origins().items():
        for path, last in archive.kept(origin).items():
            if session_of_path(place.agent, path):
                continue
            generations = archive.generations(last.file)
            lines = (line for kept in generations for line in split_lines(archive.stream(kept.generation)))
            count = sum(session.encode() in line and not own(line) for line in lines)
            if count:
                found[path] = count
    return found


@click.command("verify")
@click.option("--repair", is_flag=True, help="Mend what can be mended, from the sources where they still have it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every damaged segment.")
@options.archive
def verify_command(repair: bool, as_json: bool, archive: Path) -> None:
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
    with progress(2 * file_size(archive / ARCHIVE), "Verifying") as done:
        proof = verify_archive(archive, key=key, progress=done)
    outcome = RepairReport(proof)
    if repair and not proof.clean:
        with wait_for_lock(archive):
            outcome = repair_archive(archive, proof, key=key)
    lines = [*_verify_lines(proof), *(_repair_lines(outcome) if repair and not proof.clean else ())]
    data = {"clean": outcome.proof.clean, "found": proof, "repair": outcome if repair else None}
    print_result(data, lines, as_json=as_json)
    if not outcome.proof.clean:
        sys.exit(1)


def _verify_lines(proof: "VerifyResult") -> Iterator[str]:
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
def restore_command(
    session: str, to: Path | None, into_agent: bool, wanted: "RestoreOptions", as_json: bool, archive: Path
) -> None:
    """Give the files of a session back, byte for byte.

    \b
    unspool restore 1c0ffee0                    into ./SESSION
    unspool restore 1c0ffee0 --to look/         somewhere else
    unspool restore 1c0ffee0 --into-agent       where they were: then `claude --resume` finds it again

    SESSION is an id or its first characters. Its log comes with all that belongs to it: subagents, spilled output,
    todos, file history, and what was pasted into its prompts. Times are those of the originals, and nobody but you
    may read the files. Where several places or machines had a file of the session, the last one written is restored,
    and those that differ beside it, called NAME.version-N. A file that is there already and differs stops everything
    before a byte is written, unless --force is given.
    """
    from unspool.store.archive.restore import restore
    from unspool.store.library.session_files import files_of_session
    from unspool.store.sync.prompts import own_prompts

    if to is not None and into_agent:
        raise UsageProblem("--to and --into-agent are two places; choose one.")
    with options.open_archive(archive, readonly=True) as opened:
        name, files = files_of_session(opened, session)
        its = own_prompts(opened, name)
        files += its.pasted
        place = None if into_agent else to or Path(its.session)
        done = restore(opened, files, place, wanted)
    where = place if place is not None else " and ".join(sorted({one.place.root for one in files}))
    print_result({"session": name, "files": done}, _restore_lines(done, where), as_json=as_json)


def _restore_lines(done: "list[RestoredFile]", where: object) -> Iterator[str]:
    total = human.size(sum(one.size for one in done))
    same = sum(one.outcome == "same" for one in done)
    note = f" ({same} of them were there already)" if same else ""
    yield f"Restored {human.count(len(done), 'file')}, {total}, in {where}{note}."
    yield from (f"  replaced {one.path}" for one in done if one.outcome == "replaced")


@click.command("forget")
@click.argument("session")
@click.option("--yes", is_flag=True, help="Remove it; without this, and unless you confirm, nothing is removed.")
@click.option("--json", "as_json", is_flag=True, help="Print what would go, or went, as JSON.")
@options.archive
def forget_command(session: str, yes: bool, as_json: bool, archive: Path) -> None:
    """Remove a session from the archive for good.

    \b
    unspool forget 1c0ffee0           show what would go
    unspool forget 1c0ffee0 --yes     remove it
    unspool forget ./CLAUDE.md        a context file instead, in all its versions
    unspool archive unbury 1c0ffee0   let sync keep it again

    All generations of all its files go, its prompts in the list of all prompts and what was pasted into them as well,
    and what was compressed together with them is written anew. Then samples of the removed bytes are looked for
    everywhere in the archive's folder, which proves that they are gone. What shares of the session remember of what was
    replaced goes too. A tombstone, which does not tell what it is of, keeps sync from bringing the session back. The
    agent's own files are not touched: unspool never writes there.
    """
    from unspool.app.marks import MARKS_FILE, MarkStore
    from unspool.store.archive.forget import files_to_forget, forget
    from unspool.store.sync.lock import wait_for_lock

    with options.open_archive(archive) as opened:
        if ("/" in session or "." in session) and forgettable_context_file(opened, Path(session))[0]:
            _forget_context_file(opened, Path(session), yes=yes, as_json=as_json)
            return
        name, files, its = forgettable_files(opened, session)
        rows = files_to_forget(opened, files)
        still = other_mentions(opened, its.session, its.parts.drops)
        data = {"session": name, "removed": False, "files": rows, "prompts": its.lines, "mentions": still}
        lines = _forget_lines(name, rows, its.lines, still)
        if not as_json:
            print_result(None, lines, as_json=False)
        if not yes and (as_json or not confirm_typed(f"Type {name[:8]} to remove it for good", name[:8])):
            print_result(data, ["Nothing was removed. Add --yes to remove it for good."], as_json=as_json)
            return
        with wait_for_lock(archive):  # a sync that is under way does not know yet, and would bring it back
            _, files, its = forgettable_files(opened, name)
            proof = forget(opened, files, lambda: _forget_beside(opened, its.session), its.parts)
    if (archive / MARKS_FILE).exists():
        MarkStore(archive, options.key_of(archive)).forget(name)
    print_result({**data, "removed": True, "proof": proof}, _proof_lines(proof), as_json=as_json)
    if proof.found:
        sys.exit(1)


def _forget_context_file(archive: "ArchiveDatabase", path: Path, *, yes: bool, as_json: bool) -> None:
    from unspool.store.archive.database import INDEX, remove_database
    from unspool.store.archive.forget import files_to_forget, forget
    from unspool.store.sync.lock import wait_for_lock

    rows = files_to_forget(archive, forgettable_context_file(archive, path)[0])
    data = {"context_file": str(path.expanduser().absolute()), "removed": False, "files": rows}
    if not as_json:
        print_result(None, _file_lines(f"Context file {path}", rows), as_json=False)
    if not yes and (as_json or not confirm_typed(f"Type {path.name} to remove it for good", path.name)):
        print_result(data, ["Nothing was removed. Add --yes to remove it for good."], as_json=as_json)
        return
    with wait_for_lock(archive.path.parent):
        files, names = forgettable_context_file(archive, path)
        proof = forget(archive, files, lambda: remove_database(archive.path.with_name(INDEX)), names)
    print_result({**data, "removed": True, "proof": proof}, _proof_lines(proof), as_json=as_json)
    if proof.found:
        sys.exit(1)


def _forget_beside(archive: "ArchiveDatabase", session: str) -> None:
    """Remove what lies beside the archive and tells of a session: the index, what was replaced in its shares, and
    passages that a model shortened."""
    from unspool.copies.in_place import forget_edits
    from unspool.copies.records import forget_compressions
    from unspool.share.choices import forget_replacements
    from unspool.share.select_files import file_stem
    from unspool.store.archive.database import INDEX, remove_database

    remove_database(archive.path.with_name(INDEX))
    forget_replacements(archive, file_stem(session))
    forget_compressions(archive.path.parent, session)
    forget_edits(archive.path.parent, session)


def _forget_lines(
    session: str, rows: "list[FileToForget]", prompts: dict[str, int], still: dict[str, int]
) -> Iterator[str]:
    yield from _file_lines(f"Session {session}", rows)
    for path, count in prompts.items():
        yield f"  {path}: {human.count(count, 'line')}, its own prompts; the rest of that file stays"
    for path, count in still.items():
        stay = "stays" if count == 1 else "stay"
        yield f"  {path} names it in {human.count(count, 'line')} of others, which {stay}."


def _file_lines(name: str, rows: "list[FileToForget]") -> Iterator[str]:
    yield f"{name}: {human.count(len(rows), 'file')}, {human.size(sum(row.bytes for row in rows))}"
    for row in rows:
        shared = f", {human.size(row.shared)} of it also in files that stay" if row.shared else ""
        size = f"{human.count(row.generations, 'generation')}, {human.size(row.bytes)}{shared}"
        yield f"  {row.path} ({row.machine}): {size}"


def _proof_lines(proof: "Erasure") -> Iterator[str]:
    if proof.found:
        where = ", ".join(proof.where)
        found = human.count(proof.found, "sample")
        say_line(f"Removed, but {found} of {proof.samples} are still in {where}.", err=True)
        return
    shared = f" ({proof.shared} more are in sessions that stay)" if proof.shared else ""
    yield f"Removed for good: {human.count(proof.samples, 'sample')} looked for, none found{shared}."
    yield "The index was removed too; the next `unspool sync` makes it anew."
