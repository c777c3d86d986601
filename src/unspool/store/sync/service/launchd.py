"""The watch as a launchd agent of the user."""

import os
import plistlib
import shutil
from pathlib import Path

from unspool.store.sync.service.plan import InstallPlan, RunStep, ServiceJob, Step, WriteStep, current_text

LABEL = "unspool.watch"


def plist(job: ServiceJob) -> bytes:
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


def install(job: ServiceJob) -> InstallPlan:
    """Write the list and load it, in place of one that is loaded."""
    path, made = _path(), plist(job)
    before = current_text(path)
    steps: tuple[Step, ...] = (WriteStep(path, before, made),) if before != made else ()
    out = RunStep(("launchctl", "bootout", f"{_domain()}/{LABEL}"), must=False)
    return _managed(steps, out, RunStep(("launchctl", "bootstrap", _domain(), str(path))))


def uninstall() -> InstallPlan:
    """Unload the agent and remove its list."""
    path = _path()
    before = current_text(path)
    if before is None:
        return InstallPlan()
    ending = _managed((), RunStep(("launchctl", "bootout", f"{_domain()}/{LABEL}"), must=False))
    return InstallPlan((*ending.steps, WriteStep(path, before, None)), ending.notes)


def _domain() -> str:
    return f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"


def _managed(steps: tuple[Step, ...], *runs: RunStep) -> InstallPlan:
    if shutil.which("launchctl") is None:
        return InstallPlan(steps, tuple(f"run yourself: {' '.join(run.command)}" for run in runs))
    return InstallPlan((*steps, *runs))
