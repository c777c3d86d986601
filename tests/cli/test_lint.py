"""`unspool lint`: what keeps a session from being resumed, told line by line."""

import json
from pathlib import Path

import pytest

from tests.cli.running import STORM, demo, run, source, talk
from tests.log_builder.builder import LogBuilder

TORN = b'{"type":"user","uuid":"u-1","mess\n'


def torn(session_id: str = "ab0c7a9e-1077-4d0c-8e77-00000000000a") -> LogBuilder:
    log = talk("What is the tide?", session_id)
    return log.raw(TORN).prompt("And now?").assistant(log.text("Ebb."))


def test_a_sound_session_is_sound() -> None:
    """Nothing is found, and the exit code says so."""
    assert demo("lint", STORM[:5]).strip() == "Nothing keeps the session from being resumed."


def test_the_sessions_of_the_demo_can_be_resumed_but_for_what_is_wrong_with_them() -> None:
    sessions = [row["id"] for row in json.loads(demo("list", "--json", "-a", "--agent", "claude-code"))["sessions"]]
    found = {name: json.loads(run("lint", name, "--demo", "--json").out)["findings"] for name in sessions}
    errors = {one["rule"] for told in found.values() for one in told if one["severity"] == "error"}
    assert len(sessions) > 5
    assert errors == {"torn-line", "no-chain"}  # a line that a crash tore, and a log of which only a title is there


def test_an_error_is_told_with_its_line_and_what_mends_it(tmp_path: Path) -> None:
    done = run("lint", "ab0c", *source(tmp_path, torn()))
    assert done.code == 1
    assert done.out.startswith("line 3      error    torn-line")
    assert "1 error, 0 warnings." in done.out
    assert "`unspool repair ab0c` writes a mended copy" in done.out


def test_json_has_every_finding(tmp_path: Path) -> None:
    log = torn()
    for _ in range(30):
        log.raw(TORN)
    done = run("lint", "ab0c", "--json", *source(tmp_path, log))
    told = json.loads(done.out)
    assert (done.code, told["sound"], len(told["findings"])) == (1, False, 31)
    assert set(told["findings"][0]) == {"rule", "line", "message", "severity", "where"}
    shown = run("lint", "ab0c", *source(tmp_path)).out
    assert "and 26 more; --json lists all." in shown
    assert shown.count("torn-line") == 6


def test_a_log_may_lie_anywhere_and_come_from_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(torn().to_bytes())
    assert run("lint", str(path)).code == 1
    assert run("lint", "-", stdin=talk("Hello").to_bytes()).code == 0


def test_an_agents_own_log_is_no_copy_of_ours(tmp_path: Path) -> None:
    options = source(tmp_path, talk("Hello", "ab0c7a9e-1077-4d0c-8e77-00000000000a"))
    assert run("lint", "ab0c", *options).code == 0
    strict = run("lint", "ab0c", "--strict", *options)
    assert strict.code == 1
    assert "no-origin" in strict.out
    assert "repair" not in strict.out


def test_a_document_is_no_log_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text('{"loglines": [{"type": "user", "sessionId": "x"}]}')
    done = run("lint", str(path))
    assert done.code == 5
    assert "one document" in done.err


def test_what_a_log_says_cannot_drive_the_terminal(tmp_path: Path) -> None:
    log = talk("Hello", "ab0c7a9e-1077-4d0c-8e77-00000000000a")
    log.prompt("x", sessionId="\x1b[2Jother")
    done = run("lint", "ab0c", *source(tmp_path, log))
    assert "foreign-session" in done.out
    assert "\x1b" not in done.out


def test_a_session_that_only_the_archive_has_is_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = tmp_path / "agent"
    source(agent, torn())
    monkeypatch.setenv("UNSPOOL_ARCHIVE", str(tmp_path / "archive"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(agent))
    assert run("sync").code == 0
    for path in agent.rglob("*.jsonl"):
        path.unlink()
    done = run("lint", "ab0c")
    assert done.code == 1, done.err
    assert "torn-line" in done.out


@pytest.mark.parametrize("options", [(), ("--strict",), ("--json",)])
def test_no_log_that_went_wrong_once_ends_it_with_a_traceback(shared: Path, options: tuple[str, ...]) -> None:
    """A field of a wrong type beside a number without end is one of them."""
    for log in sorted((shared / "corpora" / "cases").glob("*.jsonl")):
        done = run("lint", str(log), *options)
        assert (done.code in (0, 1), done.err) == (True, "")
