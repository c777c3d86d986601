"""`unspool file` as people see it: changes like a log, their lines, the file as it stood, and which file is meant."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from tests.store.index.synced import kept

NOW = datetime.now(UTC).replace(microsecond=0)
TILL = "/home/dev/shop/till.py"
FIRST, SECOND, THIRD = "open = 1\nprice = 2\n", "open = 1\nprice = 3\n", "open = 0\nprice = 3\n"


def written() -> LogBuilder:
    log = LogBuilder(session_id="written-1", cwd="/home/dev/shop", start=NOW - timedelta(days=9))
    log.prompt("Write \x1b[2Jit.").wrote(TILL, FIRST).edited(TILL, FIRST, "price = 2", "price = 3")
    return log.title("First till").wrote("/home/dev/shop/tests/till.py", "x\n").wrote("/lost.py", "x\n", "y\n")


def later() -> LogBuilder:
    """Edits it on, without a word of what it was."""
    log = LogBuilder(session_id="later-1", cwd="/home/dev/shop", start=NOW - timedelta(days=1)).prompt("Close it.")
    given = {"file_path": TILL, "old_string": "open = 1", "new_string": "open = 0"}
    log.call("Edit", given, "Done.", {"filePath": TILL})
    return log.call("Edit", {**given, "file_path": "/blind.py"}, "Done.", {"filePath": "/blind.py"}).title("Later")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(kept(tmp_path_factory.mktemp("file"), written(), later()))


def told(archive: str, *arguments: str) -> Any:
    done = run("file", "--archive", archive, *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_changes_are_listed_the_newest_first_with_prompt_session_and_lines(archive: str) -> None:
    found = told(archive, TILL)
    assert found["path"] == TILL
    names = ("number", "session", "title", "turn", "prompt", "how", "added", "removed", "agent")
    assert [tuple(one[name] for name in names) for one in found["changes"]] == [
        (3, "later-1", "Later", 1, "Close it.", "edit", 1, 1, "claude-code"),
        (2, "written-1", "First till", 1, "Write \x1b[2Jit.", "edit", 1, 1, "claude-code"),
        (1, "written-1", "First till", 1, "Write \x1b[2Jit.", "write", 2, 0, "claude-code"),
    ]
    assert [one["number"] for one in told(archive, TILL, "-n", "1")["changes"]] == [3]


def test_the_list_reads_like_a_log_and_cannot_drive_the_terminal(archive: str) -> None:
    done = run("file", "--archive", archive, TILL)
    assert done.code == 0
    head, newest, where = [line for line in done.out.splitlines() if line][:3]
    assert head == f"{TILL}  3 changes in 2 sessions, +4 −2"
    assert newest.split()[0] == "3"
    assert "+1 −1" in newest
    assert newest.endswith("Close it.")
    assert where.strip() == "Later · later-1 · prompt 1 · Claude Code"
    assert "\x1b" not in done.out


def test_lines_of_changes_are_shown(archive: str) -> None:
    done = run("file", "--archive", archive, TILL, "--diff")
    assert done.out.index("+open = 0") < done.out.index("-price = 2") < done.out.index("+price = 3")
    one = told(archive, TILL, "--diff", "--at", "2")["changes"]
    assert [(change["number"], change["diff"]["added"]) for change in one] == [(2, 1)]


@pytest.mark.parametrize(
    ("at", "text"),
    [("1", FIRST), ("2", SECOND), ("3", THIRD), ("5d", SECOND), (NOW.isoformat(), THIRD)],
    ids=["first", "second", "third", "by age", "by time"],
)
def test_a_file_is_printed_as_it_stood(archive: str, at: str, text: str) -> None:
    done = run("file", "--archive", archive, TILL, "--at", at)
    assert (done.code, done.out) == (0, text)
    assert ("“First till” left" in done.err) == (text == THIRD)
    assert told(archive, TILL, "--at", at)["text"] == text


@pytest.mark.parametrize(("path", "at", "says"), [
    (TILL, "4", "no change 4"), (TILL, "90d", "had changed the file by then"), (TILL, "never", "neither a date"),
    ("/blind.py", "1", "neither the whole file"), (TILL, "9" * 400, "neither a date"),
])  # fmt: skip
def test_a_state_that_is_not_known_is_said_to_be_so(archive: str, path: str, at: str, says: str) -> None:
    done = run("file", "--archive", archive, path, "--at", at)
    assert done.code != 0
    assert says in done.err
    assert done.out == ""


def test_several_files_are_listed_and_none_is_said(archive: str) -> None:
    done = run("file", "--archive", archive, "till.py")
    assert done.code == 1
    assert TILL in done.out
    assert "/home/dev/shop/tests/till.py" in done.out
    assert "several files" in done.err
    done = run("file", "--archive", archive, "tests/till.py", "--json")
    assert (done.code, json.loads(done.out)["path"]) == (0, "/home/dev/shop/tests/till.py")
    done = run("file", "--archive", archive, "nowhere.py")
    assert (done.code, done.out) == (1, "")
    assert "No session touched such a file" in done.err


def test_a_path_is_relative_to_the_folder_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    log = LogBuilder(cwd=str(folder)).prompt("Go.").wrote(f"{folder}/src/a.py", "x\n").wrote("/else/src/a.py", "y\n")
    archive = str(kept(tmp_path, log))
    monkeypatch.chdir(folder / "src")
    assert told(archive, "a.py")["path"] == f"{folder}/src/a.py"
    assert told(archive, "../src/a.py")["path"] == f"{folder}/src/a.py"
