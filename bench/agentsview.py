"""A peer that keeps sessions in a database too: its sync, its search, and the server that its search needs.

Each home is a fresh installation. It is kept from the network: no telemetry and no look for updates.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Run, run

ALL = ["--include-children", "--include-one-shot", "--include-automated"]
"""Without these it leaves sessions out that are searched here."""
_PATIENCE = 120


def program() -> str | None:
    """Its own program, not the script of Python that starts it; None where it is not installed."""
    return os.environ.get("UNSPOOL_AGENTSVIEW")


def quiet(home: Path) -> dict[str, str]:
    """The variables of an installation in a home, kept from the network."""
    return {
        "HOME": str(home),
        "AGENTSVIEW_NO_DAEMON": "1",
        "AGENTSVIEW_TELEMETRY_ENABLED": "0",
        "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1",
    }


@dataclass(frozen=True)
class Installed:
    """One installation, which knows one source."""

    home: Path
    source: Path

    @property
    def env(self) -> dict[str, str]:
        return quiet(self.home) | {"CLAUDE_PROJECTS_DIR": str(self.source / "projects")}

    def command(self, *arguments: str) -> list[str]:
        return [program() or "agentsview", *arguments]

    def sync(self) -> Run:
        """Take in what is new, once and without a server."""
        self.home.mkdir(parents=True, exist_ok=True)
        return run(self.command("sync"), self.env)

    @property
    def size(self) -> int:
        """Bytes of its database."""
        return sum(path.stat().st_size for path in (self.home / ".agentsview").glob("sessions.db*"))

    def search(self, text: str, *how: str) -> Run:
        """Its search from the shell; the server must run."""
        return run(self.command("session", "search", "--json", *ALL, *how, text), self.env)

    @contextmanager
    def served(self) -> Iterator[bool]:
        """Its server, in the foreground of a process that ends with this; says whether it came up."""
        quiet = ["--no-browser", "--no-sync", "--no-update-check", "--port", "0"]
        with subprocess.Popen(
            self.command("serve", *quiet),
            env={**os.environ, **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                yield self._came_up(server)
            finally:
                server.terminate()

    def _came_up(self, server: subprocess.Popen[bytes]) -> bool:
        until = time.monotonic() + _PATIENCE
        while server.poll() is None and time.monotonic() < until:
            if not self.search("unspool").failed:
                return True
            time.sleep(0.5)
        return False
