"""The watch as a launchd agent of the user."""

import os
import plistlib
import shutil
from pathlib import Path

from unspool.sync.service.job import Job
from unspool.sync.service.plan import Plan, Run, Step, Write, current

LABEL = "unspool.watch"


def plist(job: Job) -> bytes:
    """The agent's property list. Started again only where it failed; never in the way of what the user does."""
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(job.watch()),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 60,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "Nice": 19,
            "Umask": 0o077,
            "StandardErrorPath": str(Path.home() / "Library" / "Logs" / "unspool.log"),
        },
        sort_keys=False,
    )


def _path() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def install(job: Job) -> Plan:
    """Write the list and load it, in place of one that is loaded."""
    path, made = _path(), plist(job)
    before = current(path)
    steps: tuple[Step, ...] = (Write(path, before, made),) if before != made else ()
    out = Run(("launchctl", "bootout", f"{_domain()}/{LABEL}"), must=False)
    return _managed(steps, out, Run(("launchctl", "bootstrap", _domain(), str(path))))


def uninstall() -> Plan:
    """Unload the agent and remove its list."""
    path = _path()
    before = current(path)
    if before is None:
        return Plan()
    ending = _managed((), Run(("launchctl", "bootout", f"{_domain()}/{LABEL}"), must=False))
    return Plan((*ending.steps, Write(path, before, None)), ending.notes)


def _domain() -> str:
    return f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"


def _managed(steps: tuple[Step, ...], *runs: Run) -> Plan:
    if shutil.which("launchctl") is None:
        return Plan(steps, tuple(f"run yourself: {' '.join(run.command)}" for run in runs))
    return Plan((*steps, *runs))
