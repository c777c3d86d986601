"""Checks of the archive, the index, the disk, what keeps it up to date, and ghosts."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from unspool import human
from unspool.agents.base import MARK
from unspool.errors import UnspoolError
from unspool.store.archive.database import ARCHIVE, INDEX
from unspool.store.archive.keys import is_encrypted
from unspool.store.index.schema import VERSION
from unspool.store.sync.doctor_scene import DAY, ArchiveHolding, DoctorScene, Finding, Level
from unspool.store.sync.ghosts import Ghost, KnownSessions, find_ghosts, session_spans
from unspool.store.sync.service import cron, launchd, systemd
from unspool.store.sync.service.plan import InstallPlan

_LATE = 7
"""Days without a sync that are worth a word."""


def check_archive(scene: DoctorScene) -> Iterator[Finding]:
    """One finding a trouble; one that says all is well where there is none."""
    place, holding = (scene.archive,), scene.holding
    if holding is None:
        yield Finding("warn", "There is no archive yet: nothing is kept.", place, "unspool sync")
        return
    found = [*_readable_by_others(scene.archive), *_read_only(scene.archive), *_late(scene, holding)]
    if holding.busy:
        yield Finding("note", holding.trouble, place)
    elif holding.trouble:
        yield Finding("bad", holding.trouble, place, "unspool verify")
    elif not found:
        yield Finding("ok", f"The archive holds {human.count(len(holding.sessions), 'session')}.", place)
    yield from found


def _readable_by_others(folder: Path) -> Iterator[Finding]:
    """Logs hold whatever an agent saw, so that nobody else may read them."""
    if os.name != "posix":
        return
    files = [path for name in (ARCHIVE, INDEX) for path in sorted(folder.glob(f"{name}*")) if path.is_file()]
    shared = [path for path in (folder, *files) if _mode(path) & 0o077]
    if shared:
        remedy = f"chmod u=rwX,go= {' '.join(map(str, shared))}"
        yield Finding("warn", "Others on this machine may read the archive.", shared, remedy)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


def _read_only(folder: Path) -> Iterator[Finding]:
    closed = [path for path in (folder, folder / ARCHIVE) if not os.access(path, os.W_OK)]
    if closed:
        remedy = "Give yourself the right to write there, or name another place: --archive DIR"
        yield Finding("bad", "The archive may not be written to.", closed, remedy)


def _late(scene: DoctorScene, holding: ArchiveHolding) -> Iterator[Finding]:
    """A sync of long ago is no matter where nothing happened since."""
    if holding.synced is None or all(map(scene.is_kept, scene.belongings)):
        return
    days = (scene.now - holding.synced) / DAY
    if days > _LATE:
        message = f"The last sync was {human.count(int(days), 'day')} ago."
        yield Finding("warn", message, (scene.archive,), "unspool sync")


_VERSION = slice(60, 64)
"""Where a SQLite file holds the version of its user. Opened as a database, it might be written to."""
_BEGINS = b"SQLite format 3\0"


def check_index(scene: DoctorScene) -> Iterator[Finding]:
    """The state of the index, where there is an archive."""
    if scene.holding is None:
        return
    path = scene.archive / INDEX
    remedy = "unspool sync makes it"
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except FileNotFoundError:
        yield Finding("warn", "There is no index yet: nothing is found by search.", (path,), remedy)
        return
    except OSError as error:
        yield Finding("bad", f"The index may not be read: {error.strerror}.", (path,), remedy)
        return
    if is_encrypted(scene.archive / ARCHIVE):
        return  # so is the index, and its version with it
    version = int.from_bytes(head[_VERSION])
    if not head.startswith(_BEGINS):
        yield Finding("warn", "The index is no database.", (path,), f"Remove it; {remedy} anew.")
    elif version != VERSION:
        yield Finding("note", f"The index is of version {version}, this is {VERSION}.", (path,), f"{remedy} anew")
    else:
        yield Finding("ok", f"The index is of version {version}.", (path,))


_LITTLE, _NONE = 2_000_000_000, 200_000_000


def check_room(scene: DoctorScene) -> Iterator[Finding]:
    """What is free where the archive lies, or would."""
    above = (scene.archive, *scene.archive.absolute().parents)
    there = next((one for one in above if one.is_dir()), scene.archive)
    try:
        free = shutil.disk_usage(there).free
    except OSError:
        return
    level: Level = "bad" if free < _NONE else "warn" if free < _LITTLE else "ok"
    remedy = "" if level == "ok" else "Make room there, or put the archive elsewhere: --archive DIR"
    yield Finding(level, f"{human.size(free)} are free where the archive lies.", (there,), remedy)


_SERVICES: tuple[tuple[str, Callable[[], InstallPlan]], ...] = (
    ("systemd unit", systemd.uninstall),
    ("launchd agent", launchd.uninstall),
    ("crontab line", cron.uninstall),
)
"""What may be installed, and what would take it away: nothing, where it is not there."""


def check_watching(scene: DoctorScene) -> Iterator[Finding]:
    """What is installed that runs this program; asked only, nothing is changed."""
    found = [*_services(), *_hooks(scene)]
    if found:
        yield Finding("ok", "The archive is kept up to date by itself.", found)
    else:
        yield Finding("note", "Nothing keeps the archive up to date by itself.", (), "unspool watch --install")


def _services() -> Iterator[str]:
    for name, removal in _SERVICES:
        try:
            if removal().steps:
                yield name
        except (UnspoolError, OSError, subprocess.SubprocessError):
            continue


def _hooks(scene: DoctorScene) -> Iterator[str]:
    for folder in scene.agents:
        hooks = folder.agent.hooks
        if hooks is not None and any(MARK in command for command in hooks.commands(folder.home)):
            yield f"hooks of {folder.agent.name}"


def check_ghosts(scene: DoctorScene) -> Iterator[Finding]:
    """How many sessions only left traces, and how many prompts of theirs."""
    sessions = scene.holding.sessions if scene.holding is not None else frozenset[str]()
    known = KnownSessions(sessions, lambda: session_spans(scene.logs), scene.graves)
    for folder in scene.agents:
        found = find_ghosts(folder.home, known)
        named = [ghost for ghost in found if ghost.prompts and not ghost.assumed]
        if named:
            count = f"{human.count(len(named), 'session')} with {human.count(_prompts(named), 'prompt')}"
            why = "no log any more: it was deleted before it was kept, or never written"
            message = f"{count} {'has' if len(named) == 1 else 'have'} {why}."
            yield Finding("note", message, _listed(named), "unspool sync, then unspool search finds the prompts")
        assumed = [ghost for ghost in found if ghost.assumed]
        if assumed:
            prompts = _prompts(assumed)
            message = (
                f"{human.count(prompts, 'prompt')} of versions that named no session {'is' if prompts == 1 else 'are'} "
                f"without a log, of an assumed {human.count(len(assumed), 'session')}."
            )
            yield Finding("note", message, _listed(assumed), "unspool sync, then unspool search finds them")
        traces = [ghost for ghost in found if not ghost.prompts]
        if traces:
            message = f"Of {human.count(len(traces), 'more session')} only files survive."
            yield Finding("note", message, _listed(traces), "unspool sync keeps them")


def _prompts(found: list[Ghost]) -> int:
    return sum(len(ghost.prompts) for ghost in found)


def _listed(found: list[Ghost]) -> list[str]:
    return [human.joined(ghost.key, human.day(ghost.started), ghost.project) for ghost in found]
