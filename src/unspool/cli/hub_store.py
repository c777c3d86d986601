"""Where a hub keeps things, for every command that cares for one."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from unspool.hub.store.connect import StorePlace

Command = Callable[..., Any]


class Given(NamedTuple):
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
        before = click.get_current_context().find_object(Given)
        mine = Given(data, database, objects)
        return command(*args, place=place(mine if any(mine) else before or mine), **given)

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


def place(given: Given) -> "StorePlace":
    """Where a hub keeps things; its folder is unspool's in the user's data folder where none is named."""
    from unspool.hub.store.connect import StorePlace

    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return StorePlace((given.data or Path(base) / "unspool" / "hub").absolute(), given.database, given.objects)
