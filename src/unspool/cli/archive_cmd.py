"""`unspool archive`: what the archive holds; merging, encrypting, and other care of it."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import archive_helpers, options
from unspool.cli.output import print_json, say_line
from unspool.errors import NotFound, UsageProblem

if TYPE_CHECKING:
    from unspool.store.archive import Archive
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
    from unspool import human
    from unspool.store.archive import Archive
    from unspool.store.archive.database import ARCHIVE

    with Archive.open(archive, key=options.key_of(archive), readonly=True) as opened:
        told = _told(opened)
    if as_json:
        print_json(told)
        return
    share = f" ({100 * told['file_size'] / told['bytes']:.0f} % of them)" if told["bytes"] else ""
    say_line(f"{archive / ARCHIVE}{', encrypted' if told['encrypted'] else ''}")
    files = human.count(told["files"], "file")
    say_line(f"{human.size(told['bytes'])} in {files}, kept in {human.size(told['file_size'])}{share}")
    for place in told["origins"]:
        say_line(f"  {place['user']} on {place['machine']}, {place['root']}: {human.count(place['files'], 'file')}")
    if told["forgotten"]:
        say_line(f"{human.count(told['forgotten'], 'tombstone')} of what was forgotten for good")


def _told(archive: "Archive") -> dict[str, Any]:
    from unspool.store.archive.database import is_encrypted

    count = archive.db.execute
    per_place = dict(count("SELECT origin, count(*) FROM file GROUP BY origin"))
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
        "origins": [
            {**place._asdict(), "files": per_place.get(number, 0)} for number, place in archive.origins().items()
        ],
    }


@command.command("merge")
@click.argument("other", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--other-key-file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="The other's key."
)
@click.option("--json", "as_json", is_flag=True, help="Print what it brought as JSON.")
@options.archive
def merge(other: Path, other_key_file: Path | None, as_json: bool, archive: Path) -> None:
    """Join another archive (its folder or archive.db) into this one.

    Who, where and on which machine is kept. A log that both have is joined: the longer one where it continues the
    other, both as generations where they differ. What was forgotten here stays forgotten. The other archive is not
    changed, everything is checked on the way in, and merging again brings nothing.
    """
    from unspool.store.archive import Archive
    from unspool.store.archive.database import ARCHIVE, find_key, needed_key
    from unspool.store.archive.merge import merge_archives as join
    from unspool.store.sync.scan import forget_rules

    folder = other if other.is_dir() else other.parent
    if not other.is_dir() and other.name != ARCHIVE:
        raise UsageProblem(f"{other} is no archive: name its folder, or {ARCHIVE} in it.")
    ask = (
        (lambda: str(click.prompt("Passphrase of the other", hide_input=True, err=True)))
        if sys.stdin.isatty()
        else None
    )
    theirs = needed_key(folder / ARCHIVE, lambda: find_key(os.environ, other_key_file, ask))
    with (
        Archive.open(folder, key=theirs, readonly=True) as there,
        Archive.open(archive, key=options.key_of(archive)) as here,
    ):
        done = join(here, there, forget_rules)
    print_json(done) if as_json else _print_merged(done)


def _print_merged(done: "MergeReport") -> None:
    from unspool import human

    news = [
        (done.files, "new file"),
        (done.grown, "log that went on there"),
        (done.generations, "further generation"),
    ]
    told = ", ".join(human.count(number, *_plural(what)) for number, what in news if number)
    say_line(f"Merged: {told}, {human.size(done.bytes)}. Now run `unspool sync`." if told else "Nothing new there.")
    if done.forgotten:
        say_line(f"{human.count(done.forgotten, 'file')} left out: forgotten here.")
    for path in done.forgotten_there:
        say_line(f"Forgotten there, still here: {path}")


def _plural(what: str) -> tuple[str, str]:
    return (what, "logs that went on there") if what.startswith("log ") else (what, what + "s")


@command.command("encrypt")
@click.option(
    "--new-key-file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="The key from now on."
)
@options.archive
def encrypt(new_key_file: Path | None, archive: Path) -> None:
    """Encrypt the archive, or give it another key.

    Without --new-key-file, the key is that of --key-file, UNSPOOL_KEY_FILE or UNSPOOL_PASSPHRASE, or a passphrase
    that is asked for. There is no way to read the archive without its key: keep it elsewhere. The archive is written
    anew beside, proved equal, and put in place of the old one, which is overwritten; the next sync makes the index
    anew, with the same key.
    """
    from unspool.store.archive.database import ARCHIVE, find_key, is_encrypted

    _there(archive)
    old = options.key_of(archive)
    outside = {} if is_encrypted(archive / ARCHIVE) else os.environ
    new = find_key(outside, new_key_file, _ask_twice if sys.stdin.isatty() else None)
    if new is None:
        raise UsageProblem("Name a key: --new-key-file FILE, UNSPOOL_KEY_FILE or UNSPOOL_PASSPHRASE.")
    _convert(archive, old, new)
    click.echo("The archive is encrypted; `unspool sync` makes the index anew.")


def _convert(archive: Path, old: str | None, new: str | None) -> None:
    """Another key for the archive, and for what the user said about sessions, which lies beside it."""
    from unspool.app.marks import MarkStore
    from unspool.store.archive.salvage import convert
    from unspool.store.sync.lock import wait_for_lock

    with wait_for_lock(archive):
        convert(archive, old, new)
        MarkStore(archive, old).rekeyed(new)


def _ask_twice() -> str:
    typed: str = click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True)
    return typed


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

    NAMES are paths below the agent's folder, such as projects/-home-me-shop/ID.jsonl. A tombstone does not tell what
    it is of, so the ids of sessions are tried with the files that the agent has now.
    """
    from unspool import human
    from unspool.agents import FORMATS
    from unspool.store.archive import Archive
    from unspool.store.archive.forget import unbury as raise_
    from unspool.store.sync.lock import wait_for_lock

    _there(archive)
    with Archive.open(archive, key=options.key_of(archive)) as opened:
        found = {one for name in names for one in _candidates(opened, name)}
        with wait_for_lock(archive):
            count = raise_(opened, found, {format_.prompts for format_ in FORMATS})
    if not count:
        raise NotFound("No tombstone is of any of these.")
    click.echo(f"{human.count(count, 'tombstone')} gone; `unspool sync` keeps again what is still there.")


