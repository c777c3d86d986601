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
from unspool.store.archive.database import ARCHIVE, INDEX, is_encrypted
from unspool.store.index.schema import VERSION
from unspool.store.sync.doctor_scene import DAY, ArchiveHolding, DoctorFinding, DoctorScene, Level
from unspool.store.sync.ghosts import Ghost, KnownSessions, session_spans
from unspool.store.sync.ghosts import find_ghosts as found_in
from unspool.store.sync.service import cron, launchd, systemd
from unspool.store.sync.service.plan import InstallPlan

ARCHIVE_CHECK = "archive"
_LATE = 7
"""Days without a sync that are worth a word."""


def check_archive(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """One finding a trouble; one that says all is well where there is none."""
    place = str(scene.archive)
    if scene.holding is None:
        yield DoctorFinding(
            "warn", ARCHIVE_CHECK, "There is no archive yet: nothing is kept.", (place,), "unspool sync"
        )
        return
    if scene.holding.trouble:
        level: Level = "note" if scene.holding.busy else "bad"
        yield DoctorFinding(
            level, ARCHIVE_CHECK, scene.holding.trouble, (place,), "" if scene.holding.busy else "unspool verify"
        )
    found = [*_private(scene.archive), *_writable(scene.archive), *_fresh(scene, scene.holding)]
    yield from found
    if not found and not scene.holding.trouble:
        kept = human.count(len(scene.holding.sessions), "session")
        yield DoctorFinding("ok", ARCHIVE_CHECK, f"The archive holds {kept}.", (place,))


def _private(folder: Path) -> Iterator[DoctorFinding]:
    """Logs hold whatever an agent saw, so that nobody else may read them."""
    if os.name != "posix":
        return
    shared = [path for path in (folder, *_files(folder)) if _mode(path) & 0o077]
    if shared:
        remedy = f"chmod u=rwX,go= {' '.join(map(str, shared))}"
        yield DoctorFinding(
            "warn", ARCHIVE_CHECK, "Others on this machine may read the archive.", tuple(map(str, shared)), remedy
        )


def _files(folder: Path) -> list[Path]:
    names = (ARCHIVE, INDEX)
    return [path for name in names for path in sorted(folder.glob(f"{name}*")) if path.is_file()]


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


def _writable(folder: Path) -> Iterator[DoctorFinding]:
    closed = [path for path in (folder, folder / ARCHIVE) if not os.access(path, os.W_OK)]
    if closed:
        remedy = "Give yourself the right to write there, or name another place: --archive DIR"
        yield DoctorFinding("bad", ARCHIVE_CHECK, "The archive may not be written to.", tuple(map(str, closed)), remedy)


def _fresh(scene: DoctorScene, holding: ArchiveHolding) -> Iterator[DoctorFinding]:
    """A sync of long ago is no matter where nothing happened since."""
    if holding.synced is None or all(map(scene.is_kept, scene.belongings)):
        return
    days = (scene.now - holding.synced) / DAY
    if days > _LATE:
        since = human.count(int(days), "day")
        yield DoctorFinding(
            "warn", ARCHIVE_CHECK, f"The last sync was {since} ago.", (str(scene.archive),), "unspool sync"
        )


INDEX_CHECK = "index"
_VERSION = slice(60, 64)
"""Where a SQLite file holds the version of its user. Opened as a database, it might be written to."""
_BEGINS = b"SQLite format 3\0"


def check_index(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """The state of the index, where there is an archive."""
    if scene.holding is None:
        return
    path = scene.archive / INDEX
    remedy = "unspool sync makes it"
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except FileNotFoundError:
        yield DoctorFinding(
            "warn", INDEX_CHECK, "There is no index yet: nothing is found by search.", (str(path),), remedy
        )
        return
    except OSError as error:
        yield DoctorFinding("bad", INDEX_CHECK, f"The index may not be read: {error.strerror}.", (str(path),), remedy)
        return
    if is_encrypted(scene.archive / ARCHIVE):
        return  # so is the index, and its version with it
    version = int.from_bytes(head[_VERSION])
    if not head.startswith(_BEGINS):
        yield DoctorFinding(
            "warn", INDEX_CHECK, "The index is no database.", (str(path),), f"Remove it; {remedy} anew."
        )
    elif version != VERSION:
        message = f"The index is of version {version}, this is {VERSION}."
        yield DoctorFinding("note", INDEX_CHECK, message, (str(path),), f"{remedy} anew")
    else:
        yield DoctorFinding("ok", INDEX_CHECK, f"The index is of version {version}.", (str(path),))


ROOM_CHECK = "room"
_LITTLE, _NONE = 2_000_000_000, 200_000_000


def check_room(scene: DoctorScene) -> Iterator[DoctorFinding]:
    there = _existing(scene.archive)
    try:
        free = shutil.disk_usage(there).free
    except OSError:
        return
    level: Level = "bad" if free < _NONE else "warn" if free < _LITTLE else "ok"
    remedy = "" if level == "ok" else "Make room there, or put the archive elsewhere: --archive DIR"
    yield DoctorFinding(
        level, ROOM_CHECK, f"{human.size(free)} are free where the archive lies.", (str(there),), remedy
    )


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest above it that is there."""
    return next((one for one in (folder, *folder.absolute().parents) if one.is_dir()), folder)


WATCHING_CHECK = "watching"
_SERVICES: tuple[tuple[str, Callable[[], InstallPlan]], ...] = (
    ("systemd unit", systemd.uninstall),
    ("launchd agent", launchd.uninstall),
    ("crontab line", cron.uninstall),
)
"""What may be installed, and what would take it away: nothing, where it is not there."""


def check_watching(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """What is installed that runs this program; asked only, nothing is changed."""
    found = [*_services(), *_hooks(scene)]
    if found:
        yield DoctorFinding("ok", WATCHING_CHECK, "The archive is kept up to date by itself.", tuple(found))
    else:
        yield DoctorFinding(
            "note", WATCHING_CHECK, "Nothing keeps the archive up to date by itself.", (), "unspool watch --install"
        )


def _services() -> Iterator[str]:
    for name, removal in _SERVICES:
        try:
            if removal().steps:
                yield name
        except (UnspoolError, OSError, subprocess.SubprocessError):
            continue


def _hooks(scene: DoctorScene) -> Iterator[str]:
    for agent in scene.agents:
        hooks = agent.format.hooks
        if hooks is not None and any(MARK in command for command in hooks.commands(agent.home)):
            yield f"hooks of {agent.format.name}"


GHOSTS_CHECK = "ghosts"


def check_ghosts(scene: DoctorScene) -> Iterator[DoctorFinding]:
    """How many sessions only left traces, and how many prompts of theirs."""
    sessions = scene.holding.sessions if scene.holding is not None else frozenset[str]()
    known = KnownSessions(sessions, lambda: session_spans(scene.logs), scene.graves)
    for agent in scene.agents:
        found = found_in(agent.home, known)
        told = [ghost for ghost in found if ghost.prompts and not ghost.assumed]
        if told:
            message = (
                f"{_counted(told)} {_have(told)} no log any more: it was deleted before it was kept, or never written."
            )
            yield DoctorFinding(
                "note", GHOSTS_CHECK, message, _listed(told), "unspool sync, then unspool search finds the prompts"
            )
        assumed = [ghost for ghost in found if ghost.assumed]
        if assumed:
            count = sum(len(ghost.prompts) for ghost in assumed)
            message = (
                f"{human.count(count, 'prompt')} of versions that named no session {'is' if count == 1 else 'are'} "
                f"without a log, of an assumed {human.count(len(assumed), 'session')}."
            )
            yield DoctorFinding(
                "note", GHOSTS_CHECK, message, _listed(assumed), "unspool sync, then unspool search finds them"
            )
        traces = [ghost for ghost in found if not ghost.prompts]
        if traces:
            message = f"Of {human.count(len(traces), 'more session')} only files survive."
            yield DoctorFinding("note", GHOSTS_CHECK, message, _listed(traces), "unspool sync keeps them")


def _counted(found: list[Ghost]) -> str:
    prompts = human.count(sum(len(ghost.prompts) for ghost in found), "prompt")
    return f"{human.count(len(found), 'session')} with {prompts}"


def _have(found: list[Ghost]) -> str:
    return "has" if len(found) == 1 else "have"


def _listed(found: list[Ghost]) -> tuple[str, ...]:
    return tuple(human.joined(ghost.key, human.day(ghost.started), ghost.project) for ghost in found)
