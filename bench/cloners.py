"""The programs that make lighter copies of sessions, and a folder of the agent's that they may fill.

scripts/bench installs the peer, by name; where it could not, it is left out.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.answers import UNSPOOL
from bench.measure import Run, run

OURS, PEER = "unspool", "ccs-cloner"
PRESETS = ("default", "aggressive", "heavy", "extreme", "none")
"""Both have these, with the same figures; without one, the peer makes a plain copy."""


def names() -> tuple[str, ...]:
    """Us, and the peer where it is installed."""
    return (OURS, PEER) if os.environ.get("UNSPOOL_CCS_CLONER") else (OURS,)


def command(name: str, agent: Path, session: str, preset: str) -> list[str]:
    """Clones a session into its own project of the agent's folder."""
    if name == OURS:
        return [UNSPOOL, "clone", session, "--preset", preset, "--source", str(agent), "--json"]
    strip = [] if preset == "none" else [f"--strip-tools={preset}"]
    return [os.environ["UNSPOOL_CCS_CLONER"], "clone", session, *strip, "--claude-dir", str(agent), "--json"]


@dataclass(frozen=True)
class Field:
    """A scratch copy of an agent's folder, which is as before after each clone."""

    folder: Path

    @property
    def agent(self) -> Path:
        return self.folder / "agent"

    @property
    def logs(self) -> list[Path]:
        """Of sessions, not of their subagents."""
        return sorted(path for path in self.agent.glob("projects/*/*.jsonl") if not path.name.startswith("agent-"))

    def clone(self, name: str, session: str, preset: str) -> tuple[Run, Path | None]:
        """Run one program; the log that it made, if any, is put aside."""
        before = set(self._files())
        done = run(command(name, self.agent, session, preset), self._env)
        shutil.rmtree(self._home, ignore_errors=True)
        made = None
        for path in [path for path in self._files() if path not in before]:
            if made is None and path.match("agent/projects/*/*.jsonl"):
                made = self._aside(path, name)
            else:
                path.unlink()
        return done, made

    def clear(self) -> None:
        """Forget the logs put aside."""
        for name in (OURS, PEER):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    @property
    def _home(self) -> Path:
        return self.folder / "home"

    @property
    def _env(self) -> dict[str, str]:
        """Nothing of the person who measures is read or written."""
        own = ("UNSPOOL_ARCHIVE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        return {"CLAUDE_CONFIG_DIR": str(self.agent), **dict.fromkeys(own, str(self._home))}

    def _files(self) -> Iterator[Path]:
        return (path for path in self.agent.rglob("*") if path.is_file())

    def _aside(self, path: Path, name: str) -> Path:
        target = self.folder / name / path.relative_to(self.agent)
        target.parent.mkdir(parents=True, exist_ok=True)
        return path.rename(target)


def field(source: Path, folder: Path) -> Field:
    """The field with a copy of `source`."""
    shutil.copytree(source, folder / "agent")
    return Field(folder)
