"""Options that several commands share: sources, archive, time spans, what to show, secrets."""

import os
import re
import sys
from collections.abc import Callable, Sequence
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
    from unspool.model import Session
    from unspool.redact.rules import RuleSet
    from unspool.render.view import View
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.index.database import Index
    from unspool.store.library import Library
    from unspool.store.library.kept_sessions import KeptSessions


_KEYS = "unspool.keys"
Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


def with_options(command: Command, options: Sequence[Decorator]) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def as_argument(name: str, make: Command, *options: Decorator) -> Decorator:
    """Options that a command takes as one argument, which `make` makes of their values."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*args: Any, **given: Any) -> Any:
            values = {own: given.pop(own) for own in names}
            return command(*args, **{name: make(**values)}, **given)

        params: list[click.Parameter] = run.__dict__.setdefault("__click_params__", [])
        before = len(params)
        with_options(run, options)
        names = dict.fromkeys(str(param.name) for param in params[before:])
        return run

    return decorate


_SOURCE = "Look here instead: a folder of an agent, of logs, or an archive. May be given several times."
_ARCHIVE = "The folder of the archive; else UNSPOOL_ARCHIVE, else unspool in your data folder."
_KEY_FILE = "The key of an encrypted archive; else UNSPOOL_KEY_FILE or UNSPOOL_PASSPHRASE."
_TURNS = "Only these turns: 3, 3..7, 5.., 1,4."
_SUBAGENTS = "Subagents' conversations in place, or not."

named_sources = click.option("-s", "--source", multiple=True, metavar="DIR", type=FOLDER, help=_SOURCE)
demo = click.option("--demo", is_flag=True, help="Use the bundled demo sessions instead of your own.")
personal = click.option(
    "--personal",
    metavar="KINDS",
    help="Personal data that counts, such as names,phones: names, machines, mails, phones, cards, accounts, national,"
    " networks, streets, pictures; all or none.",
)
zone = click.option("--tz", metavar="ZONE", help="Where days begin: Europe/Berlin, UTC, +05:30, local.")


def _agent_ids(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        return ()
    from unspool.agents import agent_named

    return tuple(agent_named(name).id for name in names)


agents = click.option(
    "--agent",
    multiple=True,
    metavar="NAME",
    callback=_agent_ids,
    help="Only sessions of this agent: codex, gemini, ...",
)


def chosen_library(source: tuple[Path, ...], demo: bool, agent: tuple[str, ...]) -> "Library":
    """The sessions of the folders named, or of the demo; else of the usual sources and the usual archive."""
    from unspool.cli.fresh import tell_how_to_keep
    from unspool.store.library import Library

    named = (demo_folder(),) if demo else source
    if not named:
        tell_how_to_keep()
    archives = [place for place in named if (place / "archive.db").is_file()]
    if len(archives) > 1:
        raise UsageProblem("One archive at a time can be a source; `unspool archive merge` makes one of several.")
    # An archive's folder holds no logs of its own, so that with no other source only what it keeps is found.
    kept = None if named and not archives else _kept_sessions(*archives)
    return Library(settings.chosen_sources(named), settings.price_table(), kept, agents=agent)


sources = as_argument(
    "library",
    chosen_library,
    named_sources,
    agents,
    demo,
)


def _kept_sessions(place: Path | None = None) -> "KeptSessions | None":
    """The archive's own sessions, where there is an archive that can be opened without asking."""
    from unspool.store.archive.database import ARCHIVE, INDEX, archive_folder

    place = place or archive_folder()
    if not (place / ARCHIVE).exists() or not (place / INDEX).exists():
        return None
    from unspool.store.archive.keys import find_key, is_encrypted
    from unspool.store.library.kept_sessions import KeptSessions

    encrypted = is_encrypted(place / ARCHIVE)
    found = find_key(os.environ, None, None) if encrypted else None
    if found is None and encrypted:
        left_out = "is encrypted; without its key its sessions are left out, and nothing of a share is remembered."
        click.echo(f"unspool: the archive in {place} {left_out}", err=True)
        return None
    return KeptSessions(place, found)


def _archive_folder(archive: Path | None, key_file: Path | None) -> Path:
    from unspool.store.archive.database import archive_folder

    if key_file is not None:
        os.environ["UNSPOOL_KEY_FILE"] = str(key_file)
    return archive_folder(archive)


archive = as_argument(
    "archive",
    _archive_folder,
    click.option("--archive", metavar="DIR", type=FOLDER, help=_ARCHIVE),
    click.option("--key-file", metavar="FILE", type=FILE, help=_KEY_FILE),
)
"""The folder of the archive and the index."""


def prompt_for(text: str, *, confirm: bool = False) -> Callable[[], str] | None:
    """Asks for a secret; None where there is no terminal to ask on."""
    if not sys.stdin.isatty():
        return None
    return lambda: str(click.prompt(text, hide_input=True, confirmation_prompt=confirm, err=True))


