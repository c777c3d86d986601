"""Who starts the watch when nobody sits at a terminal: systemd, launchd, cron, or the agents' own hooks."""

import shutil
import sys
from types import MappingProxyType, ModuleType

from unspool.sync.service import cron, hooks, launchd, systemd
from unspool.sync.service.job import Job, fleeting, job
from unspool.sync.service.plan import Plan, perform, shown

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


def install(kind: str, wanted: Job) -> Plan:
    """What installing would do; an empty kind is the usual one."""
    plan: Plan = _module(kind or usual()).install(wanted)
    warning = fleeting()
    return Plan(plan.steps, (*plan.notes, warning)) if warning else plan


def uninstall(kind: str) -> Plan:
    """What uninstalling would do; an empty kind is every kind that is installed."""
    plans: list[Plan] = [_module(one).uninstall() for one in ([kind] if kind else KINDS)]
    return Plan(
        tuple(step for plan in plans for step in plan.steps), tuple(note for plan in plans for note in plan.notes)
    )


def _module(kind: str) -> ModuleType:
    return KINDS[kind]


__all__ = ["KINDS", "Job", "Plan", "install", "job", "perform", "shown", "uninstall", "usual"]
