"""A sync whenever an agent ends or compacts a session, started by the agent itself.

The command must never slow or break the agent: it starts the sync in the background, in a session of its own where
the system can (so that what ends the agent does not end it), waits for nothing, says nothing and always succeeds.
"""

import os
import shlex
from pathlib import Path

from unspool.agents import FORMATS, AgentFormat
from unspool.agents.base import MARK
from unspool.store.sync.service.plan import InstallPlan, ServiceJob, WriteStep

_SCRIPT = 'nohup nice -n 19 $(command -v setsid) "$@" </dev/null >/dev/null 2>&1 & exit 0'


def command(job: ServiceJob) -> str:
    """The shell command that the agent runs."""
    return shlex.join(("sh", "-c", _SCRIPT, MARK, *job.sync()))


def install(job: ServiceJob) -> InstallPlan:
    """Put the command into the settings of every agent that has hooks."""
    return _edited(command(job))


def uninstall() -> InstallPlan:
    """Take our commands out, and nothing else."""
    return _edited("")


def _edited(text: str) -> InstallPlan:
    edits = [format_.hooked(_home(format_), text) for format_ in FORMATS]
    return InstallPlan(
        tuple(WriteStep(one.path, one.before or None, one.after, backup=True) for one in edits if one.changes)
    )


def _home(format_: AgentFormat) -> Path:
    """The agent's own folder: the first of its places that is there, else where it would make it."""
    roots = format_.roots(os.environ, Path.home())
    return next((root for root in roots if root.is_dir()), roots[0])
