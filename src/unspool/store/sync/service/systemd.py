"""The watch as a systemd user unit."""

import os
from pathlib import Path

from unspool.errors import AlreadyRunning
from unspool.store.sync.service.plan import InstallPlan, ServiceJob, join_plans, run_commands, write_file

NAME = "unspool-watch.service"
_LINGER = "note: it runs while you are logged in; `loginctl enable-linger` lets it run always."

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
    start = _systemctl(("daemon-reload",), ("enable", NAME), ("restart", NAME))
    return join_plans(write_file(_path(), unit(job).encode()), start, InstallPlan(notes=(_LINGER,)))


def uninstall() -> InstallPlan:
    """Stop and disable the unit, and remove it, even where nothing answers."""
    remove = write_file(_path(), None)
    if not remove.steps:
        return remove
    reload = _systemctl(("daemon-reload",), must=False).steps
    return join_plans(_systemctl(("disable", "--now", NAME), must=False), remove, InstallPlan(reload))


def _systemctl(*orders: tuple[str, ...], must: bool = True) -> InstallPlan:
    return run_commands(*(("systemctl", "--user", *order) for order in orders), must=must)
