"""Copies of sessions that only the archive still has, that come through a pipe, or that lie anywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run
from tests.copies.making import faults
from tests.log_builder.builder import LogBuilder


def builder() -> LogBuilder:
    log = LogBuilder(version="2.1.230")
    use = log.agent_use("Explore", "Look around", "Look.")
    log.prompt("Look around?").assistant(use)
    log.subagent(use, "Explore", "Look around", lambda child: child.assistant(child.text("Nothing.")))
    log.assistant(log.text("Nothing there."))
    return log.prompt("And now?").ran("cat tides", "low\nhigh\n" * 200).assistant(log.text("Two a day."))


def told(done: Outcome) -> dict[str, Any]:
    assert done.code == 0, done.err
    data: dict[str, Any] = json.loads(done.out)
    return data


def lines(data: dict[str, Any]) -> list[bytes]:
    return Path(data["files"][0]["path"]).read_bytes().splitlines(keepends=True)


@pytest.fixture
def gone(home: Path) -> Path:
    """The path of a session's log that was synced and then deleted with all that lay beside it."""
    log = builder().write(home / ".claude")
    assert run("sync").code == 0
    for path in sorted((home / ".claude").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert not log.exists()
    return log


def test_a_kept_session_is_cloned_to_where_it_was(gone: Path) -> None:
    data = told(run("clone", gone.stem, "--preset", "none", "--json"))
    assert faults(lines(data)) == []
    assert Path(data["files"][0]["path"]).parent == gone.parent
    assert data["source_path"] == str(gone)
    assert any("subagents" in one["path"] for one in data["files"])


def test_a_kept_session_is_forked_and_moved_and_weighed(gone: Path, tmp_path: Path) -> None:
    fork = told(run("fork", gone.stem, "--at", "1", "--json"))
    assert b"And now?" not in b"".join(lines(fork))
    move = told(run("move", gone.stem, "--to", str(tmp_path), "--json"))
    assert move["cwd"] == str(tmp_path)
    assert told(run("recommend", gone.stem, "--json"))["recommended"] == "none"
    assert told(run("clone", gone.stem, "--fit", "100000", "-n", "--json"))["after"]["calls"] == 2


def test_a_kept_project_is_moved(gone: Path, tmp_path: Path) -> None:
    assert len(told(run("move", "/home/dev/harbour", "--to", str(tmp_path), "--json"))["sessions"]) == 1


def test_a_kept_session_of_another_machine_goes_to_the_users_own_folder(
    gone: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that it came from is not made anew."""
    (home / ".claude").rmdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "own"))
    data = told(run("clone", gone.stem, "--json"))
    assert Path(data["files"][0]["path"]).parent == home / "own" / "projects" / gone.parent.name
    assert not (home / ".claude").exists()


@pytest.mark.parametrize("command", [["clone"], ["fork", "--at", "1"], ["move", "--to", "/somewhere/else"]])
def test_a_log_from_a_pipe(home: Path, command: list[str]) -> None:
    log = builder()
    data = told(run(command[0], "-", *command[1:], "--json", stdin=log.to_bytes()))
    assert faults(lines(data)) == []
    assert data["source"] == log.session_id
    assert data["source_path"] == "-"
    assert Path(data["files"][0]["path"]).is_relative_to(home / ".claude" / "projects")


def test_a_packed_log_that_lies_anywhere(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "some name.jsonl.gz"
    path.write_bytes(gzip.compress(builder().to_bytes()))
    assert faults(lines(told(run("clone", str(path), "--json")))) == []
    assert told(run("import", str(path), "--to", str(tmp_path), "--json"))["sessions"][0]["cwd"] == str(tmp_path)


def test_copied_requests_are_not_counted_again(home: Path) -> None:
    """Usage after three copies is usage before, from the folders and from the archive; lists and search know all."""
    log = builder().write(home / ".claude")

    def spent(*more: str) -> Any:
        return json.loads(run("usage", "--by", "model", "--json", *more).out)["total"]

    before = spent()
    assert before["output"] > 0
    for preset in ("none", "default", "extreme"):
        assert run("clone", log.stem, "--preset", preset).code == 0
    assert run("fork", log.stem, "--at", "1").code == 0
    assert spent() == before
    assert run("sync").code == 0
    assert spent() == before
    assert len(json.loads(run("list", "--json").out)["sessions"]) == 5
    found = run("search", "Two a day", "--json")
    assert found.code == 0
    assert log.stem in found.out
