"""The watch as a launchd agent of the user."""

import os
import plistlib
from pathlib import Path

from unspool.store.sync.service.plan import InstallPlan, ServiceJob, join_plans, run_commands, write_file

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
    path = _path()
    load = run_commands(("launchctl", "bootstrap", _domain(), str(path)))
    return join_plans(write_file(path, plist(job)), _unload(), load)


def uninstall() -> InstallPlan:
    """Unload the agent and remove its list."""
    remove = write_file(_path(), None)
    return join_plans(_unload(), remove) if remove.steps else remove


def _unload() -> InstallPlan:
    return run_commands(("launchctl", "bootout", f"{_domain()}/{LABEL}"), must=False)


def _domain() -> str:
    return f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"
