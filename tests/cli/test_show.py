"""`unspool show`: a session as text, and what of it."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.running import FIRST_LIGHT, NIGHTLY, STORM, demo, run, source, talk


def headings(text: str) -> list[str]:
    """The turns that are shown."""
    return re.findall(r"^── (Turn \d+|Before the first prompt)", text, re.M)


def test_the_latest_is_the_default() -> None:
    """Without a name it shows the newest session: title, facts, turns."""
    out = demo("show")
    assert out.startswith("Check that tomorrow's table is complete.\n====")
    assert NIGHTLY in out
    assert headings(out) == ["Turn 1"]
    assert "Complete: four tides on 2026-10-16." in out


@pytest.mark.parametrize("command", ["show", "export"])
def test_the_cost_is_told_as_lists_tell_it(command: str) -> None:
    """Beside the tokens, subagents included."""
    out, listed = demo(command, STORM), demo("list", "--title", "storm")
    assert re.search(r"cost\W+\$1\.06", out)
    assert "$1.06" in listed


def test_every_session_of_the_demo_shows() -> None:
    """Whole and short, each session prints without an escape."""
    for name in ("1c0ff", "50adf", "a1a7e", "b0a75", "57024", "2e1ea", "0c7a9", "57b00"):
        for extent in ("--full", "--short"):
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", demo("show", name, extent))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("2", [2]),
        ("2..4", [2, 3, 4]),
        ("2-3", [2, 3]),
        ("4..", [4, 5]),
        ("..2", [1, 2]),
        ("1,4", [1, 4]),
    ],
)
def test_turns_are_chosen(given: str, wanted: list[int]) -> None:
    """`--turn` takes numbers, ranges and open ranges, and shows no other turn."""
    shown = headings(demo("show", FIRST_LIGHT, "--turn", given))
    assert [name for name in shown if name != "Before the first prompt"] == [f"Turn {number}" for number in wanted]


def test_a_turn_that_is_not_there() -> None:
    """A turn past the end is not found, and the last one is named."""
    done = run("show", FIRST_LIGHT, "--turn", "99", "--demo")
    assert (done.code, done.out) == (3, "")
    assert re.fullmatch(r"unspool: Session 1c0ffee0\S* has no such turn; its last is 5\.\n", done.err)


def test_a_branch_that_was_left() -> None:
    """`--branch 1` follows the branch after the turns that it has in common with the live one."""
    live, left = demo("show", STORM), demo("show", STORM, "--branch", "1")
    assert live != left
    assert "Turn 1" in headings(left)
    assert len(headings(left)) < len(headings(live))


def test_a_branch_that_is_not_there() -> None:
    """Another branch is not found, and those there are are named."""
    done = run("show", STORM, "--branch", "7", "--demo")
    assert (done.code, done.out) == (3, "")
    assert re.fullmatch(r"unspool: Session \S+ has no branch 7; its branches: 1\.\n", done.err)


def test_thinking_is_left_out() -> None:
    """`--no-thinking` leaves the answer and takes the thinking."""
    with_it, without = demo("show", "a1a7e"), demo("show", "a1a7e", "--no-thinking")
    assert re.search(r"^▸ Thinking", with_it, re.M)
    assert not re.search(r"^▸ Thinking", without, re.M)
    assert "the clocks went forward" in with_it
    assert "the clocks went forward" not in without
    assert headings(with_it) == headings(without)


def test_tools_are_left_out() -> None:
    """`--no-tools` takes calls; plans stay, since they are words between agent and user."""
    out = demo("show", STORM, "--no-tools")
    assert not re.search(r"^▸ (Bash|Edit|Read) ", out, re.M)
    assert re.search(r"^▸ Plan: Surge", out, re.M)


def test_notices_are_left_out() -> None:
    """`--no-notices` takes hooks and reminders."""
    assert re.search(r"^▸ (Hook|Reminder)", demo("show", STORM), re.M)
    assert not re.search(r"^▸ (Hook|Reminder|Editor)", demo("show", STORM, "--no-notices"), re.M)


def test_subagents_in_place() -> None:
    """`--with-subagents` has what subagents said; without it they are one line."""
    said = "neither knows a time zone"
    with_them, without = demo("show", "a1a7e", "--with-subagents", "--full"), demo("show", "a1a7e", "--full")
    assert with_them.count(said) == without.count(said) + 1


def test_long_output_is_cut_and_whole() -> None:
    """Short by default, saying how much was cut; `--full` has it all."""
    short, whole = demo("show", "a1a7e"), demo("show", "a1a7e", "--full")
    assert "365  high" in whole
    assert "200  high" not in short
    assert re.search(r"\d+ (?:more )?lines", short)


@pytest.mark.parametrize("width", [60, 100])
def test_prose_is_wrapped(width: int) -> None:
    """`--width` wraps prose and headings; code and paths keep their lines."""
    out = demo("show", STORM, "--turn", "1", "--width", str(width), "--no-tools", "--no-notices")
    long = [line for line in out.splitlines() if len(line) > width and " " in line.strip()]
    assert [line for line in long if not re.search(r"/\S{20}", line)] == []


def test_no_escapes_in_a_pipe() -> None:
    """Where the output is no terminal there is not one escape."""
    assert "\x1b" not in demo("show", STORM)


def test_colours_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """FORCE_COLOR paints; NO_COLOR takes every colour away."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    colour = re.compile(r"\x1b\[(?:\d;)*[39]\d")
    assert colour.search(demo("show", STORM))
    assert colour.search(demo("list"))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.search(demo("show", STORM))
    assert not colour.search(demo("list"))


def test_no_synthetic_model_is_listed() -> None:
    """What the agent said itself is no model."""
    assert "<synthetic>" not in demo("show", STORM)


def test_a_session_by_any_name(tmp_path: Path) -> None:
    """An id, its start, its path and a piece of its title lead to the same session."""
    given = source(tmp_path, talk("Whither the gulls?", "abcdef01-0000-4000-8000-000000000001"), talk("Other", "f" * 8))
    path = next(tmp_path.rglob("abcdef01*.jsonl"))
    names = ("abcdef01-0000-4000-8000-000000000001", "abc", str(path), "the GULLS")
    shown = {run("show", name, *given).out for name in names}
    assert len(shown) == 1
    assert "Whither the gulls?" in shown.pop()


def test_the_latest_is_the_top_of_the_list(tmp_path: Path) -> None:
    """`latest` is the session that was active last, whichever file was copied last."""
    old = talk("Old one", start=datetime(2026, 1, 1, tzinfo=UTC))  # type: ignore[arg-type]
    new = talk("New one", session_id="9" * 8, start=datetime(2026, 2, 1, tzinfo=UTC))  # type: ignore[arg-type]
    given = source(tmp_path, old, new)
    os.utime(tmp_path / old.path, (2_000_000_000, 2_000_000_000))
    first = run("list", *given).out.splitlines()[1]
    assert "New one" in first
    assert run("show", "latest", *given).out.startswith("New one")
