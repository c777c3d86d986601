"""`unspool hub backup`, `restore`, `move`, `tidy` and `verify`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli.hub_options import PlaceOptions, place_options
from unspool.cli.hub_options import store_place as source_place

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")
@place_options
def backup_command(folder: Path, as_json: bool, place: "StorePlace") -> None:
    """Save all of a hub to a folder, as it is at one moment, while it runs.

    \b
    unspool hub backup /mnt/backup/hub
    unspool hub backup /mnt/backup/hub --database postgresql://… --objects s3://…

    The same folder again takes only what is new, and holds the backup before until the new one is complete. `unspool
    hub verify --data DIR` proves a backup, `unspool hub restore DIR` brings it back.
    """
    from unspool.cli.hub_options import existing_hub, say_copied, say_step
    from unspool.hub.store.copy import backup

    with existing_hub(place) as store:
        say_copied(backup(store, folder.absolute(), say_step), "Saved", as_json=as_json)


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")
@place_options
def restore_command(folder: Path, as_json: bool, place: "StorePlace") -> None:
    """Bring a hub back from what `unspool hub backup` saved, to an empty place of either kind.

    \b
    unspool hub restore /mnt/backup/hub --data /srv/hub
    unspool hub restore /mnt/backup/hub --database postgresql://… --objects s3://…

    Rows and contents are compared with the backup. Where it breaks off, the same command goes on. Tokens, shares and
    rights are as they were at the moment of the backup.
    """
    from unspool.cli.hub_options import say_copied, say_step
    from unspool.errors import UsageProblem
    from unspool.hub.store.connect import open_store
    from unspool.hub.store.copy import restore

    if folder.absolute() == place.folder and not (place.database and place.bucket):
        raise UsageProblem("A backup is brought back to another place than its own folder.")
    target = open_store(place, unfinished=True)
    try:
        say_copied(restore(folder.absolute(), target, say_step), "Restored", as_json=as_json)
    finally:
        target.db.close()


@click.command("move")
@click.option("--from-data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where it is now.")
@click.option("--from-database", default="", metavar="URL", help="Its database now, if no file in the folder.")
@click.option("--from-objects", default="", metavar="URL", help="Its objects now, if not in the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")
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
    from unspool.cli.hub_options import say_copied, say_step
    from unspool.errors import UsageProblem
    from unspool.hub.store.connect import open_store
    from unspool.hub.store.copy import move

    before = source_place(PlaceOptions(from_data, from_database, from_objects))
    if _same(before, place):
        raise UsageProblem("A hub moves from one place to another: --from-… and the others name the same.")
    source = open_store(before, new=False)
    try:
        target = open_store(place, unfinished=True)
        try:
            say_copied(move(source, target, say_step), "Moved", as_json=as_json)
        finally:
            target.db.close()
    finally:
        source.db.close()


def _same(one: "StorePlace", other: "StorePlace") -> bool:
    """Whether two places share a database or an object store."""
    database = (one.database or one.folder) == (other.database or other.folder)
    return database or (one.bucket or one.folder) == (other.bucket or other.folder)


@click.command("tidy")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every content that is missing.")
@place_options
def tidy_command(as_json: bool, place: "StorePlace") -> None:
    """Remove contents that nothing has referred to for a day, and what a crash left.

    \b
    unspool hub tidy

    A hub does this by itself while it runs; nothing that anybody can see changes.
    """
    from unspool import human
    from unspool.cli.hub_options import existing_hub
    from unspool.hub.store.verify import tidy

    with existing_hub(place) as store:
        found = tidy(store)
    if as_json:
        click.echo(json.dumps(found._asdict(), indent=2))
        return
    strays = found.objects + found.parts
    click.echo(f"Removed {human.count(found.contents, 'content')}, {human.size(found.bytes)}, and {strays} left over.")
    for digest in found.missing:
        click.echo(f"The content {digest} is missing in the object store.", err=True)


@click.command("verify")
@click.option("--head", default="", metavar="DIGEST", help="The audit log must hold this digest, which you kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@place_options
def verify_command(head: str, as_json: bool, place: "StorePlace") -> None:
    """Read every content of a hub and prove it, follow every reference, and prove the audit log.

    \b
    unspool hub verify
    unspool hub verify --data /mnt/backup/hub       a backup

    Nothing is changed, and the hub may run. The exit code is 0 where all is well, 1 where something is not.
    """
    from unspool import human
    from unspool.cli.hub_options import existing_hub
    from unspool.hub.people.audit import verify_audit
    from unspool.hub.store.verify import verify

    with existing_hub(place) as store:
        found = verify(store)
        problems = [*found.problems, *verify_audit(store.db, head)]
    if as_json:
        click.echo(json.dumps({"contents": found.contents, "bytes": found.bytes, "problems": problems}, indent=2))
    else:
        for problem in problems:
            click.echo(problem, err=True)
        read = f"{human.count(found.contents, 'content')}, {human.size(found.bytes)}"
        click.echo(f"Read: {read}. {'All is as it should be.' if not problems else ''}".rstrip())
    if problems:
        sys.exit(1)
