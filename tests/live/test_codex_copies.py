"""Copies of rollouts are judged by Codex itself: it resumes each, and sends what the copy holds."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live.agents import environment
from tests.live.conftest import Live
from tests.live.stage import ROOT, Run, Stage
from tests.live.steps import say
from unspool.store.library import Library

PROMPT = "And what comes after the copy?"


@pytest.fixture
def home(live_codex: Live, tmp_path: Path) -> Path:
    """A folder of Codex with what the scenarios left."""
    shutil.copytree(live_codex.config / "sessions", tmp_path / "codex" / "sessions")
    return tmp_path / "codex"


def made(home: Path, *words: str) -> dict[str, Any]:
    env = {
        **os.environ,
        **environment(home),
        "PYTHONPATH": str(ROOT / "src"),
        "XDG_DATA_HOME": str(home.parent / "data"),
    }
    command = [sys.executable, "-m", "unspool", *words, "-s", str(home), "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found["sessions"][0] if "sessions" in found else found


def sent(run: Run) -> str:
    assert run.exit_code == 0, run.stderr[-600:]
    return json.dumps(run.requests[-1], ensure_ascii=False)


@pytest.mark.parametrize("act", ["fork", "fork at 1", "clone none", "clone default", "clone extreme", "move", "repair"])
@pytest.mark.parametrize("name", ["tools", "resumed"])
def test_a_copy_is_resumed(name: str, act: str, live_codex: Live, home: Path, stage: Stage) -> None:
    (session,) = live_codex.sessions[name]
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    match act.split():
        case ["fork", *at]:
            copy = made(home, "fork", session, *(("--at", at[-1]) if at else ()))
        case ["clone", preset]:
            copy = made(home, "clone", session, "--preset", preset)
        case ["move"]:
            copy = made(home, "move", session, "--to", str(elsewhere))
        case _:
            (log,) = home.glob(f"sessions/**/*{session}.jsonl")
            log.write_bytes(log.read_bytes() + b'{"timestamp": "torn')
            copy = made(home, "repair", session)
    held = Library([home]).open(str(copy["session"]))
    typed = [turn.prompt.text for turn in held.turns if turn.prompt is not None]
    run = stage.run_codex(home, Path(copy["cwd"]), PROMPT, [say("After the copy comes this.")], resume=held.id)
    said = sent(run)
    assert [one for one in [*typed, PROMPT] if json.dumps(one)[1:-1] not in said] == []
    assert ("Second" in said) == (name == "resumed" and act != "fork at 1")
    again = Library([home]).open(held.id)
    assert [turn.prompt.text for turn in again.turns if turn.prompt is not None] == [*typed, PROMPT]
    assert again.problems == ()
