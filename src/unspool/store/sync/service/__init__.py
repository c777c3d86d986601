"""Who starts the watch when nobody sits at a terminal: systemd, launchd, cron, or the agents' own hooks. Imports
agents and files."""

import shutil
import sys
from types import MappingProxyType, ModuleType

from unspool.store.sync.service import cron, launchd, systemd
from unspool.store.sync.service import plan as hooks
from unspool.store.sync.service.plan import InstallPlan, ServiceJob, is_fleeting, perform_plan, plan_lines, service_job

KINDS = MappingProxyType({"systemd": systemd, "launchd": launchd, "cron": cron, "hooks": hooks})


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
    plan: InstallPlan = _module(kind or usual()).install(wanted)
    warning = is_fleeting()
    return InstallPlan(plan.steps, (*plan.notes, warning)) if warning else plan


def uninstall(kind: str) -> InstallPlan:
    """What uninstalling would do; an empty kind is every kind that is installed."""
    plans: list[InstallPlan] = [_module(one).uninstall() for one in ([kind] if kind else KINDS)]
    return InstallPlan(
        tuple(step for plan in plans for step in plan.steps), tuple(note for plan in plans for note in plan.notes)
    )


def _module(kind: str) -> ModuleType:
    return KINDS[kind]


__all__ = [
    "KINDS",
    "InstallPlan",
    "ServiceJob",
    "install",
    "perform_plan",
    "plan_lines",
    "service_job",
    "uninstall",
    "usual",
]
