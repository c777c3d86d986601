"""Options that several commands share, and what they stand for."""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import wraps
from pathlib import Path
from typing import Any

import click

from unspool.errors import UsageProblem
from unspool.library import Library
from unspool.prices import PriceTable

Command = Callable[..., Any]

_AGO = re.compile(r"(\d+)\s*(h|d|w|m|y)")
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}


def sources(command: Command) -> Command:
    """--source and --demo, for a command that takes `library`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        named = [demo_folder()] if given.pop("demo") else given.pop("source")
        given.pop("source", None)
        return command(*args, library=Library(named, PriceTable.load(own_prices())), **given)

    wrapped = click.option("--demo", is_flag=True, help="Use the bundled demo sessions instead of your own.")(run)
    return click.option(
        "-s",
        "--source",
        multiple=True,
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        help="Look here instead: a folder that holds projects/, or is one. May be given several times.",
    )(wrapped)


def own_prices() -> Path | None:
    """The user's price table, where there is one."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    path = Path(base) / "unspool" / "prices.json"
    return path if path.is_file() else None


def demo_folder() -> Path:
    """The demo's sessions, written to the cache folder."""
    from unspool.demo import write_demo

    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return write_demo(Path(base) / "unspool" / "demo")


def local_zone() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def day(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """A date (2026-01-31), a time (2026-01-31T12:00), or how long ago (12h, 3d, 2w, 6m, 1y)."""
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip().lower())
    if ago:
        return datetime.now(UTC) - int(ago[1]) * _UNITS[ago[2]]
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).") from None
    return found.astimezone(UTC)


def turn_ranges(_: click.Context, __: click.Parameter, value: str | None) -> tuple[tuple[int, int], ...]:
    """Turn numbers and ranges: 3, 3..7, 3.., ..7, and several with commas."""
    if not value:
        return ()
    return tuple(_range(part.strip()) for part in value.split(","))


def _range(part: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d*)(?:(\.\.|-)(\d*))?", part)
    if not part or found is None or not (found[1] or found[3]):
        raise click.BadParameter(f"{part!r} is no turn or range of turns, such as 3, 3..7 or 5..")
    first = int(found[1] or 0)
    last = first if found[2] is None else int(found[3]) if found[3] else 10**9
    if last < first:
        raise UsageProblem(f"The range {part} ends before it begins.")
    return first, last
