"""`unspool hub backup`: a hub saved to a folder, while it runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli.hub_store import place_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")
@place_options
def command(folder: Path, as_json: bool, place: "StorePlace") -> None:
    """Save all of a hub to a folder, as it is at one moment, while it runs.

    \b
    unspool hub backup /mnt/backup/hub
    unspool hub backup /mnt/backup/hub --database postgresql://… --objects s3://…

    The same folder again takes only what is new, and holds the backup before until the new one is complete. `unspool
    hub verify --data DIR` proves a backup, `unspool hub restore DIR` brings it back.
    """
    from unspool.cli.hub_copies import hub, said, told
    from unspool.hub.store.copy import backup

    with hub(place) as store:
        said(backup(store, folder.absolute(), told), "Saved", as_json=as_json)
