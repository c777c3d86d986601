"""`unspool archive`: what the archive holds; merging, encrypting, and other care of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool import human
from unspool.cli import options
from unspool.cli.output import print_result
from unspool.errors import NotFound, UsageProblem
from unspool.files import file_size

if TYPE_CHECKING:
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.archive.merge import MergeReport

_LEAST = 8
"""Characters of an id that may stand for it."""


@click.group("archive", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Tell about the archive; merge, encrypt, decrypt it.

    \b
    unspool archive                         what it holds, and how small
    unspool archive merge /mnt/laptop       join another machine's archive into this one
    unspool archive encrypt                 with a passphrase, or --new-key-file FILE
    unspool archive decrypt                 make it readable without a key again
    unspool archive unbury SESSION          let sync keep a forgotten session again
    unspool archive tidy                    join many small packs to large ones
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(info, archive=None, key_file=None)


@command.command("info")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.archive
def info(archive: Path, as_json: bool = False) -> None:
    """Tell what the archive holds, and how small."""
    from unspool.store.archive.database import ARCHIVE

    with options.open_archive(archive, readonly=True) as opened:
        data = _facts(opened)
    share = f" ({100 * data['file_size'] / data['bytes']:.0f} % of them)" if data["bytes"] else ""
    files, kept = human.count(data["files"], "file"), human.size(data["file_size"])
    lines = [
        f"{archive / ARCHIVE}{', encrypted' if data['encrypted'] else ''}",
        f"{human.size(data['bytes'])} in {files}, kept in {kept}{share}",
    ]
    lines += [f"  {place['user']} on {place['machine']}, {_holding(place)}" for place in data["origins"]]
    if data["forgotten"]:
        lines.append(f"{human.count(data['forgotten'], 'tombstone')} of what was forgotten for good")
    print_result(data, lines, as_json=as_json)


def _holding(place: dict[str, Any]) -> str:
    """Where the files of a place are from, and how many there are."""
    from unspool.store.index.context_files import CONTEXT

    beside = place["agent"].startswith(CONTEXT)
    where = "folders worked in" if place["agent"] == CONTEXT else place["root"]
    return f"{where}: {human.count(place['files'], 'context file' if beside else 'file')}"


def _facts(archive: "ArchiveDatabase") -> dict[str, Any]:
    from unspool.store.archive.keys import is_encrypted

    count = archive.db.execute
    per_place = dict(count("SELECT origin, count(*) FROM file GROUP BY origin"))
    origins = archive.origins().items()
    return {
        "path": str(archive.path),
        "encrypted": is_encrypted(archive.path),
        "file_size": archive.path.stat().st_size,
        "files": sum(per_place.values()),
        "generations": count("SELECT count(*) FROM generation").get,
        "bytes": count("SELECT coalesce(sum(size), 0) FROM generation").get,
        "stored": count("SELECT coalesce(sum(size), 0) FROM pack").get,
        "packs": count("SELECT count(*) FROM pack").get,
        "forgotten": len(archive.buried()),
        "origins": [{**place._asdict(), "files": per_place.get(number, 0)} for number, place in origins],
    }


@command.command("merge")
@click.argument("other", type=click.Path(path_type=Path, exists=True))
@click.option("--other-key-file", metavar="FILE", type=options.FILE, help="The other's key.")
@click.option("--json", "as_json", is_flag=True, help="Print what it brought as JSON.")
@options.archive
def merge(other: Path, other_key_file: Path | None, as_json: bool, archive: Path) -> None:
    """Join another archive (its folder or archive.db) into this one.

    Who, where and on which machine is kept. A log that both have is joined: the longer one where it continues the
    other, both as generations where they differ. What was forgotten here stays forgotten. The other archive is not
    changed, everything is checked on the way in, and merging again brings nothing.
    """
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.keys import find_key, needed_key
    from unspool.store.archive.merge import merge_archives
    from unspool.store.sync.scan import file_rules

    folder = other if other.is_dir() else other.parent
    if not other.is_dir() and other.name != ARCHIVE:
        raise UsageProblem(f"{other} is no archive: name its folder, or {ARCHIVE} in it.")
    ask = options.prompt_for("Passphrase of the other")
    theirs = needed_key(folder / ARCHIVE, lambda: find_key(os.environ, other_key_file, ask))
    with ArchiveDatabase.open(folder, key=theirs, readonly=True) as there, options.open_archive(archive) as here:
        done = merge_archives(here, there, file_rules)
    print_result(done, _merge_lines(done), as_json=as_json)


def _merge_lines(done: "MergeReport") -> Iterator[str]:
    counts = (
        (done.files, "new file", "new files"),
        (done.grown, "log that went on there", "logs that went on there"),
        (done.generations, "further generation", "further generations"),
    )
    news = ", ".join(human.count(number, one, many) for number, one, many in counts if number)
    yield f"Merged: {news}, {human.size(done.bytes)}. Now run `unspool sync`." if news else "Nothing new there."
    if done.forgotten:
        yield f"{human.count(done.forgotten, 'file')} left out: forgotten here."
    yield from (f"Forgotten there, still here: {path}" for path in done.forgotten_there)


@command.command("encrypt")
@click.option("--new-key-file", metavar="FILE", type=options.FILE, help="The key from now on.")
@options.archive
def encrypt(new_key_file: Path | None, archive: Path) -> None:
    """Encrypt the archive, or give it another key.

    Without --new-key-file, the key is that of --key-file, UNSPOOL_KEY_FILE or UNSPOOL_PASSPHRASE, or a passphrase
    that is asked for; it has at least 12 characters. A key file may hold 32 bytes in hexadecimal (`openssl rand
    -hex 32`), which are the key as they are. There is no way to read the archive without its key: keep it elsewhere.
    The archive is written anew beside, proved equal, and put in place of the old one, which is overwritten; the next
    sync makes the index anew, with the same key.
    """
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.keys import find_new_key, is_encrypted

    _there(archive)
    old = options.key_of(archive)
    outside = {} if is_encrypted(archive / ARCHIVE) else os.environ
    new = find_new_key(outside, new_key_file, options.prompt_for("New passphrase", confirm=True))
    if new is None:
        raise UsageProblem("Name a key: --new-key-file FILE, UNSPOOL_KEY_FILE or UNSPOOL_PASSPHRASE.")
    _convert(archive, old, new)
    click.echo("The archive is encrypted; `unspool sync` makes the index anew.")


def _convert(archive: Path, old: str | None, new: str | None) -> None:
    """Another key for the archive, and for what the user said about sessions and shares, which lies beside it."""
    from unspool.app.marks import MarkStore
    from unspool.share.choices import bring_out_memory, convert_plain_names, take_in_memory
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.archive.salvage import convert
    from unspool.store.sync.lock import wait_for_lock

    convert_plain_names(archive)
    with wait_for_lock(archive):
        if new is None:
            with ArchiveDatabase.open(archive, key=old) as opened:
                bring_out_memory(opened)
        convert(archive, old, new)
        MarkStore(archive, old).rekeyed(new)
        if new is not None:
            with ArchiveDatabase.open(archive, key=new) as opened:
                take_in_memory(opened)


@command.command("decrypt")
@options.archive
def decrypt(archive: Path) -> None:
    """Make the archive readable without a key again."""
    _there(archive)
    old = options.key_of(archive)
    if old is None:
        click.echo("The archive is not encrypted.")
        return
    _convert(archive, old, None)
    click.echo("The archive is no longer encrypted; `unspool sync` makes the index anew.")


@command.command("unbury")
@click.argument("names", nargs=-1, required=True)
@options.archive
def unbury(names: tuple[str, ...], archive: Path) -> None:
    """Let sync keep forgotten files again.

    NAMES are paths below the agent's folder, such as projects/-home-me-shop/ID.jsonl, or whole paths of context files.
    A tombstone does not tell what it is of, so the ids of sessions are tried with the files that the agent has now.
    """
    from unspool.agents import AGENTS
    from unspool.store.archive.forget import unbury as raise_
    from unspool.store.sync.lock import wait_for_lock

    _there(archive)
    with options.open_archive(archive) as opened:
        found = {one for name in names for one in _candidates(opened, name)}
        with wait_for_lock(archive):
            count = raise_(opened, found, {agent.prompt_list.name for agent in AGENTS})
    if not count:
        raise NotFound("No tombstone is of any of these.")
    click.echo(f"{human.count(count, 'tombstone')} gone; `unspool sync` keeps again what is still there.")


def _candidates(archive: "ArchiveDatabase", name: str) -> set[str]:
    """The name itself, and all files at the archive's sources that are of a session of that id, its prompts too."""
    from unspool.agents import by_id, is_known
    from unspool.store.library.session_files import session_of_path
    from unspool.store.sync.prompts import prompt_mentions
    from unspool.store.sync.scan import forgotten_names

    found = {name, name.lstrip("/"), *forgotten_names(name)}
    if len(name) < _LEAST:
        return found
    for place in (one for one in archive.origins().values() if is_known(one.agent)):
        root = Path(place.root)
        for path in (path.relative_to(root).as_posix() for path in root.rglob("*")):
            if (session := session_of_path(place.agent, path)).startswith(name):
                found |= {path, *forgotten_names(session)}
        for naming in prompt_mentions(by_id(place.agent), root):
            mine = {session for session in naming.sessions if session.startswith(name)}
            found |= {*(one for session in mine for one in forgotten_names(session)), *(naming.files if mine else ())}
    return found


@command.command("tidy")
@options.archive
def tidy(archive: Path) -> None:
    """Join many small packs to large ones, and give room that is not needed back to the disk."""
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.pack_writer import tidy_packs

    _there(archive)
    before = file_size(archive / ARCHIVE)
    with options.open_archive(archive) as opened:
        while tidy_packs(opened, 64):
            pass
        tidy_packs(opened, 1)
        opened.compact()
    after = file_size(archive / ARCHIVE)
    click.echo(f"{human.size(before)} became {human.size(after)}.")


def _there(folder: Path) -> None:
    from unspool.store.archive.database import ARCHIVE

    if not (folder / ARCHIVE).exists():
        raise NotFound(f"There is no archive in {folder} yet; `unspool sync` makes it.")
