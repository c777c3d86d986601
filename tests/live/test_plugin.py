"""The plugin and its marketplace, judged by the agent's own validator."""

import subprocess
from pathlib import Path

import pytest

from tests.live import agents
from tests.live.stage import ROOT


@pytest.mark.parametrize("place", ["plugin", "."], ids=["plugin", "marketplace"])
def test_the_agent_finds_nothing_wrong(place: str, tmp_path: Path) -> None:
    """Nor anything that it would warn of."""
    done = subprocess.run(
        [str(agents.program("claude")), "plugin", "validate", str(ROOT / place)],
        env=agents.environment(tmp_path / "config"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout
    assert "warning" not in done.stdout.lower(), done.stdout
