"""`unspool hub verify`: everything that a hub keeps, read and proved."""

import json
import sys
from typing import TYPE_CHECKING

import click

from unspool.cli.hub_store import place_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace


@click.command("verify")
@click.option("--head", default="", metavar="DIGEST", help="The audit log must hold this digest, which you kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@place_options
def command(head: str, as_json: bool, place: "StorePlace") -> None:
    """Read every content of a hub and prove it, follow every reference, and prove the audit log.

    \b
    unspool hub verify
    unspool hub verify --data /mnt/backup/hub       a backup

    Nothing is changed, and the hub may run. The exit code is 0 where all is well, 1 where something is not.
    """
    from unspool import human
    from unspool.cli.hub_copies import hub
    from unspool.hub.people.audit import verify_audit
    from unspool.hub.store.verify import verify

    with hub(place) as store:
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
