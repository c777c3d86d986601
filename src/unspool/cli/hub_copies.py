"""What the commands that copy a hub share: what they say while they do, and of what came of it."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from unspool.hub.store.connect import Store, StorePlace
    from unspool.hub.store.copy import CopyReport


@contextmanager
def hub(place: "StorePlace") -> Iterator["Store"]:
    """The store of a hub that is there: a wrong path must not make a new one, and save or prove that."""
    from unspool.hub.store.connect import open_store

    store = open_store(place, new=False)
    try:
        yield store
    finally:
        store.db.close()


def told(step: str) -> None:
    """Say what is being done, where somebody watches."""
    if sys.stderr.isatty():
        click.echo(f"{step} …", err=True)


def said(result: "CopyReport", done: str, *, as_json: bool) -> None:
    """Say what was copied; exit code 11 where the hub itself has lost contents."""
    from unspool import human
    from unspool.errors import Unsound

    rows = sum(table.rows for table in result.sums.values())
    contents = result.sums["blob"].rows
    if as_json:
        tables = {name: {"rows": table.rows, "digest": table.digest} for name, table in result.sums.items()}
        found = {"rows": rows, "contents": contents, "sent": result.sent, "tables": tables, "problems": result.problems}
        click.echo(json.dumps(found, indent=2))
    else:
        what = f"{human.count(rows, 'row')} and {human.count(contents, 'content')}, {result.sent} of them new"
        click.echo(f"{done}: {what}; every one is as it was.")
        for problem in result.problems:
            click.echo(problem, err=True)
    if result.problems:
        raise Unsound("The hub itself does not have all of its contents as they were; the rest is copied.")
