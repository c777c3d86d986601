"""Whether something keeps the archive up to date by itself."""

import subprocess
from collections.abc import Callable, Iterator

from unspool.errors import UnspoolError
from unspool.formats.hooks import MARK
from unspool.sync.finding import Finding
from unspool.sync.scene import Scene
from unspool.sync.service import cron, launchd, systemd
from unspool.sync.service.plan import Plan

NAME = "watching"
_SERVICES: tuple[tuple[str, Callable[[], Plan]], ...] = (
    ("systemd unit", systemd.uninstall),
    ("launchd agent", launchd.uninstall),
    ("crontab line", cron.uninstall),
)
"""What may be installed, and what would take it away: nothing, where it is not there."""


def watching(scene: Scene) -> Iterator[Finding]:
    """What is installed that runs this program; asked only, nothing is changed."""
    found = [*_services(), *_hooks(scene)]
    if found:
        yield Finding("ok", NAME, "The archive is kept up to date by itself.", tuple(found))
    else:
        yield Finding("note", NAME, "Nothing keeps the archive up to date by itself.", (), "unspool watch --install")


def _services() -> Iterator[str]:
    for name, removal in _SERVICES:
        try:
            if removal().steps:
                yield name
        except (UnspoolError, OSError, subprocess.SubprocessError):
            continue


def _hooks(scene: Scene) -> Iterator[str]:
    for agent in scene.agents:
        if any(MARK in command for command in agent.format.hooks(agent.home)):
            yield f"hooks of {agent.format.name}"
