"""`unspool compare` as people see it."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run, source
from tests.figures.test_compare import attempt
from tests.log_builder.builder import LogBuilder


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    left = LogBuilder(session_id="left-it", seed="left", cwd="/home/dev/lamp")
    left.prompt("First").assistant(left.text("One"))
    fork = left.last
    left.prompt("Forgotten").assistant(left.text("Two")).rewind(fork).prompt("Kept").assistant(left.text("Three"))
    return source(tmp_path, attempt("one-lamp", "/home/dev/lamp", "oil"), attempt("two-lamp", "/srv/lamp", "gas"), left)


def test_two_sessions_stand_beside_each_other(given: tuple[str, str]) -> None:
    done = run("compare", "one-lamp", "two-lamp", *given)
    assert done.code == 0, done.err
    assert "Both have 1 prompt in common, the last: Build a lamp" in done.out
    assert "3 passed" in done.out
    assert "+1 −1 apart" in done.out
    assert "With oil" in done.out.split("Asked in one-lamp")[1].split("Asked in two-lamp")[0]


def test_files_are_shown_as_one_left_them_against_the_other(given: tuple[str, str]) -> None:
    shown = run("compare", "one-lamp", "two-lamp", "--diff", *given).out
    assert "light = 'oil'" in shown
    assert "light = 'gas'" in shown


def test_a_branch_is_compared_with_the_live_conversation(given: tuple[str, str]) -> None:
    found = json.loads(run("compare", "left-it", "left-it#1", "--json", *given).out)
    assert found["shared"] == 1
    assert [[one["words"] for one in side["prompts"]] for side in found["sides"]] == [["Kept"], ["Forgotten"]]


def test_a_branch_that_is_not_there_is_said_to_be_none(given: tuple[str, str]) -> None:
    done = run("compare", "left-it", "left-it#7", *given)
    assert done.code != 0
    assert "has no branch 7; it has 1 branch." in done.err


def test_what_logs_say_cannot_drive_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;x\x07"
    logs = [LogBuilder(session_id=name, seed=name, cwd="/srv") for name in ("one-evil", "two-evil")]
    for log in logs:
        log.prompt(f"Do {evil}it").wrote(f"/srv/{evil}a.py", f"{log.session_id}{evil}\n").title(f"{evil}Title")
        log.assistant(log.text(f"Done {evil}"))
    done = run("compare", "one-evil", "two-evil", "--diff", *source(tmp_path, *logs))
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
