"""`unspool hub restore`: a hub brought back from a backup."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli.hub_store import place_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")
@place_options
def command(folder: Path, as_json: bool, place: "StorePlace") -> None:
    """Bring a hub back from what `unspool hub backup` saved, to an empty place of either kind.

    \b
    unspool hub restore /mnt/backup/hub --data /srv/hub
    unspool hub restore /mnt/backup/hub --database postgresql://… --objects s3://…

    Rows and contents are compared with the backup. Where it breaks off, the same command goes on. Tokens, shares and
    rights are as they were at the moment of the backup.
    """
    from unspool.cli.hub_copies import said, told
    from unspool.errors import UsageProblem
    from unspool.hub.store.connect import open_store
    from unspool.hub.store.copy import restore

    if folder.absolute() == place.folder and not (place.database and place.bucket):
        raise UsageProblem("A backup is brought back to another place than its own folder.")
    target = open_store(place, unfinished=True)
    try:
        said(restore(folder.absolute(), target, told), "Restored", as_json=as_json)
    finally:
        target.db.close()
