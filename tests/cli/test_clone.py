"""The commands that make copies, as a person uses them."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Outcome, run
from tests.copies.making import faults
from tests.log_builder.builder import LogBuilder


@pytest.fixture
def log(home: Path) -> Path:
    """Eight turns, each with a long answer of a tool, in the agent's own folder."""
    made = LogBuilder(version="2.1.230")
    for number in range(1, 9):
        made.prompt(f"Question {number}?").ran(f"cat {number}", f"row {number}\n" * 400)
        made.assistant(made.text(f"Answer {number}."))
    return made.write(home / ".claude")


def told(done: Outcome) -> dict[str, object]:
    assert done.code == 0, done.err
    data: dict[str, object] = json.loads(done.out)
    return data


def written(done: Outcome) -> list[bytes]:
    files: list[dict[str, str]] = told(done)["files"]  # type: ignore[assignment]
    return Path(files[0]["path"]).read_bytes().splitlines(keepends=True)


def test_a_clone_goes_beside_its_original_and_says_how_to_resume(log: Path) -> None:
    done = run("clone", log.stem, "--keep-tool-turns", "2")
    assert done.code == 0, done.err
    (made,) = set(log.parent.glob("*.jsonl")) - {log}
    assert f"claude --resume {made.stem}" in done.out
    assert faults(made.read_bytes().splitlines(keepends=True)) == []
    assert made.read_bytes().count(b'"type":"tool_use"') == 2


def test_dsp_adds_the_flag(log: Path) -> None:
    assert "--dangerously-skip-permissions" in run("clone", log.stem, "--dsp").out
    assert "--dangerously-skip-permissions" not in run("clone", log.stem).out


def test_a_dry_run_writes_nothing_and_tells_every_change(log: Path, home: Path) -> None:
    before = sorted(home.rglob("*"))
    done = run("clone", log.stem, "--preset", "extreme", "-n")
    assert done.code == 0
    assert "Bash result: removed" in done.out
    assert "Nothing was written" in done.out
    plan = told(run("clone", log.stem, "--preset", "extreme", "-n", "--json"))
    assert len(plan["changes"]) == 16  # type: ignore[arg-type]
    assert sorted(home.rglob("*")) == before


def test_a_dry_run_tells_changes_by_the_lines_of_the_log(log: Path) -> None:
    """Also where the agent wrote an answer before what it answers."""
    first, *lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([first, lines[1], lines[0], *lines[2:]]))
    changes: list[dict[str, int]] = told(run("clone", log.stem, "--preset", "extreme", "-n", "--json"))["changes"]  # type: ignore[assignment]
    numbers = [one["line"] for one in changes]
    assert numbers[:2] == [2, 3]
    assert numbers == sorted(numbers)


def test_a_dry_run_says_where_a_lighter_copy_is_not_worth_it(log: Path) -> None:
    """There are no pictures that could go: nothing would be won."""
    done = run("clone", log.stem, "--drop-images", "-n")
    assert "Not worth it: this would win 0 of " in done.out
    assert told(run("clone", log.stem, "--drop-images", "-n", "--json"))["worth_it"] is False
    assert "Not worth it" not in run("clone", log.stem, "--preset", "extreme", "-n").out
    assert "Not worth it" not in run("fork", log.stem, "--at", "4", "-n").out


@pytest.mark.parametrize(
    ("flags", "calls"), [(["--strip-tools", "50%"], 4), (["--strip-tools", "100"], 0), (["--keep-tool-turns", "3"], 3)]
)
def test_figures_are_flags(log: Path, flags: list[str], calls: int) -> None:
    assert sum(b'"type":"tool_use"' in line for line in written(run("clone", log.stem, *flags, "--json"))) == calls


@pytest.mark.parametrize("mode", ["truncate", "stub"])
def test_other_modes_keep_the_calls(log: Path, mode: str) -> None:
    lines = written(run("clone", log.stem, "--strip-tools", "100%", "--mode", mode, "--json"))
    assert sum(b'"type":"tool_use"' in line for line in lines) == 8
    assert max(map(len, lines)) < 2000


def test_fit_takes_the_mildest_that_fits(log: Path) -> None:
    whole = told(run("clone", log.stem, "--preset", "none", "-n", "--json"))["before"]["tokens"]  # type: ignore[index]
    goal = whole // 2
    after = told(run("clone", log.stem, "--fit", str(goal), "-n", "--json"))["after"]
    assert goal * 0.6 < after["tokens"] <= goal  # type: ignore[index]
    assert after["calls"] == 8  # type: ignore[index]


