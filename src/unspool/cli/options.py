"""Options that several commands share, and what they stand for."""

import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import chosen
from unspool.errors import UsageProblem

if TYPE_CHECKING:
    from unspool.library.kept import KeptSessions

Command = Callable[..., Any]


def sources(command: Command) -> Command:
    """--source and --demo, for a command that takes `library`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        from unspool.library import Library
        from unspool.prices import PriceTable

        named = [demo_folder()] if given.pop("demo") else given.pop("source")
        given.pop("source", None)
        kept = None if named else _kept()
        library = Library(chosen.sources(named), PriceTable.load(chosen.prices()), kept)
        return command(*args, library=library, **given)

    wrapped = click.option("--demo", is_flag=True, help="Use the bundled demo sessions instead of your own.")(run)
    return named_sources(wrapped)


def _kept() -> "KeptSessions | None":
    """The archive's own sessions, where there is an archive that can be opened without asking."""
    from unspool.archive.place import ARCHIVE, INDEX, folder

    place = folder()
    if not (place / ARCHIVE).exists() or not (place / INDEX).exists():
        return None
    from unspool.archive.key import encrypted, key
    from unspool.library.kept import KeptSessions

    found = key(os.environ, None, None) if encrypted(place / ARCHIVE) else None
    if found is None and encrypted(place / ARCHIVE):
        click.echo(
            f"unspool: the archive in {place} is encrypted; without its key its sessions are left out.", err=True
        )
        return None
    return KeptSessions(place, found)


def archive(command: Command) -> Command:
    """--archive and --key-file, for a command that takes `archive`, the folder of the archive and the index."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        from unspool.archive.place import folder

        key_file = given.pop("key_file")
        if key_file is not None:
            os.environ["UNSPOOL_KEY_FILE"] = str(key_file)
        return command(*args, **{**given, "archive": folder(given["archive"])})

    wrapped = click.option(
        "--key-file",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The key of an encrypted archive; else UNSPOOL_KEY_FILE or UNSPOOL_PASSPHRASE.",
    )(run)
    return click.option(
        "--archive",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder of the archive; else UNSPOOL_ARCHIVE, else unspool in your data folder.",
    )(wrapped)


def key_of(folder: Path) -> str | None:
    """The key that the archive of a folder needs, asked for on a terminal; None where it is not encrypted."""
    from unspool.archive.key import key, needed
    from unspool.archive.place import ARCHIVE

    ask = (lambda: str(click.prompt("Passphrase", hide_input=True, err=True))) if sys.stdin.isatty() else None
    return needed(folder / ARCHIVE, lambda: key(os.environ, None, ask))


def named_sources(command: Command) -> Command:
    """--source, for a command that takes `source`, the folders named."""
    return click.option(
        "-s",
        "--source",
        multiple=True,
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        help="Look here instead: a folder that holds projects/, or is one. May be given several times.",
    )(command)


def zone(command: Command) -> Command:
    """--tz, for a command that takes `tz`, the name of a time zone or None."""
    return click.option("--tz", metavar="ZONE", help="Where days begin: Europe/Berlin, UTC, +05:30, local.")(command)


def serving(command: Command) -> Command:
    """How the app is served, for a command that takes `port`, `host`, `no_browser` and `read_only`."""
    for option in reversed(_SERVING):
        command = option(command)
    return command


_SERVING = (
    click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Listen on this port and no other."),
    click.option("--host", default="", metavar="HOST", help="Let others reach it: the address to listen on."),
    click.option("--no-browser", is_flag=True, help="Only print the address."),
    click.option("--read-only", is_flag=True, help="Sync nothing and change nothing."),
)


def demo_folder() -> Path:
    """The demo's sessions, written to the cache folder."""
    from unspool.demo import write_demo

    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return write_demo(Path(base) / "unspool" / "demo")


def day(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """A date (2026-01-31), a time (2026-01-31T12:00), or how long ago (12h, 3d, 2w, 6m, 1y)."""
    if value is None:
        return None
    from unspool.index.when import ago

    before = ago(value)
    if before:
        return before
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).") from None
    return (found if found.tzinfo else found.replace(tzinfo=chosen.zone())).astimezone(UTC)


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
