"""A stage: a process in a network namespace of its own that plays the model and runs the agents against it.

    unshare -n python -m tests.live.stage

reads jobs as JSON lines and answers each with a line. `Stage` starts that process and gives it jobs. Stages share
nothing, so several can run at once.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from tests.live import agents
from tests.live.played_model import Part, PlayedModel, talk_of
from tests.live.steps import Step
from tests.live.terminal import Act, NotShown, Terminal

ROOT = Path(__file__).resolve().parent.parent.parent
LONGEST = 240.0
"""Seconds that one run of an agent may take."""

TOOK_TOO_LONG = -1


class Job(msgspec.Struct):
    """A program to run, the steps of the model, and what is done at the screen; without a script it has none."""

    words: list[str]
    cwd: str
    env: dict[str, str]
    steps: list[Step]
    script: list[Act] = []
    input: str = ""


class Run(msgspec.Struct):
    """What became of a job."""

    exit_code: int
    stdout: str
    stderr: str
    requests: list[dict[str, Any]]
    not_offered: list[str]
    unplayed: list[str]
    tokens: int = 0
    """What the model said that the conversation used, side questions left out."""
    answered: dict[str, int] = {}
    """The same by message of Anthropic's API, side questions too."""

    @property
    def result(self) -> dict[str, Any]:
        """The last JSON object printed, which sums a headless run up."""
        for line in reversed(self.stdout.strip().splitlines()):
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        return {}

    @property
    def session(self) -> str:
        return str(self.result.get("session_id", ""))

    @property
    def text(self) -> str:
        return str(self.result.get("result", ""))

    @property
    def talks(self) -> list[list[dict[str, Any]]]:
        """The messages of each request that offers tools: what the conversation was, side questions left out."""
        return [talk_of(one) for one in self.requests if one.get("tools")]


class Stage:
    """Runs agents, one at a time. Used as a context: what it started has ended when it is left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        words = ["unshare", "-n", sys.executable, "-m", "tests.live.stage"]
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        self._process = subprocess.Popen(
            words, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.communicate()  # an end of input is what it ends at

    def run(self, job: Job) -> Run:
        """Run one job to its end."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(msgspec.json.encode(job) + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the stage has ended; what it wrote to standard error says why")
        return msgspec.json.decode(answer, type=Run)

    def run_claude(
        self,
        config: Path,
        cwd: Path,
        prompt: str,
        steps: Sequence[Step] = (),
        *,
        args: Sequence[str] = (),
        resume: str = "",
        env: Mapping[str, str] | None = None,
        input: str = "",  # noqa: A002
    ) -> Run:
        """Claude Code with one prompt, to the end of its turn."""
        words = agents.claude_words(prompt, args, resume)
        return self.run(Job(words, str(cwd), agents.environment(config, env), list(steps), input=input))

    def run_codex(
        self,
        config: Path,
        cwd: Path,
        prompt: str,
        steps: Sequence[Step] = (),
        *,
        args: Sequence[str] = (),
        resume: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """Codex with one prompt, to the end of its turn."""
        config.mkdir(parents=True, exist_ok=True)
        words = agents.codex_words(prompt, args, resume)
        return self.run(Job(words, str(cwd), agents.environment(config, env), list(steps)))

    def run_other(
        self, agent: str, config: Path, cwd: Path, prompt: str, steps: Sequence[Step], *, resume: str = ""
    ) -> Run:
        """One of the other agents with one prompt, to the end of its turn."""
        config.mkdir(parents=True, exist_ok=True)
        env = agents.other_environment(agent, config)
        return self.run(Job(agents.other_words(agent, resume), str(cwd), env, list(steps), input=prompt))

    def interactive(
        self,
        config: Path,
        cwd: Path,
        script: Sequence[Act],
        steps: Sequence[Step] = (),
        *,
        args: Sequence[str] = (),
        resume: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """Claude Code at its own screen, where the script types and waits."""
        words = agents.claude_words(None, args, resume)
        return self.run(Job(words, str(cwd), agents.environment(config, env), list(steps), list(script)))


# --- inside the namespace --------------------------------------------------------------------------------


def main() -> None:
    """Take jobs until there are no more."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)  # noqa: S607
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what a job leaves running becomes ours to end
    with PlayedModel() as model:
        for line in sys.stdin.buffer:
            job = msgspec.json.decode(line, type=Job)
            part = model.begin(job.steps)
            run = _play(job, part, model.address(part))
            _end_leftovers()
            sys.stdout.buffer.write(msgspec.json.encode(run) + b"\n")
            sys.stdout.buffer.flush()


def _play(job: Job, part: Part, address: str) -> Run:
    job.words = [word.replace(agents.ADDRESS, address) for word in job.words]
    job.env = {name: value.replace(agents.ADDRESS, address) for name, value in job.env.items()}
    code, out, err = _at_screen(job, part) if job.script else _headless(job)
    return Run(code, out, err, part.requests, part.not_offered, part.unplayed, part.tokens, part.answered)


def _headless(job: Job) -> tuple[int, str, str]:
    """What it prints goes to files: a pipe would be held open by whatever it leaves running."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(job.input.encode())
        given.seek(0)
        process = subprocess.Popen(job.words, cwd=job.cwd, env=job.env, stdin=given, stdout=out, stderr=err)
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = TOOK_TOO_LONG
        out.seek(0)
        err.seek(0)
        return code, out.read().decode(errors="replace"), err.read().decode(errors="replace")


def _at_screen(job: Job, part: Part) -> tuple[int, str, str]:
    with Terminal(job.words, Path(job.cwd), job.env) as terminal:
        try:
            for act in job.script:
                terminal.act(act, part.released.set)
        except NotShown as late:
            return TOOK_TOO_LONG, terminal.screen, str(late)
        return 0, terminal.screen, ""


def _end_leftovers() -> None:
    """End what a job left running, and whatever that had started in turn."""
    while found := Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split():
        for name in found:
            os.kill(int(name), signal.SIGKILL)
            os.waitpid(int(name), 0)


if __name__ == "__main__":
    main()
