"""`unspool hub backup`, `restore`, `move`, `tidy` and `verify`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool import human
from unspool.cli import options
from unspool.cli.hub_options import PlaceOptions, as_json, closing_store, place_options, store_options
from unspool.cli.output import print_json
from unspool.errors import Unsound, UsageProblem

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store, StorePlace
    from unspool.hub.store.copy import CopyReport

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")


def _say_step(step: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{step} …", err=True)


def _report(result: "CopyReport", done: str, *, as_json: bool) -> None:
    """Say what was copied; exit code 11 where the hub itself has lost contents."""
    rows, contents = sum(table.rows for table in result.sums.values()), result.sums["blob"].rows
    if as_json:
        tables = {name: table._asdict() for name, table in result.sums.items()}
        counts = {"rows": rows, "contents": contents, "sent": result.sent}
        print_json({**counts, "tables": tables, "problems": result.problems})
    else:
        what = f"{human.count(rows, 'row')} and {human.count(contents, 'content')}, {result.sent} of them new"
        click.echo(f"{done}: {what}; every one is as it was.")
        for problem in result.problems:
            click.echo(problem, err=True)
    if result.problems:
        raise Unsound("The hub itself does not have all of its contents as they were; the rest is copied.")


@click.command("backup")
@click.argument("folder", type=options.FOLDER, metavar="DIR")
@_JSON
@store_options
def backup_command(folder: Path, as_json: bool, store: "Store") -> None:
    """Save all of a hub to a folder, as it is at one moment, while it runs.

    \b
    unspool hub backup /mnt/backup/hub
    unspool hub backup /mnt/backup/hub --database postgresql://… --objects s3://…

    The same folder again takes only what is new, and holds the backup before until the new one is complete. `unspool
    hub verify --data DIR` proves a backup, `unspool hub restore DIR` brings it back.
    """
    from unspool.hub.store.copy import backup

    _report(backup(store, folder.absolute(), _say_step), "Saved", as_json=as_json)


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@_JSON
@place_options
def restore_command(folder: Path, as_json: bool, place: "StorePlace") -> None:
    """Bring a hub back from what `unspool hub backup` saved, to an empty place of either kind.

    \b
    unspool hub restore /mnt/backup/hub --data /srv/hub
    unspool hub restore /mnt/backup/hub --database postgresql://… --objects s3://…

    Rows and contents are compared with the backup. Where it breaks off, the same command goes on. Tokens, shares and
    rights are as they were at the moment of the backup.
    """
    from unspool.hub.store.connect import open_store
    from unspool.hub.store.copy import restore

    if folder.absolute() == place.folder and not (place.database and place.bucket):
        raise UsageProblem("A backup is brought back to another place than its own folder.")
    with closing_store(open_store(place, unfinished=True)) as target:
        _report(restore(folder.absolute(), target, _say_step), "Restored", as_json=as_json)


@click.command("move")
@click.option("--from-data", type=options.FOLDER, metavar="DIR", help="Where it is now.")
@click.option("--from-database", default="", metavar="URL", help="Its database now, if no file in the folder.")
@click.option("--from-objects", default="", metavar="URL", help="Its objects now, if not in the folder.")
@_JSON
@place_options
def move_command(
    from_data: Path | None, from_database: str, from_objects: str, as_json: bool, place: "StorePlace"
) -> None:
    """Move a hub to another place, and prove that all of it arrived.

    \b
    unspool hub move --from-data /srv/hub --database postgresql://… --objects s3://…
    unspool hub move --from-database postgresql://… --from-objects s3://… --data /srv/hub

    Stop the hub first: a move that sees it written to ends without a result. Rows and contents are copied and
    compared, and the old place stays as it is. Where it breaks off, the same command goes on; the new place must be
    empty but for that. The exit code is 0 where everything arrived.
    """
    from unspool.hub.store.connect import open_store
    from unspool.hub.store.copy import move

    before = PlaceOptions(from_data, from_database, from_objects).place()
    same_database = (before.database or before.folder) == (place.database or place.folder)
    if same_database or (before.bucket or before.folder) == (place.bucket or place.folder):
        raise UsageProblem("A hub moves from one place to another: --from-… and the others name the same.")
    with (
        closing_store(open_store(before, new=False)) as source,
        closing_store(open_store(place, unfinished=True)) as target,
    ):
        _report(move(source, target, _say_step), "Moved", as_json=as_json)


@click.command("tidy")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every content that is missing.")
@store_options
def tidy_command(as_json: bool, store: "Store") -> None:
    """Remove contents that nothing has referred to for a day, and what a crash left.

    \b
    unspool hub tidy

    A hub does this by itself while it runs; nothing that anybody can see changes.
    """
    from unspool.hub.store.verify import tidy

    found = tidy(store)
    if as_json:
        print_json(found._asdict())
        return
    strays = found.objects + found.parts
    click.echo(f"Removed {human.count(found.contents, 'content')}, {human.size(found.bytes)}, and {strays} left over.")
    for digest in found.missing:
        click.echo(f"The content {digest} is missing in the object store.", err=True)


@click.command("verify")
@click.option("--head", default="", metavar="DIGEST", help="The audit log must hold this digest, which you kept.")
@as_json
@store_options
def verify_command(head: str, as_json: bool, store: "Store") -> None:
    """Read every content of a hub and prove it, follow every reference, and prove the audit log.

    \b
    unspool hub verify
    unspool hub verify --data /mnt/backup/hub       a backup

    Nothing is changed, and the hub may run. The exit code is 0 where all is well, 1 where something is not.
    """
    from unspool.hub.people.audit import verify_audit
    from unspool.hub.store.verify import verify

    found = verify(store)
    problems = [*found.problems, *verify_audit(store, head)]
    if as_json:
        print_json({"contents": found.contents, "bytes": found.bytes, "problems": problems})
    else:
        for problem in problems:
            click.echo(problem, err=True)
        read = f"{human.count(found.contents, 'content')}, {human.size(found.bytes)}"
        click.echo(f"Read: {read}. {'All is as it should be.' if not problems else ''}".rstrip())
    if problems:
        sys.exit(1)
