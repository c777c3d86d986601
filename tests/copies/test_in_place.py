"""A session that is made lighter in its own file, and given back."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from unspool.copies import in_place
from unspool.copies.write import prove_lines
from unspool.errors import Exists, Unsound
from unspool.store.library import Library


@pytest.fixture
def log(home: Path) -> Path:
    made = LogBuilder(version="2.1.230")
    for number in range(1, 5):
        made.prompt(f"Question {number}?").ran(f"cat {number}", f"row {number}\n" * 400)
        made.assistant(made.text(f"Answer {number}."))
    return made.write(home / ".claude")


def test_the_file_becomes_lighter_under_its_own_ids_and_undo_gives_it_back_to_the_byte(log: Path, home: Path) -> None:
    before, mode = log.read_bytes(), log.stat().st_mode
    done = run("clone", log.stem, "--in-place", "--preset", "extreme")
    assert done.code == 0, done.err
    after = log.read_bytes()
    assert list(log.parent.glob("*.jsonl")) == [log]
    assert len(after) < len(before) / 4
    assert run("lint", log.stem).code == 0
    assert log.stat().st_mode == mode
    session = Library([home / ".claude"]).open(log.stem)
    assert [turn.prompt.text for turn in session.turns if turn.prompt] == [f"Question {one}?" for one in range(1, 5)]
    assert session.title == "Question 1?"
    old = {json.loads(line).get("uuid") for line in before.splitlines()}
    assert {json.loads(line).get("uuid") for line in after.splitlines()} <= old
    assert run("clone", "--undo", log.stem).code == 0
    assert log.read_bytes() == before
    assert in_place.find_edit(log.stem) is None
    assert run("clone", "--undo", log.stem).code == 3


def test_a_dry_run_changes_nothing(log: Path, home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    done = run("clone", log.stem, "--in-place", "--preset", "extreme", "-n")
    assert (done.code, "Nothing was written" in done.out) == (0, True)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_undo_keeps_what_was_said_since_unless_it_is_forced(log: Path) -> None:
    before = log.read_bytes()
    assert run("clone", log.stem, "--in-place", "--preset", "extreme").code == 0
    with log.open("ab") as file:
        file.write(before.splitlines(keepends=True)[-1])
    refused = run("clone", "--undo", log.stem)
    assert (refused.code, "went on" in refused.err) == (Exists.exit_code, True)
    assert run("clone", "--undo", log.stem, "--force").code == 0
    assert log.read_bytes() == before


def test_a_session_that_is_open_in_its_agent_is_refused(log: Path, home: Path) -> None:
    before = log.read_bytes()
    (home / ".claude/sessions").mkdir()
    said = {"pid": os.getpid(), "sessionId": log.stem, "cwd": "/", "startedAt": 1}
    (home / f".claude/sessions/{os.getpid()}.json").write_text(json.dumps(said))
    done = run("clone", log.stem, "--in-place")
    assert done.code == Unsound.exit_code, done.out
    assert "open in its agent" in done.err
    assert log.read_bytes() == before


def test_a_log_that_grows_meanwhile_is_left_alone(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = prove_lines

    def grows(*given: object) -> None:
        real(*given)  # type: ignore[arg-type]
        with log.open("ab") as file:
            file.write(b"{}\n")

    monkeypatch.setattr(in_place, "prove_lines", grows)
    size = log.stat().st_size
    done = run("clone", log.stem, "--in-place", "--preset", "extreme")
    assert (done.code, log.stat().st_size) == (Unsound.exit_code, size + 3)
    assert in_place.find_edit(log.stem) is None


def test_forgetting_a_session_forgets_what_was_put_aside(log: Path) -> None:
    assert run("sync", "-q").code == 0
    assert run("clone", log.stem, "--in-place", "--preset", "extreme").code == 0
    edit = in_place.find_edit(log.stem)
    assert edit is not None
    log.unlink()
    assert run("sync", "-q").code == 0
    assert run("forget", log.stem, "--yes").code == 0
    assert not Path(edit.backup).exists()
