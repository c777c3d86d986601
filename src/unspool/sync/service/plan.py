"""What an installation would do, step by step: shown first, and done only as shown."""

import difflib
import shlex
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from unspool.errors import UnspoolError
from unspool.files import write_atomically

_SECONDS = 60
_BACKUP = ".unspool-backup"


class Write(NamedTuple):
    """Put a file in place of what is there; `None` stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    backup: bool = False
    """Keep a copy of what was there beside it."""


class Run(NamedTuple):
    """Run a program, with something on its standard input; `must` it succeed?"""

    command: tuple[str, ...]
    given: bytes = b""
    was: bytes = b""
    """What `given` replaces, where it replaces something."""
    must: bool = True


Step = Write | Run


class Plan(NamedTuple):
    """Steps in order, and what the user should know."""

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()


def current(path: Path) -> bytes | None:
    """What a file holds; None where it is not there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def shown(plan: Plan) -> Iterator[str]:
    """The plan, line by line, as a person reads it before saying yes."""
    for step in plan.steps:
        if isinstance(step, Run):
            yield f"run: {shlex.join(step.command)}" + (" with" if step.given or step.was else "")
            yield from _difference(step.was, step.given)
        else:
            yield f"{_verb(step)}: {step.path}" + (f" (copy in {_backup(step.path).name})" if _saves(step) else "")
            yield from _difference(step.before or b"", step.after) if step.after is not None else ()
    yield from plan.notes


def _verb(step: Write) -> str:
    return "remove" if step.after is None else "write" if step.before is None else "change"


def _difference(before: bytes, after: bytes) -> Iterator[str]:
    """The new text, or where there was one before, the lines that differ with some around them."""
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:] if old else new
    yield from (f"    {line}".rstrip() for line in lines)


def perform(plan: Plan) -> None:
    """Do it; UnspoolError where a step fails or a file is no longer as it was shown."""
    for step in plan.steps:
        if isinstance(step, Run):
            _run(step)
        else:
            _write(step)


def _write(step: Write) -> None:
    if current(step.path) != step.before:
        raise UnspoolError(f"{step.path} has changed in the meantime and was left as it is; try again.")
    mode = stat.S_IMODE(step.path.stat().st_mode) if step.before is not None else None
    if step.before is not None and _saves(step):
        write_atomically(_backup(step.path), [step.before])
    if step.after is None:
        step.path.unlink(missing_ok=True)
        return
    write_atomically(step.path, [step.after])
    if mode is not None:
        step.path.chmod(mode)


def _saves(step: Write) -> bool:
    return step.backup and step.before is not None


def _backup(path: Path) -> Path:
    return path.with_name(path.name + _BACKUP)


def _run(step: Run) -> None:
    try:
        done = subprocess.run(step.command, input=step.given, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603  shown to the user before
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnspoolError(f"`{shlex.join(step.command)}` could not be run: {error}.") from None
    if done.returncode and step.must:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise UnspoolError(f"`{shlex.join(step.command)}` failed: {said or f'exit code {done.returncode}'}")
