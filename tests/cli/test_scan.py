"""`unspool scan` and `unspool list --flag`: flags with their evidence, remembered without a word of the log."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.log_builder.builder import LogBuilder
from tests.scanners.labelled import TESTS_CLAIMED

OLD = datetime.now(UTC) - timedelta(days=3)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    claimed, fine = (LogBuilder(session_id=name, seed=name, start=OLD) for name in ("claimed", "fine"))
    claimed.prompt("Mend").ran("pytest", "1 failed").assistant(claimed.text("Splendid. All tests pass."))
    fine.prompt("Mend").assistant(fine.text("Mended."))
    for log in (claimed, fine):
        os.utime(log.write(tmp_path / "source"), (OLD.timestamp(), OLD.timestamp()))
    return tmp_path / "source"


def test_flags_come_with_session_turn_and_words(source: Path) -> None:
    done = run("scan", "-s", str(source), "--json")
    found = json.loads(done.out)
    (flag,) = found["flags"]
    assert (done.code, found["sessions"]) == (1, 2)
    assert (flag["session"], flag["scanner"], flag["turn"]) == ("claimed", "tests-claimed", 1)
    assert flag["quote"] == "Splendid. All tests pass."
    assert run("scan", "fine", "-s", str(source)).code == 0
    told = run("scan", "-s", str(source), "--flag", "unclean-end")
    assert (told.code, told.out) == (0, "")
    assert run("scan", "-s", str(source), "--flag", "no-such").code == 2


def test_lists_are_filtered_by_flags_that_are_remembered_without_words(source: Path, tmp_path: Path) -> None:
    for _ in range(2):
        listed = json.loads(run("list", "-s", str(source), "--flag", "any", "--json").out)["sessions"]
        assert [one["id"] for one in listed] == ["claimed"]
        assert json.loads(run("scan", "-s", str(source), "--json").out)["flags"][0]["session"] == "claimed"
    memory = (tmp_path / "cache" / "unspool" / "scanned.msgpack").read_bytes()
    assert b"Splendid" not in memory
    assert b"claimed" not in memory.replace(b"tests-claimed", b"")
    assert run("list", "-s", str(source), "--flag", "no-such").code == 2


def test_a_log_that_grows_is_scanned_again(source: Path) -> None:
    run("scan", "-s", str(source))
    more = LogBuilder(session_id="claimed", seed="again", start=OLD)
    more.prompt("Mend").ran("pytest", "12 passed").assistant(more.text("All tests pass."))
    os.utime(more.write(source), (OLD.timestamp() + 9, OLD.timestamp() + 9))
    assert json.loads(run("scan", "-s", str(source), "--json").out)["flags"] == []


def test_scanners_are_listed() -> None:
    assert [one["name"] for one in json.loads(run("scan", "--list", "--json").out)] == ["tests-claimed", "unclean-end"]
    assert len(TESTS_CLAIMED) >= 60
