"""`unspool schema`: the JSON Schema of exported sessions."""

import click
import msgspec

from unspool.export.json import schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of exported sessions.

    The schema is versioned (unspool.session/1): a new version means that a reader has to change.
    """
    click.echo(msgspec.json.format(msgspec.json.encode(schema())).decode())
