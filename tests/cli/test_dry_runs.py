"""What a dry run of `clone`, `fork`, `move` and `repair` promises, the run does."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run, source, talk
from tests.copies.damage import DAMAGES
from tests.copies.made_logs import VERSIONS, made
from tests.log_builder import demo_sessions
from tests.thorough import some
from unspool.agents import AGENTS
from unspool.agents.claude_code.writing import ClaudeWriter
from unspool.agents.writing import LintFinding

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("clone",),
    ("clone", "--preset", "none"),
    ("clone", "--preset", "extreme"),
    ("clone", "--drop-compacted"),
    ("fork", "--at", "1"),
    ("fork", "--at", "3"),
    ("fork", "--without", "1"),
    ("fork", "--without", "2..3"),
    ("move", "--to", "/elsewhere"),
    ("repair",),
)
FIGURES = ("before", "after", "title", "source", "deeds", "path")


def told(done: Outcome) -> dict[str, Any]:
    """What both must say alike: figures where it went well, else the sentences."""
    if done.code:
        return {"code": done.code, "said": done.err}
    data: dict[str, Any] = json.loads(done.out)
    data["path"] = Path(data["path"] if "path" in data else data["files"][0]["path"]).parent if "after" in data else ""
    if "title" in data:
        data["title"] = data["title"].split(" (")[0]  # the time of day stands behind it
    return {"code": 0, **{name: data.get(name) for name in FIGURES}}


def differences(log: Path, folder: Path) -> list[str]:
    """Commands whose dry run and run do not agree on a log, and runs that wrote what they should not have."""
    there = folder / "projects" / "-work" / log.name
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(log, there)
    found = []
    for command, *options in COMMANDS:
        given = (command, str(there), *options, "--json", "--source", str(folder))
        before = set(folder.rglob("*"))
        promised = told(run(*given, "-n"))
        if set(folder.rglob("*")) != before:
            found.append(f"{log.name}: {command} {options} wrote something on a dry run")
        done = told(run(*given))
        if done != promised:
            found.append(f"{log.name}: {command} {options}: {promised} != {done}")
        if command == "repair" and "unspool repair" in str(done.get("said")):
            found.append(f"{log.name}: repair advises to repair")
    shutil.rmtree(folder)
    return found


def test_the_sessions_of_the_demo(home: Path, tmp_path: Path) -> None:
    for number, log in enumerate(demo_sessions()):
        path = log.write(tmp_path / str(number))
        assert differences(path, home / ".claude") == []


@pytest.mark.parametrize("version", VERSIONS)
def test_made_logs(home: Path, tmp_path: Path, version: str) -> None:
    log = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    log.write_bytes(b"".join(made(version, (*range(9), 7, 2, 0))))
    assert differences(log, home / ".claude") == []


@pytest.mark.parametrize("damage", some(DAMAGES, 3), ids=lambda one: one.__name__)
def test_damaged_logs(home: Path, tmp_path: Path, damage: Any) -> None:
    log = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    log.write_bytes(b"".join(damage(made("2.1.230", (2, 1, 0, 4, 3, 5, 6, 1)), 7)))
    assert differences(log, home / ".claude") == []


def test_logs_that_went_wrong_once(home: Path, shared: Path) -> None:
    cases = sorted((shared / "corpora" / "cases").glob("*.jsonl"))
    assert cases
    for log in cases:
        assert differences(log, home / ".claude") == []


def test_real_logs(home: Path, shared: Path) -> None:
    logs = [Path(log.path) for log in AGENTS[0].discover(shared / "corpora" / "claude")]
    for log in some(logs, 20):
        assert differences(log, home / ".claude") == []


@pytest.mark.parametrize("command", ["clone", "fork"])
def test_a_dry_run_says_where_nothing_could_be_written(home: Path, command: str) -> None:
    options = source(home / ".claude", talk("Hello", "ab0c7a9e-1077-4d0c-8e77-00000000000a"))
    taken = home / "taken"
    taken.write_text("x")
    given = (command, "ab0c", "-o", str(taken / "copy.jsonl"), *options)
    promised, done = run(*given, "-n"), run(*given)
    assert (promised.code, promised.err) == (done.code, done.err) != (0, "")


def test_no_repair_is_advised_where_it_would_not_help(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = LintFinding("off-path", 1, "It is as it is.", "error")
    monkeypatch.setattr(ClaudeWriter, "lint", lambda *_, **__: [refused])
    source(home / ".claude", talk("Hello", "ab0c7a9e-1077-4d0c-8e77-00000000000a"))
    done = run("clone", "ab0c")
    assert (done.code, "It is as it is." in done.err, "repair" in done.err) == (11, True, False)
