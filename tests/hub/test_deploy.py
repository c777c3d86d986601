"""The files that deploy a hub say nothing that the program does not know."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from unspool.cli.hub_cmd import command

DEPLOY = Path(__file__).parents[2] / "deploy"
OPTIONS = {name for option in command.params for name in option.opts}
VARIABLES = {name for option in command.params for name in ([option.envvar] if isinstance(option.envvar, str) else [])}


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "unspool-hub.service"])
def test_options_and_variables_are_the_programs_own(name: str) -> None:
    text = (DEPLOY / name).read_text()
    start = [line for line in text.splitlines() if "unspool" in line and "hub" in line and "--" in line]
    used = set(re.findall(r"(?<![\w-])(--[a-z-]+)", "\n".join(start))) - {"--enable", "--now"}
    assert used <= OPTIONS
    assert set(re.findall(r"\bUNSPOOL_HUB_[A-Z]+", text)) <= VARIABLES


def test_the_image_has_only_what_was_locked() -> None:
    """Every package is installed by its digest; the hub itself is made without a network and brings none along."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    installs = re.findall(r"pip install[^&\n]*", text)
    assert installs
    for one in installs:
        locked = re.search(r"--require-hashes.* -r /source/(requirements/\w+\.txt)", one)
        assert locked is not None or {"--no-deps", "--no-index"} <= set(one.split()), one
    assert "uv build --offline" in text
    pins = (DEPLOY.parent / "requirements" / "hub.txt").read_text()
    wanted = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    for need in (*wanted["dependencies"], *wanted["optional-dependencies"]["hub"]):
        name = re.match(r"[\w-]+", need)
        assert name is not None
        assert re.search(rf"^{name[0]}==\S+ .*\\\n    --hash=sha256:", pins, re.MULTILINE), need


def test_systemd_finds_no_fault_with_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd-analyze here")
    unit = (DEPLOY / "unspool-hub.service").read_text()
    there = tmp_path / "unspool-hub.service"
    there.write_text(unit.replace("/usr/local/bin/unspool", "/bin/true"))
    said = subprocess.run([program, "verify", str(there)], capture_output=True, text=True, check=False, timeout=60)
    assert "unspool-hub.service" not in said.stderr, said.stderr
