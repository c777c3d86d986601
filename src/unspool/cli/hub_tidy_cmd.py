"""`unspool hub tidy`: what nothing refers to is removed."""

import json
from typing import TYPE_CHECKING

import click

from unspool.cli.hub_store import place_options

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace


@click.command("tidy")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every content that is missing.")
@place_options
def command(as_json: bool, place: "StorePlace") -> None:
    """Remove contents that nothing has referred to for a day, and what a crash left.

    \b
    unspool hub tidy

    A hub does this by itself while it runs; nothing that anybody can see changes.
    """
    from unspool import human
    from unspool.cli.hub_copies import hub
    from unspool.hub.store.verify import tidy

    with hub(place) as store:
        found = tidy(store)
    if as_json:
        click.echo(json.dumps(found._asdict(), indent=2))
        return
    strays = found.objects + found.parts
    click.echo(f"Removed {human.count(found.contents, 'content')}, {human.size(found.bytes)}, and {strays} left over.")
    for digest in found.missing:
        click.echo(f"The content {digest} is missing in the object store.", err=True)
