"""Copies of sessions of pi are judged by pi itself: it resumes each, and sends what the copy holds."""

import json
import shutil
from pathlib import Path

import pytest

from tests.live import agents
from tests.live.stage import Stage
from tests.live.steps import call, say
from tests.live.test_codex_copies import PROMPT, made, sent
from unspool.store.library import Library

pytestmark = pytest.mark.skipif(agents.program("pi") is None, reason="no pi under UNSPOOL_LIVE")


@pytest.fixture(scope="session")
def live_pi(kept: Path) -> Path:
    """A session of two turns."""
    config, work = kept / "pi", kept / "work" / "pi"
    work.mkdir(parents=True)
    with Stage() as stage:
        steps = [call("bash", command="echo nine"), call("write", path="tide.py", content="low = 1"), say("Written.")]
        stage.run_other("pi", config, work, "Write tide.py", steps)
        (log,) = config.rglob("*.jsonl")
        stage.run_other("pi", config, work, "Second", [say("Second done.", thinking="It works.")], resume=str(log))
    return config


@pytest.fixture
def home(live_pi: Path, tmp_path: Path) -> Path:
    """A folder of pi with what it left."""
    shutil.copytree(live_pi / "sessions", tmp_path / "pi" / "sessions")
    return tmp_path / "pi"


def make_old(log: Path) -> None:
    """Write a session as the first versions of pi did."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        for name in ("version",) if line["type"] == "session" else ("id", "parentId"):
            del line[name]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    "act", ["fork", "fork at 1", "fork old", "clone none", "clone default", "clone extreme", "move", "repair"]
)
def test_a_copy_is_resumed(act: str, home: Path, stage: Stage) -> None:
    (log,) = home.rglob("*.jsonl")
    session = log.stem.partition("_")[2]
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    match act.split():
        case ["fork", *at]:
            if at == ["old"]:
                make_old(log)
            copy = made(home, "fork", session, *(("--at", "1") if "at" in at else ()))
        case ["clone", preset]:
            copy = made(home, "clone", session, "--preset", preset)
        case ["move"]:
            copy = made(home, "move", session, "--to", str(elsewhere))
        case _:
            held = log.read_bytes().splitlines(keepends=True)
            log.write_bytes(b"".join([*held[:2], *held[3:], b'{"type": "torn']))
            copy = made(home, "repair", session)
    held_copy = Library([home]).open(str(copy["session"]))
    typed = [turn.prompt.text for turn in held_copy.turns if turn.prompt is not None]
    steps = [say("After the copy comes this.")]
    run = stage.run_other("pi", home, Path(copy["cwd"]), PROMPT, steps, resume=held_copy.id)
    said = sent(run)
    assert typed == ["Write tide.py", "Second"][: 1 if act == "fork at 1" else 2]
    assert [one for one in [*typed, PROMPT] if json.dumps(one)[1:-1] not in said] == []
    assert ("nine" in said) == (act != "clone extreme")
    again = Library([home]).open(held_copy.id)
    assert [turn.prompt.text for turn in again.turns if turn.prompt is not None] == [*typed, PROMPT]
    assert again.problems == ()
