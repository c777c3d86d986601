"""Options that several commands share: sources, archive, time spans, secrets."""

import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unspool.cli import settings
from unspool.errors import NotFound, UsageProblem
from unspool.store.index.times import day_start, parse_ago
from unspool.store.index.times import parse_zone as named_zone

if TYPE_CHECKING:
    from unspool.store.index.database import Index
    from unspool.store.library.kept_sessions import KeptSessions


Command = Callable[..., Any]


def sources(command: Command) -> Command:
    """--source and --demo, for a command that takes `library`."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        from unspool.prices import PriceTable
        from unspool.store.library import Library

        named = [demo_folder()] if given.pop("demo") else given.pop("source")
        given.pop("source", None)
        kept = None if named else _kept()
        library = Library(settings.chosen_sources(named), PriceTable.load(settings.price_file()), kept)
        return command(*args, library=library, **given)

    wrapped = click.option("--demo", is_flag=True, help="Use the bundled demo sessions instead of your own.")(run)
    return named_sources(wrapped)


def _kept() -> "KeptSessions | None":
    """The archive's own sessions, where there is an archive that can be opened without asking."""
    from unspool.store.archive.database import ARCHIVE, INDEX, archive_folder

    place = archive_folder()
    if not (place / ARCHIVE).exists() or not (place / INDEX).exists():
        return None
    from unspool.store.archive.database import find_key, is_encrypted
    from unspool.store.library.kept_sessions import KeptSessions

    found = find_key(os.environ, None, None) if is_encrypted(place / ARCHIVE) else None
    if found is None and is_encrypted(place / ARCHIVE):
        click.echo(
            f"unspool: the archive in {place} is encrypted; without its key its sessions are left out.", err=True
        )
        return None
    return KeptSessions(place, found)


def archive(command: Command) -> Command:
    """--archive and --key-file, for a command that takes `archive`, the folder of the archive and the index."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> Any:
        from unspool.store.archive.database import archive_folder

        key_file = given.pop("key_file")
        if key_file is not None:
            os.environ["UNSPOOL_KEY_FILE"] = str(key_file)
        return command(*args, **{**given, "archive": archive_folder(given["archive"])})

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
    from unspool.store.archive.database import ARCHIVE, find_key, needed_key

    ask = (lambda: str(click.prompt("Passphrase", hide_input=True, err=True))) if sys.stdin.isatty() else None
    return needed_key(folder / ARCHIVE, lambda: find_key(os.environ, None, ask))


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


def open_index(archive: Path) -> "Index":
    """The index of an archive, to be read; one that another version made is made anew first."""
    from unspool.store.index.database import Index, OtherVersion

    key = key_of(archive)
    try:
        return Index.open(archive, key=key, readonly=True)
    except OtherVersion:
        from unspool.store.sync.run import reindex

        click.echo("The index is of another version of unspool: making it anew from the archive …", err=True)
        reindex(archive, key)
        return Index.open(archive, key=key, readonly=True)


def demo_folder() -> Path:
    """The demo's sessions, written to the cache folder."""
    from unspool.demo import write_demo

    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return write_demo(Path(base) / "unspool" / "demo")


def day(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """A date (2026-01-31), a time (2026-01-31T12:00), or how long ago (12h, 3d, 2w, 6m, 1y)."""
    if value is None:
        return None
    from unspool.store.index.times import parse_ago

    before = parse_ago(value)
    if before:
        return before
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).") from None
    return (found if found.tzinfo else found.replace(tzinfo=settings.chosen_zone())).astimezone(UTC)


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


_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}")


def parse_tz(name: str | None) -> tzinfo | None:
    """Europe/Berlin, UTC, +05:30, the settings' where none is named; None for the clock of this machine."""
    try:
        return settings.chosen_zone() if name is None else named_zone(name)
    except ValueError:
        raise click.BadParameter(f"{name!r} is no time zone, such as Europe/Berlin, UTC or +05:30.") from None


def parse_since(text: str | None, where: tzinfo | None) -> float | None:
    """The first second asked for: where a day begins, a time, or so long ago."""
    return None if text is None else _moment(text, where, after=0)


def parse_until(text: str | None, where: tzinfo | None) -> float | None:
    """The first second no longer asked for; a date is asked for to its end."""
    return None if text is None else _moment(text, where, after=1)


def _moment(text: str, where: tzinfo | None, after: int) -> float:
    before = parse_ago(text)
    if before:
        return before.timestamp()
    try:
        if _DATE.fullmatch(text.strip()):
            return day_start(date.fromisoformat(text.strip()) + timedelta(days=after), where)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=where)).timestamp()
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is neither a date (2026-01-31) nor an age (12h, 3d, 2w).") from None


def read_secret(file: str, asked: str, *, twice: bool = False) -> str:
    """The first line of a file; `-` is standard input, or typed without being shown where that is a terminal."""
    if file == "-" and sys.stdin.isatty():
        return str(click.prompt(asked, hide_input=True, confirmation_prompt="Once more" if twice else False, err=True))
    try:
        text = sys.stdin.readline() if file == "-" else Path(file).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageProblem(f"{file} holds no text.") from None
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from None
    return text.split("\n", 1)[0].rstrip("\r")
