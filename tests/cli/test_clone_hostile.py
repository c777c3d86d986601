"""The commands that make copies, on sessions that wish them ill."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run
from tests.copies.making import faults
from tests.log_builder.builder import LogBuilder

EVIL = "\x1b]0;owned\x07\x1b[2JHarbour\r\nResume it:  rm -rf /\u202e"


def talk(**options: Any) -> LogBuilder:
    log = LogBuilder(**options)
    return log.prompt("Hello?").ran("ls", "a\n" * 200).assistant(log.text("Aye."))


def written(done: Outcome) -> Path:
    assert done.code == 0, done.err
    return Path(json.loads(done.out)["files"][0]["path"])


@pytest.mark.parametrize(
    "cwd",
    ["/home/dev/it's \"here\"", "/a\nb", "../../../etc", "..", "relative", "C:\\Users\\eve\\tool", "/x/\0y", "/\x1b[2J",
     "/" + "long/" * 90, "/ünïcode/世界", "/", "$(reboot)", "-rf", " "],
)  # fmt: skip
def test_no_folder_leads_a_copy_out_of_the_agents(home: Path, tmp_path: Path, cwd: str) -> None:
    """From a log that lies elsewhere, the copy goes where its working folder says: inside, whatever that is."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(talk(cwd=cwd).to_bytes())
    made = written(run("clone", str(path), "--json"))
    assert made.parent.parent == home / ".claude" / "projects"
    assert faults(made.read_bytes().splitlines(keepends=True)) == []
    shown = run("clone", str(path))
    assert shown.code == 0
    assert "\x1b" not in shown.out
    moved = written(run("move", str(path), "--to", str(tmp_path / "there"), "--json"))
    assert {line.get("cwd") for line in map(json.loads, moved.read_bytes().splitlines())} <= {
        str(tmp_path / "there"),
        None,
    }


def test_a_log_of_no_folder_needs_to_be_told_where(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(talk(cwd="").to_bytes())
    done = run("clone", str(path))
    assert done.code == 2
    assert "-o" in done.err
    assert run("clone", str(path), "-o", str(tmp_path / "copy.jsonl")).code == 0
    assert run("move", str(path), "--to", str(tmp_path)).code == 2
    assert not (home / ".claude").exists()


@pytest.mark.parametrize(
    "command", [["clone"], ["fork"], ["clone", "-n"], ["move", "--to", "/somewhere"], ["recommend"]]
)
def test_titles_cannot_drive_the_terminal(home: Path, command: list[str]) -> None:
    log = talk().title(EVIL).write(home / ".claude")
    done = run(command[0], log.stem, *command[1:])
    assert done.code == 0, done.err
    assert not set(done.out + done.err) & {"\x1b", "\x07", "\r"}
    assert not [line for line in done.out.splitlines() if line.startswith("Resume it:  rm")]
    assert "\x1b" not in run("list", "--clones").out


@pytest.mark.parametrize("session", ["a b", "x" * 150, "ünï", "0", "-n", "agent", "*", "[a]"])
def test_sessions_whose_ids_are_none(home: Path, session: str) -> None:
    log = talk(session_id=session).write(home / ".claude")
    made = written(run("clone", "--json", "--", str(log)))
    assert made.parent == log.parent
    assert faults(made.read_bytes().splitlines(keepends=True)) == []
    assert run("clone", "--undo", made.stem).code == 0
    assert list(log.parent.glob("*.jsonl")) == [log]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["clone", "X", "--strip-tools", "²"], 2),
        (["clone", "X", "--strip-tools", "101"], 2),
        (["clone", "X", "--strip-thinking", "-1"], 2),
        (["clone", "X", "--fit", "0"], 2),
        (["clone", "X", "--keep-tool-turns", "-1"], 2),
        (["clone", "X", "--mode", "burn"], 2),
        (["clone", "--undo", "nope"], 3),
        (["clone", "X", "--compress-model", "x"], 2),
        (["clone", "X", "--compress", "80-20:heavy"], 2),
        (["fork", "X", "--at", "²"], 3),
        (["fork", "X", "--at", "99"], 3),
        (["fork", "X", "--at", "9" * 5000], 3),
        (["fork", "X", "--without", "1"], 11),
        (["move", "X", "--to", "/x", "--rename", "="], 2),
        (["import", "/nowhere.tar.gz", "--to", "/x"], 3),
        (["import", "/nowhere.jsonl", "--to", "/x"], 3),
        (["recommend", "nope"], 3),
    ],
)
def test_what_is_impossible_is_said_in_a_sentence(home: Path, arguments: list[str], code: int) -> None:
    log = talk().write(home / ".claude")
    done = run(*(log.stem if one == "X" else one for one in arguments))
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert list(log.parent.glob("*.jsonl")) == [log]


def test_zero_is_a_figure(home: Path) -> None:
    """Not a flag left out."""
    log = talk().write(home / ".claude")
    assert b'"type":"tool_use"' not in written(run("clone", log.stem, "--keep-tool-turns", "0", "--json")).read_bytes()
    plan = json.loads(run("clone", log.stem, "--preset", "default", "--truncate", "0%", "-n", "--json").out)
    assert plan["changes"] == []


def test_figures_that_only_refine_refine_the_default(home: Path) -> None:
    log = LogBuilder()
    for number in range(4):
        log.prompt(f"{number}?").ran("cat", "row\n" * 300)
    log.assistant(log.text("Done."))
    path = log.write(home / ".claude")
    for flags in (["--truncate", "100%"], ["--truncate-lines", "1"]):
        plan = json.loads(run("clone", path.stem, *flags, "-n", "--json").out)
        assert plan["changes"], flags


def test_several_copies_of_one_beginning_are_listed(home: Path) -> None:
    from unspool.copies import records

    log = talk().write(home / ".claude")
    written(run("clone", log.stem, "--json"))
    (record,) = records.copy_records()
    from msgspec.structs import replace

    records.keep_record(replace(record, session=record.session[:-1] + ("0" if record.session[-1] != "0" else "1")))
    done = run("clone", "--undo", record.session[:-1])
    assert done.code == 4
    assert record.session in done.err


def test_whole_turns_are_told_in_one_line(home: Path) -> None:
    log = LogBuilder()
    for number in range(5):
        log.prompt(f"{number}?").ran("ls", "a").assistant(log.text(f"{number}."))
    path = log.write(home / ".claude")
    done = run("fork", path.stem, "--at", "2", "-n")
    told = [line for line in done.out.splitlines() if line.lstrip().startswith("line ")]
    assert len(told) == 3
    assert all("turn of 4 lines: left out" in line for line in told)
    changes = json.loads(run("fork", path.stem, "--at", "2", "-n", "--json").out)["changes"]
    assert [(one["turn"], one["what"], one["lines"]) for one in changes] == [
        (3, "turn", 4),
        (4, "turn", 4),
        (5, "turn", 4),
    ]


def test_an_id_may_begin_with_digits(home: Path) -> None:
    log = LogBuilder()
    log.prompt("One?", uuid="12345678-0000-4000-8000-000000000000").assistant(log.text("One."))
    path = log.prompt("Two?").assistant(log.text("Two.")).write(home / ".claude")
    made = written(run("fork", path.stem, "--at", "12345678", "--json"))
    assert b"Two?" not in made.read_bytes()
