"""What a scenario is: a folder with a repository, and runs of the agent in it, one after the other."""

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.agents import environment, program, trust
from tests.live.picture import dot
from tests.live.stage import Job, Run, Stage
from tests.live.steps import Step, call
from tests.live.terminal import Act

PLANTED = {
    "prompt": "no secret here",
    "file": "no-secret-in-a-file",
    "memory": "no secret to remember",
    "remote": "nobody:nothing",
    "commit": "no secret in a message",
    "environment": "no-secret-in-a-variable",
}
"""Where a test may plant a value, and the harmless one that stands there otherwise."""


@dataclass
class Play:
    """A scenario while it runs."""

    stage: Stage
    config: Path
    cwd: Path
    plant: Mapping[str, str]
    runs: list[Run] = field(default_factory=list)
    last: str = ""

    def run(
        self,
        prompt: str,
        *steps: Step,
        args: Sequence[str] = (),
        resume: bool = False,
        env: Mapping[str, str] | None = None,
        given: str = "",
    ) -> Run:
        """The agent without a screen; `resume` goes on with the session of the run before, `given` is its input."""
        ran = self.stage.run_claude(
            self.config, self.cwd, prompt, steps, args=args, resume=self.last if resume else "", env=env, input=given
        )
        self.runs.append(ran)
        self.last = ran.session or self.last
        return ran

    def screen(self, *script: Act, steps: Sequence[Step] = (), args: Sequence[str] = (), resume: bool = False) -> Run:
        """The agent at its screen."""
        ran = self.stage.interactive(
            self.config, self.cwd, script, steps, args=args, resume=self.last if resume else ""
        )
        self.runs.append(ran)
        return ran

    def shell(self, script: str, *steps: Step) -> Run:
        """A script that calls the agent, whose program is its `$0`."""
        words = ["bash", "-c", script, str(program("claude"))]
        ran = self.stage.run(Job(words, str(self.cwd), environment(self.config), list(steps)))
        self.runs.append(ran)
        return ran

    def path(self, name: str) -> str:
        return str(self.cwd / name)

    def write(self, name: str, text: str) -> Path:
        """A file of the repository."""
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def edits(self, within: str = "") -> list[Step]:
        """A file written, read and changed."""
        path = self.path("flow.py")
        return [
            call("Write", within=within, file_path=path, content="def flow():\n    return 1\n"),
            call("Read", within=within, file_path=path),
            call("Edit", within=within, file_path=path, old_string="return 1", new_string="return 2"),
        ]

    def settings(self, **values: Any) -> None:
        """The project's settings of the agent."""
        self.write(".claude/settings.json", json.dumps(values))

    def lines(self) -> list[dict[str, Any]]:
        """The log of the last headless run, line by line."""
        (log,) = self.config.glob(f"projects/*/{self.last}.jsonl")
        return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class Played:
    """What a scenario left: its sessions in the order they were begun, and what its runs sent and printed."""

    sessions: list[str]
    runs: list[Run]

    @property
    def failures(self) -> list[str]:
        """Runs that did not end as they should: stuck at the screen, or out of time."""
        return [run.stderr or "out of time" for run in self.runs if run.exit_code < 0]

    @property
    def not_played(self) -> list[str]:
        """Tools that this version does not offer, and steps that it never asked for."""
        return sorted({name for run in self.runs for name in (*run.not_offered, *run.unplayed)})


@dataclass(frozen=True)
class Scenario:
    """A story told to the agent."""

    tell: Callable[[Play], None]

    def play(self, stage: Stage, config: Path, work: Path, plant: Mapping[str, str] | None = None) -> Played:
        """Run it in `work`, a folder that is only its own."""
        cwd = work / "repo"
        play = Play(stage, config, cwd, {**PLANTED, **(plant or {})})
        prepare(play)
        self.tell(play)
        return Played(sessions_of(config, cwd), play.runs)


def sessions_of(config: Path, cwd: Path) -> list[str]:
    """Ids of the sessions that ran in a folder or below it, oldest first."""
    name = re.sub(r"[^a-zA-Z0-9]", "-", str(cwd))
    logs = [log for log in config.glob(f"projects/{name}*/*.jsonl") if not log.name.startswith("agent-")]
    return [log.stem for log in sorted(logs, key=lambda log: log.stat().st_ctime_ns)]


def prepare(play: Play) -> None:
    """A small repository with a commit, a remote, a picture, a notebook and a file that is not meant to be read."""
    play.cwd.mkdir(parents=True)
    trust(play.config, play.cwd)
    play.write("README.md", "# Tides\n\nComputes the tide.\n")
    play.write("tide.py", "def low():\n    return 1\n")
    play.write(".env", f"TIDE_TOKEN={play.plant['file']}\n")
    play.write(".gitignore", ".env\n")
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "c1",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": ["low()"],
    }
    play.write("notes.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    (play.cwd / "dot.png").write_bytes(dot())
    env = environment(play.config)
    remote = f"https://{play.plant['remote']}@git.example.org/tides.git"
    for words in (
        ("init", "-q", "-b", "main"),
        ("remote", "add", "origin", remote),
        ("add", "-A"),
        ("commit", "-q", "-m", f"Begin: {play.plant['commit']}"),
    ):
        subprocess.run(["git", *words], cwd=play.cwd, env=env, check=True)  # noqa: S607
