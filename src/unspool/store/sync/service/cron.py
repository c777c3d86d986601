"""A sync every ten minutes as a line of the user's crontab; the other lines stay as they are."""

import shlex
import shutil
import subprocess

from unspool.errors import UnspoolError, UsageProblem
from unspool.store.sync.service.plan import InstallPlan, RunStep, ServiceJob

MARK = "# unspool-watch"
"""How our line ends, by which it is known again."""

_WHEN = "*/10 * * * *"


def line(job: ServiceJob) -> str:
    """The line; a percent sign would end the command, so it is escaped."""
    command = shlex.join(("nice", "-n", "19", *job.sync()))
    if "\n" in command or "\r" in command:
        raise UsageProblem("A crontab cannot hold a path with a line break.")
    return f"{_WHEN} {command.replace('%', chr(92) + '%')} {MARK}"


def install(job: ServiceJob) -> InstallPlan:
    """Put the line last, or in the place of the one that is there."""
    before = _table(must=True)
    lines = before.splitlines(keepends=True)
    ours = [number for number, one in enumerate(lines) if _is_ours(one)]
    made = f"{line(job)}\n".encode()
    if ours:
        lines[ours[0]] = made
        lines = [one for number, one in enumerate(lines) if number not in ours[1:]]
    else:
        lines = [*_ended(lines), made]
    return _changed(before, b"".join(lines))


def uninstall() -> InstallPlan:
    before = _table(must=False)
    return _changed(before, b"".join(one for one in before.splitlines(keepends=True) if not _is_ours(one)))


def _changed(before: bytes, after: bytes) -> InstallPlan:
    return InstallPlan((RunStep(("crontab", "-"), after, before),) if before != after else ())


def _is_ours(text: bytes) -> bool:
    return text.rstrip().endswith(MARK.encode()) and not text.startswith(b"#")


def _ended(lines: list[bytes]) -> list[bytes]:
    """The lines, the last one ended: cron would not run one that is not."""
    return [*lines[:-1], lines[-1].rstrip(b"\n") + b"\n"] if lines else []


def _table(*, must: bool) -> bytes:
    """The user's crontab; empty where there is none yet, UnspoolError where it cannot be read."""
    program = shutil.which("crontab")
    if program is None:
        if must:
            raise UnspoolError("There is no `crontab` on this machine.")
        return b""
    try:
        done = subprocess.run([program, "-l"], capture_output=True, timeout=60, check=False)  # noqa: S603  a fixed command
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnspoolError(f"`crontab -l` could not be run: {error}.") from None
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip()
    if "no crontab" in said.casefold():
        return b""
    raise UnspoolError(f"`crontab -l` failed, so nothing was changed: {said or done.returncode}")
