"""An agent that another package brings: the example of docs/agents.md, installed and used."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "agents.md"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of packages with the example in it, as an installer leaves it."""
    (code,) = re.findall(r"```py\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    (points,) = re.findall(r"```toml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    folder = tmp_path / "site-packages"
    info = folder / "fable_unspool-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "fable_unspool.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fable-unspool\nVersion: 1.0\n")
    group, entry = re.findall(r'entry-points\."(.+)"\]\n(\w+ = ".+")', points)[0]
    (info / "entry_points.txt").write_text(f"[{group}]\n" + entry.replace('"', "") + "\n")
    return folder


def unspool(installed: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = f"import sys; sys.path.insert(0, {str(installed)!r}); from unspool.cli import main; sys.exit(main())"
    home = {
        "HOME": str(installed.parent),
        "XDG_CACHE_HOME": str(installed.parent / "cache"),
        "PYTHONWARNINGS": "default",
    }
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=home, check=False)


def test_sessions_of_an_installed_agent_are_read(installed: Path, tmp_path: Path) -> None:
    tales = tmp_path / ".fable" / "tales"
    tales.mkdir(parents=True)
    lines = [
        {"says": "you", "words": "Build a harbour"},
        {"says": "it", "words": "Of granite.", "in": 9, "out": 4},
        {"says": "sings"},
    ]
    (tales / "fable-0001.tale").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (listed,) = json.loads(unspool(installed, "list", "--json").stdout)["sessions"]
    assert (listed["agent"], listed["title"], listed["turns"]) == ("fable", "Build a harbour", 1)
    assert "Of granite." in unspool(installed, "show", "fable-0001").stdout
    agents = {one["id"]: one for one in json.loads(unspool(installed, "agents", "--json").stdout)["agents"]}
    assert agents["fable"]["sessions"] == 1


@pytest.mark.parametrize("broken", ["raise ValueError('no')", "Fable = 3", "import nothing_of_that_name"])
def test_one_that_cannot_be_used_is_warned_of_and_keeps_nobody_from_his_logs(installed: Path, broken: str) -> None:
    (installed / "fable_unspool.py").write_text(broken)
    done = unspool(installed, "list", "--demo")
    assert done.returncode == 0
    assert "the agent fable (fable_unspool:Fable) is left out" in done.stderr
