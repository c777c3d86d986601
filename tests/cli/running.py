"""Runs the command line: in this process, as `unspool` itself would run, or as a real one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from click.testing import CliRunner

from tests.log_builder.builder import LogBuilder
from unspool.cli import main

STORM = "57024000-0e55-4d0c-8e55-000000000005"
NIGHTLY = "0c7a9e50-1077-4d0c-8e77-000000000007"
FIRST_LIGHT = "1c0ffee0-0a11-4d0c-8e11-000000000001"
STUB = "57b00000-1188-4d0c-8e88-000000000008"


class Outcome(NamedTuple):
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str


def run(*arguments: str, stdin: bytes = b"") -> Outcome:
    """Run `unspool` with these arguments in this process, errors turned into exit codes as for a user."""
    code: object = 0
    with CliRunner().isolation(input=stdin) as (out, err, *_), mock.patch.object(sys, "argv", ["unspool", *arguments]):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.stderr.flush()
        return Outcome(code if isinstance(code, int) else 1, out.getvalue().decode(), err.getvalue().decode())


def demo(*arguments: str) -> str:
    """What a command prints of the demo; it must end well."""
    done = run(*arguments, "--demo")
    assert done.code == 0, done.err
    return done.out


def process(*arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
    """A real process of `unspool`, with pipes on all three streams."""
    return subprocess.Popen(
        [sys.executable, "-m", "unspool", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )


def finished(*arguments: str, stdin: bytes = b"", **environment: str) -> Outcome:
    """A real process, run to its end."""
    with process(*arguments, **environment) as started:
        out, err = started.communicate(stdin, timeout=120)
    return Outcome(started.returncode, out.decode(), err.decode())


def source(folder: Path, *logs: LogBuilder) -> tuple[str, str]:
    """`--source` with these sessions in it."""
    (folder / "projects").mkdir(parents=True, exist_ok=True)
    for log in logs:
        log.write(folder)
    return "--source", str(folder)


def talk(words: str, session_id: str = "", **options: str) -> LogBuilder:
    """A session of one question and one answer."""
    log = LogBuilder(session_id=session_id, **options)  # type: ignore[arg-type]
    return log.prompt(words).assistant(log.text("Aye."))
