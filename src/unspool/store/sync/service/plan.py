"""The job that a service runs, and the steps of an installation."""

import difflib
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unspool.agents import AGENTS, CodingAgent, chosen_roots
from unspool.agents.base import MARK
from unspool.errors import UnspoolError
from unspool.files import write_atomically


class ServiceJob(NamedTuple):
    """What is kept where; every path absolute, because nobody knows where it will be started."""

    archive: Path
    sources: tuple[Path, ...] = ()
    key_file: Path | None = None
    more: tuple[str, ...] = ()
    """Further options of the watch, such as ("--poll", "30")."""

    def watch(self) -> tuple[str, ...]:
        return (*unspool_command(), "watch", "-q", *self._where(), *self.more)

    def sync(self) -> tuple[str, ...]:
        return (*unspool_command(), "sync", "-q", *self._where())

    def _where(self) -> tuple[str, ...]:
        key = ("--key-file", str(self.key_file)) if self.key_file else ()
        sources = (word for one in self.sources for word in ("--source", str(one)))
        return ("--archive", str(self.archive), *key, *sources)


def service_job(
    archive: Path, sources: Sequence[Path], key_file: Path | None = None, more: Sequence[str] = ()
) -> ServiceJob:
    """The job; folders that only this shell's environment names are spelled out, for others do not have it, and then
    all the others that are there as well."""
    told = {name: value for name, value in os.environ.items() if name != "PWD"}  # a job stands nowhere
    for_all = {name: told[name] for name in _FOR_ALL if name in told}
    usual, by_place, here = _roots({}), _roots(for_all), _roots(told)
    set_here = [root for root in here if root not in usual and (root not in by_place or root.is_dir())]
    beside = [root for root in here if root in usual and root.is_dir()] if set_here else []
    named = tuple(map(_absolute, sources or (*set_here, *beside)))
    return ServiceJob(_absolute(archive), named, _absolute(key_file) if key_file else None, tuple(more))


_FOR_ALL = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA")
"""Variables that move the folders of every program, so that most of what they name is not there."""


def _roots(environment: Mapping[str, str]) -> list[Path]:
    return [root for agent in AGENTS for root in chosen_roots(agent, environment, Path.home())]


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100  links stay: they may be moved


def unspool_command() -> tuple[str, ...]:
    """This very unspool. -P keeps the folder it is started in, which may be anybody's, from being imported from."""
    return (sys.executable, "-P", "-m", "unspool")


_SECONDS = 60
_BACKUP = ".unspool-backup"


class WriteStep(NamedTuple):
    """Put a file in place of what is there; `None` stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    backup: bool = False
    """Keep a copy of what was there beside it."""
    executable: bool = False


class RunStep(NamedTuple):
    """Run a program, with something on its standard input; `must` it succeed?"""

    command: tuple[str, ...]
    given: bytes = b""
    was: bytes = b""
    """What `given` replaces, where it replaces something."""
    must: bool = True


Step = WriteStep | RunStep


class InstallPlan(NamedTuple):
    """Steps in order, and what the user should know."""

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()


def current_text(path: Path) -> bytes | None:
    """What a file holds; None where it is not there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def join_plans(*plans: InstallPlan) -> InstallPlan:
    steps = tuple(step for plan in plans for step in plan.steps)
    return InstallPlan(steps, tuple(note for plan in plans for note in plan.notes))


def write_file(path: Path, content: bytes | None, *, executable: bool = False) -> InstallPlan:
    """Have a file hold this, or with None be gone; no step where it is so."""
    before = current_text(path)
    return InstallPlan((WriteStep(path, before, content, executable=executable),) if before != content else ())


def run_commands(*commands: tuple[str, ...], must: bool = True) -> InstallPlan:
    """Run what tells a service manager; where it is not installed, that is left to the user."""
    if shutil.which(commands[0][0]) is None:
        return InstallPlan(notes=tuple(f"run yourself: {' '.join(command)}" for command in commands))
    return InstallPlan(tuple(RunStep(command, must=must) for command in commands))


def plan_lines(plan: InstallPlan) -> Iterator[str]:
    """The plan, line by line, as a person reads it before saying yes."""
    for step in plan.steps:
        if isinstance(step, RunStep):
            yield f"run: {shlex.join(step.command)}" + (" with" if step.given or step.was else "")
            yield from _difference(step.was, step.given)
        else:
            verb = "remove" if step.after is None else "write" if step.before is None else "change"
            copied = step.backup and step.before is not None
            yield f"{verb}: {step.path}" + (f" (copy in {backup_path(step.path).name})" if copied else "")
            yield from _difference(step.before or b"", step.after) if step.after is not None else ()
    yield from plan.notes


def _difference(before: bytes, after: bytes) -> Iterator[str]:
    """The new text, or where there was one before, the lines that differ with some around them; of a picture, its
    size."""
    if b"\0" in after:
        yield f"    {len(after):,} bytes"
        return
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:] if old else new
    yield from (f"    {line}".rstrip() for line in lines)


def perform_plan(plan: InstallPlan) -> None:
    """Do it; UnspoolError where a step fails or a file is no longer as it was shown."""
    for step in plan.steps:
        if isinstance(step, RunStep):
            _run(step)
        else:
            _write(step)


def _write(step: WriteStep) -> None:
    if current_text(step.path) != step.before:
        raise UnspoolError(f"{step.path} has changed in the meantime and was left as it is; try again.")
    mode = stat.S_IMODE(step.path.stat().st_mode) if step.before is not None else 0o700 if step.executable else None
    if step.backup and step.before is not None:
        write_atomically(backup_path(step.path), [step.before])
    if step.after is None:
        step.path.unlink(missing_ok=True)
        return
    write_atomically(step.path, [step.after])
    if mode is not None:
        step.path.chmod(mode)


def backup_path(path: Path) -> Path:
    """Where a copy of a file is put before it is changed."""
    return path.with_name(path.name + _BACKUP)


def _run(step: RunStep) -> None:
    try:
        done = subprocess.run(step.command, input=step.given, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603  shown to the user before
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnspoolError(f"`{shlex.join(step.command)}` could not be run: {error}.") from None
    if done.returncode and step.must:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise UnspoolError(f"`{shlex.join(step.command)}` failed: {said or f'exit code {done.returncode}'}")


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
    edits = [agent.hooks.edit(_home(agent), text) for agent in AGENTS if agent.hooks is not None]
    changes = [one for one in edits if one.changes]
    return InstallPlan(tuple(WriteStep(one.path, one.before or None, one.after, backup=True) for one in changes))


def _home(agent: CodingAgent) -> Path:
    """The agent's own folder: the first of its places that is there, else where it would make it."""
    roots = agent.roots(os.environ, Path.home())
    return next((root for root in roots if root.is_dir()), roots[0])