def key_of(folder: Path) -> str | None:
    """The key that the archive of a folder needs, asked for on a terminal, once; None where it is not encrypted."""
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.keys import find_key, needed_key

    context = click.get_current_context(silent=True)
    known: dict[Path, str | None] = context.meta.setdefault(_KEYS, {}) if context else {}
    if not known.get(folder):  # an archive may get its key while a command runs
        known[folder] = needed_key(folder / ARCHIVE, lambda: find_key(os.environ, None, prompt_for("Passphrase")))
    return known[folder]


_SERVING = (
    click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Listen on this port and no other."),
    click.option("--host", default="", metavar="HOST", help="Let others reach it: the address to listen on."),
    click.option("--no-browser", is_flag=True, help="Only print the address."),
    click.option("--read-only", is_flag=True, help="Sync nothing and change nothing."),
)


def serving(command: Command) -> Command:
    """How the app is served, for a command that takes `port`, `host`, `no_browser` and `read_only`."""
    return with_options(command, _SERVING)


def open_archive(folder: Path, *, readonly: bool = False) -> "ArchiveDatabase":
    """An archive, with the key that it needs; one that is to be written is made as strong as this version can."""
    from unspool.store.archive import ArchiveDatabase
    from unspool.store.archive.database import ARCHIVE
    from unspool.store.archive.keys import is_weak

    key = key_of(folder)
    if key is not None and not readonly and is_weak(folder / ARCHIVE):
        from unspool.store.archive.salvage import strengthen
        from unspool.store.sync.lock import wait_for_lock

        with wait_for_lock(folder):
            strengthen(folder, key)
    return ArchiveDatabase.open(folder, key=key, readonly=readonly)


def kept_library(archive: Path, sources: Sequence[Path] = (), agents: Sequence[str] = ()) -> "Library":
    """The sessions of the sources named, or of the usual ones, and those that only an archive still has, where there is
    one."""
    from unspool.store.library import Library
    from unspool.store.library.kept_sessions import KeptSessions

    kept = KeptSessions(archive, key_of(archive))
    chosen = settings.chosen_sources(sources)
    return Library(chosen, settings.price_table(), kept if kept.there else None, agents=agents)


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
    return write_demo(Path(base) / "unspool" / "demo", others=True)


def day(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """A date (2026-01-31), a time (2026-01-31T12:00), or how long ago (12h, 3d, 2w, 6m, 1y)."""
    moment = parse_since(value, settings.chosen_zone())
    return None if moment is None else datetime.fromtimestamp(moment, UTC)


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


def view_options(*, whole: bool) -> Decorator:
    """Options for a command that takes `view`; `whole`: everything is shown unless asked otherwise."""
    return as_argument(
        "view",
        _view,
        click.option("--full/--short", default=whole, help="Long outputs whole, or cut.", show_default=True),
        click.option("--no-thinking", is_flag=True, help="Leave out the model's thinking."),
        click.option("--no-tools", is_flag=True, help="Leave out tool calls; plans and questions stay."),
        click.option("--no-notices", is_flag=True, help="Leave out hooks, reminders and other notices."),
        click.option("--turn", "turns", callback=turn_ranges, metavar="3..7", help=_TURNS),
        click.option("--branch", type=click.IntRange(min=0), default=0, metavar="N", help="Follow abandoned branch N."),
        click.option("--with-subagents/--no-subagents", "agents", default=whole, help=_SUBAGENTS, show_default=True),
    )


def _view(no_thinking: bool, no_tools: bool, no_notices: bool, **given: Any) -> "View":
    from unspool.render.view import View

    zone = settings.chosen_zone()
    return View(thinking=not no_thinking, tools=not no_tools, notices=not no_notices, zone=zone, **given)


def check_view(session: "Session", view: "View") -> None:
    """NotFound where the view asks for a branch or turns that the session does not have."""
    numbers = [one.number for one in session.branches]
    if view.branch and view.branch not in numbers:
        listed = ", ".join(map(str, numbers)) or "none"
        raise NotFound(f"Session {session.id} has no branch {view.branch}; its branches: {listed}.")
    every = [turn.number for turn in session.turns]
    every += [turn.number for branch in session.branches for turn in branch.turns]
    if view.turns and not any(view.has_turn(number) for number in every):
        raise NotFound(f"Session {session.id} has no such turn; its last is {max(every, default=0)}.")


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


def redaction_rules(personal: str | None = None) -> "RuleSet":
    """The rules that everything is redacted by, with the kinds of personal data that are asked for."""
    from unspool.config import config_folder
    from unspool.redact.rules import OWN, own_rules

    return own_rules(config_folder() / OWN, personal)


def read_secret(file: str, question: str, *, twice: bool = False) -> str:
    """The first line of a file; `-` is standard input, or typed without being shown where that is a terminal."""
    if file == "-" and sys.stdin.isatty():
        again = "Once more" if twice else False
        return str(click.prompt(question, hide_input=True, confirmation_prompt=again, err=True))
    try:
        text = sys.stdin.readline() if file == "-" else Path(file).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageProblem(f"{file} holds no text.") from None
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from None
    return text.split("\n", 1)[0].rstrip("\r")
