"""The watch as a systemd user unit."""

import os
import shutil
from pathlib import Path

from unspool.errors import AlreadyRunning
from unspool.store.sync.service.plan import InstallPlan, RunStep, ServiceJob, Step, WriteStep, current_text

NAME = "unspool-watch.service"

_UNIT = """\
[Unit]
Description=unspool: keep the archive of sessions up to date

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=30
RestartPreventExitStatus={once}
KillMode=mixed
Nice=19
CPUSchedulingPolicy=idle
IOSchedulingClass=idle
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "%": "%%", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def unit(job: ServiceJob) -> str:
    """The unit's text. The colon keeps `$` from meaning anything."""
    command = ":" + " ".join(quoted(word) for word in job.watch())
    return _UNIT.format(command=command, once=f"2 {AlreadyRunning.exit_code}")


def quoted(word: str) -> str:
    """A word of a command line, as systemd reads it."""
    return '"' + "".join(_escaped(character) for character in word) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def _path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "systemd" / "user" / NAME


def install(job: ServiceJob) -> InstallPlan:
    """Write the unit, enable it and start it anew."""
    path, text = _path(), unit(job).encode()
    before = current_text(path)
    steps: tuple[Step, ...] = (WriteStep(path, before, text),) if before != text else ()
    return _managed(
        steps,
        ("daemon-reload",),
        ("enable", NAME),
        ("restart", NAME),
        notes=("note: it runs while you are logged in; `loginctl enable-linger` lets it run always.",),
    )


def uninstall() -> InstallPlan:
    """Stop and disable the unit, and remove it, even where nothing answers."""
    path = _path()
    before = current_text(path)
    if before is None:
        return InstallPlan()
    ending = _managed((), ("disable", "--now", NAME), must=False)
    again = _managed((), ("daemon-reload",), must=False)
    return InstallPlan((*ending.steps, WriteStep(path, before, None), *again.steps), ending.notes)


def _managed(
    steps: tuple[Step, ...], *orders: tuple[str, ...], notes: tuple[str, ...] = (), must: bool = True
) -> InstallPlan:
    """The steps and then systemctl's; where there is none, what to run by hand."""
    commands = [("systemctl", "--user", *order) for order in orders]
    if shutil.which("systemctl") is None:
        by_hand = tuple(f"run yourself: {' '.join(command)}" for command in commands)
        return InstallPlan(steps, (*by_hand, *notes))
    return InstallPlan((*steps, *(RunStep(command, must=must) for command in commands)), notes)
