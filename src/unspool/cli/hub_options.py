"""What commands about a hub share: its store, its client, tables and reports."""

import getpass
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unspool.cli import archive_helpers, tables

if TYPE_CHECKING:
    from unspool.hub.people.users import Person
    from unspool.hub.store.connect import Store, StorePlace
    from unspool.hub.store.copy import CopyReport
    from unspool.hub.store.database import Database
    from unspool.hub_client.client import HubClient


def hub_client(url: str = "", rate: int = 0) -> "HubClient":
    """The hub that is meant, asked by whoever is signed in there; it sends `rate` bytes a second at most."""
    from unspool.config import config_folder
    from unspool.hub_client.client import HubClient
    from unspool.hub_client.login import choose_hub, require_login

    login = require_login(choose_hub(config_folder(), url))
    return closing_client(HubClient(login.address, login.entry, rate=rate))


def closing_client(client: "HubClient") -> "HubClient":
    """The same, whose connection ends with the command."""
    click.get_current_context().call_on_close(client.close)
    return client


Command = Callable[..., Any]


class PlaceOptions(NamedTuple):
    """What the command line and the environment say; a group's own counts for its commands that say nothing."""

    data: Path | None
    database: str
    objects: str


_OPTIONS = (
    click.option(
        "--data", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", envvar="UNSPOOL_HUB_DATA",
        help="The hub's folder.",
    ),
    click.option(
        "--database", default="", metavar="URL", envvar="UNSPOOL_HUB_DATABASE",
        help="postgresql://…, instead of a file in the folder.",
    ),
    click.option(
        "--objects", default="", metavar="URL", envvar="UNSPOOL_HUB_OBJECTS",
        help="s3://bucket/prefix?endpoint=…, instead of the folder.",
    ),
)  # fmt: skip


def place_options(command: Command) -> Command:
    """`--data`, `--database` and `--objects`, as one argument `place`."""

    @wraps(command)
    def with_place(*args: Any, data: Path | None, database: str, objects: str, **given: Any) -> Any:
        before = click.get_current_context().find_object(PlaceOptions)
        mine = PlaceOptions(data, database, objects)
        return command(*args, place=store_place(mine if any(mine) else before or mine), **given)

    for option in reversed(_OPTIONS):
        with_place = option(with_place)
    return with_place


def store_options(command: Command) -> Command:
    """The same, as one argument `store`: open while the command runs."""

    @wraps(command)
    def with_store(*args: Any, place: "StorePlace", **given: Any) -> Any:
        from unspool.hub.store.connect import open_store

        store = open_store(place, new=False)
        try:
            return command(*args, store=store, **given)
        finally:
            store.db.close()

    return place_options(with_store)


def store_place(given: PlaceOptions) -> "StorePlace":
    """Where a hub keeps things; its folder is unspool's in the user's data folder where none is named."""
    from unspool.hub.store.connect import StorePlace

    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return StorePlace((given.data or Path(base) / "unspool" / "hub").absolute(), given.database, given.objects)


ANY_ADDRESS = {"ignore_unknown_options": True}
"""For commands that take a share's address, which may begin with a hyphen."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
everything = click.option("--all", "everything", is_flag=True, help="Also what has ended.")
agreed = click.option("--yes", is_flag=True, help="Do it without asking.")


def operator_person() -> "Person":
    """Whoever works on the store itself: they may do everything, and the audit log says who it was."""
    from unspool.hub.people.users import Person

    return Person("", f"{getpass.getuser()} at the command line", admin=True, by="command")


def audit_from_cli(
    db: "Database", what: str, target: str, outcome: str = "done", detail: dict[str, Any] | None = None
) -> None:
    """Write down what was done from the command line."""
    from unspool.hub.people.audit import write_audit

    write_audit(db, operator_person(), what, target, outcome, detail)


def row_time(value: int | None, never: str = "") -> str:
    """A time as people read it."""
    from unspool import human

    return never if value is None else human.minute(datetime.fromtimestamp(value / 1000, UTC))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
    """Print a table; where it would be empty, a sentence."""
    if not rows:
        click.echo(none)
        return
    cells = list(zip(*rows, strict=True))
    columns = [tables.Column(head, column, right=False, least=8) for head, column in zip(heads, cells, strict=True)]
    tables.show_table(tables.table_lines(columns, tables.terminal_width()))


def print_listing(
    data: dict[str, Any], heads: Sequence[str], rows: Sequence[Sequence[str]], none: str, *, as_json: bool
) -> None:
    """Print what a command lists, as JSON or as a table."""
    if as_json:
        archive_helpers.print_json(data)
    else:
        print_table(heads, rows, none)


def print_secret(what: str, value: str) -> None:
    """Print something that is told this once: alone on standard output, so that it can be piped."""
    click.echo(f"{what}, told this once:", err=True)
    click.echo(value)


@contextmanager
def existing_hub(place: "StorePlace") -> Iterator["Store"]:
    """The store of a hub that is there: a wrong path must not make a new one, and save or prove that."""
    from unspool.hub.store.connect import open_store

    store = open_store(place, new=False)
    try:
        yield store
    finally:
        store.db.close()


def say_step(step: str) -> None:
    """Say what is being done, where somebody watches."""
    if sys.stderr.isatty():
        click.echo(f"{step} …", err=True)


def say_copied(result: "CopyReport", done: str, *, as_json: bool) -> None:
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