def test_what_cannot_fit_is_said(log: Path) -> None:
    done = run("clone", log.stem, "--fit", "5")
    assert done.code == 11
    assert "does not fit" in done.err


def test_own_presets_come_from_the_settings(log: Path, home: Path) -> None:
    settings = home / "xdg_config_home" / "unspool" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[presets.mine]\nkeep-tool-turns = 1\n")
    assert (
        sum(b'"type":"tool_use"' in line for line in written(run("clone", log.stem, "--preset", "mine", "--json"))) == 1
    )
    settings.write_text("[presets.mine]\nkeep-turns = 1\n")
    done = run("clone", log.stem, "--preset", "mine")
    assert done.code == 2
    assert "mine" in done.err
    assert "keep-turns" in done.err


def test_a_clone_can_go_to_a_file_or_a_folder_and_never_over_one(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.jsonl"
    assert run("clone", log.stem, "-o", str(target)).code == 0
    held = target.read_bytes()
    assert run("clone", log.stem, "-o", str(target)).code == 10
    assert target.read_bytes() == held
    assert run("clone", log.stem, "-o", str(tmp_path)).code == 0
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    assert list(log.parent.glob("*.jsonl")) == [log]


def test_no_session_is_a_usage_problem(log: Path) -> None:
    assert run("clone").code == 2
    assert run("clone", "nope").code == 3
    assert run("clone", log.stem, "--preset", "nope").code == 2


def test_a_fork_ends_where_it_is_told(log: Path) -> None:
    lines = written(run("fork", log.stem, "--at", "3", "--json"))
    assert any(b"Answer 3." in line for line in lines)
    assert not any(b"Question 4?" in line for line in lines)
    assert faults(lines) == []


def test_a_fork_leaves_turns_out(log: Path) -> None:
    lines = b"".join(written(run("fork", log.stem, "--without", "2,4..6", "--json")))
    assert [number for number in range(1, 9) if f"Question {number}?".encode() in lines] == [1, 3, 7, 8]
    assert run("fork", log.stem, "--without", "12").code == 3


def test_a_fork_at_a_line(log: Path) -> None:
    prompts = [json.loads(line) for line in log.read_bytes().splitlines() if b"Answer 5." in line]
    lines = b"".join(written(run("fork", log.stem, "--at", prompts[0]["uuid"], "--json")))
    assert b"Answer 5." in lines
    assert b"Question 6?" not in lines
    assert run("fork", log.stem, "--at", "zzz").code == 3


def test_a_branch_that_was_left_is_made_the_live_one(home: Path) -> None:
    made = LogBuilder(version="2.1.230")
    made.prompt("Begin.").assistant(made.text("Begun."))
    fork = made.last
    made.prompt("To the left.").assistant(made.text("Left."))
    made.rewind(fork).prompt("To the right.").assistant(made.text("Right."))
    log = made.write(home / ".claude")
    live = b"".join(written(run("fork", log.stem, "--json")))
    left = written(run("fork", log.stem, "--branch", "1", "--json"))
    assert b"Right." in live
    assert b"Left." not in live
    assert b"Left." in b"".join(left)
    assert b"Right." not in b"".join(left)
    assert faults(left) == []
    assert run("fork", log.stem, "--branch", "7").code == 3


def test_recommend_names_the_mildest_that_gives_room(log: Path) -> None:
    advice = told(run("recommend", log.stem, "--json"))
    assert advice["recommended"] == "none"
    assert [one["name"] for one in advice["choices"]][-1] == "extreme"  # type: ignore[attr-defined]
    assert "go on as it is" in run("recommend", log.stem).out


def test_one_bad_preset_does_not_stop_the_others(log: Path, home: Path) -> None:
    """Hyphens and underscores are the same, in names and in what they set."""
    settings = home / "xdg_config_home" / "unspool" / "settings.toml"
    settings.parent.mkdir(parents=True)
    own = "[presets.night]\nkeep_tool_turns = 1\n[presets.late-night]\nkeep-tool-turns = 1\n"
    settings.write_text(f"{own}[presets.bad]\nkeep-turns = 1\n")
    for name in ("default", "night", "late-night", "late_night"):
        done = run("clone", log.stem, "--preset", name, "--json")
        assert written(done)
        assert done.err.startswith("unspool: the preset “bad”")
        assert "keep-turns" in done.err
    done = run("clone", log.stem, "--preset", "bad")
    assert (done.code, "There is no preset “bad”" in done.err, "late-night" in done.err) == (2, True, True)
