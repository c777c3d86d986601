"""`search`, `usage` and `stats` keep what is new before they answer, and say once how to keep logs for good."""

import json
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from tests.cli.running import Outcome, run, talk
from unspool.cli import fresh, options
from unspool.store.archive.database import ARCHIVE, INDEX, archive_folder
from unspool.store.sync import SyncReport
from unspool.store.sync.lock import wait_for_lock

ASK = {"search": ("search", "fish"), "stats": ("stats",), "usage": ("usage", "--by", "session")}
SESSIONS: dict[str, Callable[[Outcome], int]] = {
    "search": lambda done: len(json.loads(done.out)["sessions"]),
    "stats": lambda done: json.loads(done.out)["totals"]["sessions"],
    "usage": lambda done: len(json.loads(done.out)["rows"]),
}


@pytest.fixture
def agent(home: Path) -> Path:
    """The agent's own folder, with one session."""
    talk("Any fish?", "1" * 8).write(home / ".claude")
    return home / ".claude"


def asked(command: str, *more: str) -> Outcome:
    return run(*ASK[command], "--json", *more)


@pytest.mark.parametrize("command", ASK)
def test_what_is_new_is_in_the_answer(agent: Path, command: str) -> None:
    first = asked(command)
    assert (SESSIONS[command](first), first.err) == (1, "")
    talk("More fish?", "2" * 8).write(agent)
    assert SESSIONS[command](asked(command)) == 2


@pytest.mark.parametrize("command", ASK)
def test_it_can_be_left_out(agent: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an option, or by the setting for all commands."""
    asked(command)
    talk("More fish?", "2" * 8).write(agent)
    assert SESSIONS[command](asked(command, "--no-sync")) == 1
    monkeypatch.setenv("UNSPOOL_SYNC", "never")
    assert SESSIONS[command](asked(command)) == 1


@pytest.mark.parametrize("command", ASK)
def test_an_archive_that_is_named_is_left_as_it_is(
    agent: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is the usual one, or the setting says that any is kept up to date."""
    other = tmp_path / "other"
    run("sync", "--archive", str(other))
    asked(command)
    talk("More fish?", "2" * 8).write(agent)
    assert SESSIONS[command](asked(command, "--archive", str(other))) == 1
    assert SESSIONS[command](asked(command, "--archive", str(archive_folder()))) == 2
    monkeypatch.setenv("UNSPOOL_SYNC", "any")
    assert SESSIONS[command](asked(command, "--archive", str(other))) == 2


def test_the_first_figures_are_told_at_once_and_the_logs_kept_after(agent: Path) -> None:
    straight = run("usage", "--json", "-s", str(agent))
    assert not (archive_folder() / ARCHIVE).exists()
    first = run("usage", "--json")
    assert (first.out, first.err) == (straight.out, "")
    assert (archive_folder() / INDEX).exists()
    assert json.loads(run("usage", "--json", "--no-sync").out)["rows"] == json.loads(first.out)["rows"]


def test_nothing_is_made_where_nothing_is_there(home: Path) -> None:
    (home / ".claude" / "projects").mkdir(parents=True)
    assert run("usage").code
    assert run("search", "fish").code
    assert not archive_folder().exists()


@pytest.mark.parametrize("command", ASK)
def test_another_sync_is_not_waited_for(agent: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(command)
    talk("More fish?", "2" * 8).write(agent)
    monkeypatch.setattr(fresh, "_PATIENCE", 0.0)
    with wait_for_lock(archive_folder()):
        done = asked(command)
    assert SESSIONS[command](done) == 1
    assert done.err == "unspool: another sync goes on, so this is what is kept so far.\n"


@pytest.mark.parametrize("command", ASK)
def test_what_cannot_be_kept_keeps_no_answer_back(agent: Path, command: str) -> None:
    asked(command)
    lock = archive_folder() / "sync.lock"
    lock.unlink()
    lock.mkdir()
    done = asked(command)
    assert SESSIONS[command](done) == 1
    assert done.err.startswith("unspool: what is new could not be kept: ")
    assert done.err.count("\n") == 1


def test_files_that_cannot_be_read_are_one_line(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked("search")
    failed = SyncReport(failures=["Cannot read a.", "Cannot read b."])
    monkeypatch.setattr(fresh, "_kept", lambda *_: failed)
    done = asked("search")
    assert SESSIONS["search"](done) == 1
    assert done.err == (
        "unspool: not everything new could be kept: Cannot read a. (1 more: `unspool sync` names them)\n"
    )


def test_a_passphrase_is_asked_for_once(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can be asked, the answer cannot come, and that is all that is said."""
    run("sync")
    with monkeypatch.context() as known:
        known.setenv("UNSPOOL_PASSPHRASE", "a long enough passphrase")
        assert run("archive", "encrypt").code == 0
    alone = run("search", "fish")
    assert (alone.code, alone.err.count("\n")) == (run("search", "fish", "--no-sync").code, 1)
    talk("More fish?", "2" * 8).write(agent)
    prompt = mock.Mock(return_value="a long enough passphrase")
    monkeypatch.setattr(options, "prompt_for", lambda *_, **__: prompt)
    assert SESSIONS["search"](asked("search")) == 2
    prompt.assert_called_once()


class TestHowToKeep:
    """Said once ever, on a terminal, while nothing is kept."""

    WORDS = "`unspool watch --install` keeps them for good"

    @pytest.fixture(autouse=True)
    def terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fresh, "on_terminal", lambda: True)

    @pytest.mark.parametrize("command", [("list",), ("show",), ("search", "fish"), ("usage",), ("stats",)])
    def test_by_the_first_command(self, agent: Path, home: Path, command: tuple[str, ...]) -> None:
        first, again = run(*command), run(*command)
        assert first.err.count(self.WORDS) == 1
        assert "30 days" in first.err
        assert self.WORDS not in first.out + again.err + again.out
        assert [path.name for path in (home / "xdg_state_home" / "unspool").iterdir()] == ["told-how-to-keep"]

    @pytest.mark.parametrize("command", [("list", "--demo"), ("list", "-s", "HERE"), ("usage", "-s", "HERE")])
    def test_not_of_a_source_that_is_named(self, agent: Path, command: tuple[str, ...]) -> None:
        done = run(*(str(agent) if word == "HERE" else word for word in command))
        assert (done.code, done.err) == (0, "")

    def test_not_in_a_script(self, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fresh, "on_terminal", lambda: False)
        assert run("list").err == run("search", "fish").err == ""

    def test_not_where_logs_are_kept(self, agent: Path) -> None:
        run("sync")
        assert run("list").err == ""

    def test_not_where_the_agent_deletes_nothing_soon(self, agent: Path) -> None:
        (agent / "settings.json").write_text('{"cleanupPeriodDays": 9999}')
        assert run("list").err == ""

    def test_not_where_it_cannot_be_remembered(self, agent: Path, home: Path) -> None:
        (home / "xdg_state_home").write_text("no folder")
        assert run("list").err == ""