def _candidates(archive: "Archive", name: str) -> set[str]:
    """The name itself, and all files at the archive's sources that are of a session of that id, its prompts too."""
    from unspool.agents import by_id
    from unspool.store.sync.prompts import prompt_mentions
    from unspool.store.sync.scan import forgotten_names

    found = {name, *forgotten_names(name)}
    if len(name) < _LEAST:
        return found
    for place in archive.origins().values():
        root = Path(place.root)
        for path in (path.relative_to(root).as_posix() for path in root.rglob("*")):
            if archive_helpers.session_of_path(path).startswith(name):
                found |= {path, *forgotten_names(archive_helpers.session_of_path(path))}
        for naming in prompt_mentions(by_id(place.agent), root):
            mine = {session for session in naming.sessions if session.startswith(name)}
            found |= {*(one for session in mine for one in forgotten_names(session)), *(naming.files if mine else ())}
    return found


@command.command("tidy")
@options.archive
def tidy(archive: Path) -> None:
    """Join many small packs to large ones, and give room that is not needed back to the disk."""
    from unspool import human
    from unspool.store.archive import Archive
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.pack_writer import tidy_packs as join

    _there(archive)
    before = archive_helpers.file_size(archive / ARCHIVE)
    with Archive.open(archive, key=options.key_of(archive)) as opened:
        while join(opened, 64):
            pass
        join(opened, 1)
        opened.compact()
    after = archive_helpers.file_size(archive / ARCHIVE)
    click.echo(f"{human.size(before)} became {human.size(after)}.")


def _there(folder: Path) -> None:
    from unspool.store.archive.database import ARCHIVE

    if not (folder / ARCHIVE).exists():
        raise NotFound(f"There is no archive in {folder} yet; `unspool sync` makes it.")
