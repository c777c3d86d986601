"""`unspool hub move`: a hub that goes from a folder to servers, or back."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli.hub_store import Given, place_options
from unspool.cli.hub_store import place as source_place

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace


@click.command("move")
@click.option("--from-data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where it is now.")
@click.option("--from-database", default="", metavar="URL", help="Its database now, if no file in the folder.")
@click.option("--from-objects", default="", metavar="URL", help="Its objects now, if not in the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with a digest of every table.")
@place_options
def command(from_data: Path | None, from_database: str, from_objects: str, as_json: bool, place: "StorePlace") -> None:
    """Move a hub to another place, and prove that all of it arrived.

    \b
    unspool hub move --from-data /srv/hub --database postgresql://… --objects s3://…
    unspool hub move --from-database postgresql://… --from-objects s3://… --data /srv/hub

    Stop the hub first: a move that sees it written to ends without a result. Rows and contents are copied and
    compared, and the old place stays as it is. Where it breaks off, the same command goes on; the new place must be
    empty but for that. The exit code is 0 where everything arrived.
    """
    from unspool.cli.hub_copies import said, told
    from unspool.errors import UsageProblem
    from unspool.hub.store.connect import open_store
    from unspool.hub.store.copy import move

    before = source_place(Given(from_data, from_database, from_objects))
    if _same(before, place):
        raise UsageProblem("A hub moves from one place to another: --from-… and the others name the same.")
    source = open_store(before, new=False)
    try:
        target = open_store(place, unfinished=True)
        try:
            said(move(source, target, told), "Moved", as_json=as_json)
        finally:
            target.db.close()
    finally:
        source.db.close()


def _same(one: "StorePlace", other: "StorePlace") -> bool:
    """Whether two places share a database or an object store."""
    database = (one.database or one.folder) == (other.database or other.folder)
    return database or (one.bucket or one.folder) == (other.bucket or other.folder)
