"""Agents that a person leaves out, or whose sessions lie elsewhere."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from unspool.config.settings import change_settings, load_settings, settings_path


@pytest.fixture
def settings(home: Path) -> Path:
    """A session in the agent's own folder, and an empty file of settings."""
    log = LogBuilder()
    log.prompt("Here").assistant(log.text("Yes.")).write(home / ".claude")
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def titles() -> list[str]:
    """Prompts of the sessions that are listed, but for the demo, which is shown where there are none."""
    listed = json.loads(run("list", "--json", "-a").out)["sessions"]
    return [one["titles"]["prompt"] for one in listed if one["titles"].get("prompt") in ("Here", "There")]


def test_an_agent_that_is_left_out_is_not_looked_for_and_comes_back(settings: Path) -> None:
    """Neither its sessions nor its folders are told; the others stay."""
    assert titles() == ["Here"]
    settings.write_text('agents_off = ["claude-code"]\n')
    assert titles() == []
    rows = {one["id"]: one["folders"] for one in json.loads(run("agents", "--json").out)["agents"]}
    assert rows["claude-code"] == []
    assert rows["codex"]
    change_settings({"agents_off": None}, settings)
    assert settings.read_text() == ""


def test_an_agent_that_keeps_its_sessions_elsewhere_is_looked_for_there_alone(settings: Path, tmp_path: Path) -> None:
    log = LogBuilder()
    log.prompt("There").assistant(log.text("Yes.")).write(tmp_path / "data")
    settings.write_text(f'agent_folders = ["claude-code={tmp_path / "data"}"]\n')
    assert titles() == ["There"]


@pytest.mark.parametrize("line", ['agents_off = ["clode"]', 'agent_folders = ["codex"]', 'agent_folders = ["x=/y"]'])
def test_an_agent_that_nobody_knows_is_told_and_nothing_is_left_out(settings: Path, line: str) -> None:
    settings.write_text(f"{line}\n")
    assert len(load_settings(settings).troubles) == 1
    assert titles() == ["Here"]
