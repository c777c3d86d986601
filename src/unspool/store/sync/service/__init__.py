"""Who starts the watch when nobody sits at a terminal: systemd, launchd, cron, or the agents' own hooks. Imports
agents and files."""

import shutil
import sys
from pathlib import Path
from types import MappingProxyType

from unspool.store.sync.service import cron, launchd, systemd
from unspool.store.sync.service import plan as hooks
from unspool.store.sync.service.plan import InstallPlan, ServiceJob, join_plans, perform_plan, plan_lines, service_job

KINDS = MappingProxyType({"systemd": systemd, "launchd": launchd, "cron": cron, "hooks": hooks})
_CACHES = {".cache", "Caches", "cache"}
_WARNING = "note: this unspool runs from a cache that may be emptied; better install it for good first."


def usual() -> str:
    """The kind that fits this machine."""
    if sys.platform == "darwin":
        return "launchd"
    if sys.platform == "win32":
        return "hooks"
    return next(
        (kind for kind, program in (("systemd", "systemctl"), ("cron", "crontab")) if shutil.which(program)), "hooks"
    )


def install(kind: str, wanted: ServiceJob) -> InstallPlan:
    """What installing would do; an empty kind is the usual one."""
    plan: InstallPlan = KINDS[kind or usual()].install(wanted)
    in_cache = _CACHES & set(Path(sys.executable).parts)
    return join_plans(plan, InstallPlan(notes=(_WARNING,))) if in_cache else plan


def uninstall(kind: str) -> InstallPlan:
    """What uninstalling would do; an empty kind is every kind that is installed."""
    return join_plans(*(KINDS[one].uninstall() for one in ([kind] if kind else KINDS)))


__all__ = ["KINDS", "ServiceJob", "install", "perform_plan", "plan_lines", "service_job", "uninstall", "usual"]
