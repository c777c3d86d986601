"""What the tests with real agents stand on; without the agents they are skipped, and say so in one sentence."""

import os
import queue
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.live import agents
from tests.live.codex import play_codex
from tests.live.scenario import Played
from tests.live.scenarios import SCENARIOS, play
from tests.live.stage import Run, Stage

HERE = Path(__file__).resolve().parent
AT_ONCE = 2
"""Stages that run beside each other."""


def missing() -> str:
    """Why the tests cannot run here; empty where they can."""
    if not os.environ.get("UNSPOOL_LIVE"):
        return "no real agents: `scripts/test --live` installs them and runs these tests"
    if absent := [name for name in ("claude", "codex") if agents.program(name) is None]:
        return f"no {' and '.join(absent)} under UNSPOOL_LIVE: `scripts/test --live` installs them"
    if absent := [name for name in ("git", "ip", "tmux", "unshare") if shutil.which(name) is None]:
        return f"no {' and '.join(absent)}, which the real agents are run with"
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:  # noqa: S607
        return "no network namespace can be made here, which takes root: real agents are run in none but their own"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is in this folder, and nothing else, where something is missing."""
    here = [item for item in items if HERE in item.path.parents]
    if here and (why := missing()):
        for item in here:
            item.add_marker(pytest.mark.skip(reason=why))


@dataclass(frozen=True)
class Live:
    """What an agent wrote while it played its scenarios."""

    config: Path
    work: Path
    version: str
    played: dict[str, Played] = field(repr=False)

    @property
    def sessions(self) -> dict[str, list[str]]:
        """Ids of the sessions by the scenario that left them."""
        return {name: one.sessions for name, one in self.played.items()}

    @property
    def runs(self) -> dict[str, list[Run]]:
        return {name: one.runs for name, one in self.played.items()}

    def logs(self) -> Iterator[tuple[str, Path]]:
        """Every log, subagents' included, with the scenario that left it."""
        for name, sessions in self.sessions.items():
            for session in sessions:
                for path in sorted(self.config.glob(f"projects/*/{session}.jsonl")):
                    yield name, path
                    inside = sorted(path.with_suffix("").rglob("*.jsonl"))
                    yield from ((name, inner) for inner in inside if inner.name != "journal.jsonl")  # which is no log


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where logs are written: UNSPOOL_LIVE_KEEP, which is left for looking at, or a folder that goes."""
    if not (named := os.environ.get("UNSPOOL_LIVE_KEEP")):
        return tmp_path_factory.mktemp("live")
    shutil.rmtree(named, ignore_errors=True)
    Path(named).mkdir(parents=True)
    return Path(named).resolve()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage for one test."""
    with Stage() as one:
        yield one


@pytest.fixture(scope="session")
def live_claude(kept: Path) -> Live:
    """All scenarios of Claude Code, played once."""
    config = kept / "config"
    for name in SCENARIOS:
        agents.trust(config, kept / "work" / name / "repo")
    names: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in SCENARIOS:
        names.put(name)

    def some() -> dict[str, Played]:
        return dict(play(iter(lambda: "" if names.empty() else names.get_nowait(), ""), kept))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = [pool.submit(some) for _ in range(AT_ONCE)]
        played = {name: one for part in parts for name, one in part.result().items()}
    return Live(config, kept / "work", agents.version("claude"), {name: played[name] for name in SCENARIOS})


@pytest.fixture(scope="session")
def live_codex(kept: Path) -> Live:
    """A few sessions of Codex."""
    config = kept / "codex"
    return Live(config, kept / "work", agents.version("codex"), play_codex(config, kept / "work" / "codex"))
