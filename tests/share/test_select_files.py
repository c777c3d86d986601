"""The act of sharing does not appear in what is shared; talk about sharing does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import run, source
from tests.log_builder.builder import LogBuilder
from tests.share.made import SESSION, holds

Make = Callable[[LogBuilder], object]


def _plugin(log: LogBuilder) -> None:
    log.command("unspool:share", body="Share this session, skipper.")
    log.ran("unspool share latest --html -o out.html --yes", "skipper out.html").assistant(
        log.text("skipper: out.html")
    )


def _seed(log: LogBuilder) -> None:
    log.command("share-session:share", body="skipper, bundle it")
    log.ran("bash scripts/share-session.sh x --version 1", "skipper").assistant(
        log.text("skipper <!--session-share-->")
    )


def _asked(log: LogBuilder) -> None:
    log.prompt("Please share this session with the skipper").assistant(log.text("skipper, at once."))
    log.ran("cd /x && uvx unspool share latest --gist --yes", "skipper").assistant(log.text("skipper is told."))


def _skill(log: LogBuilder) -> None:
    log.prompt("share it with the skipper")
    log.call("Skill", {"skill": "unspool:share"}, "skipper").assistant(log.text("To the skipper."))


def _talked(log: LogBuilder) -> None:
    log.command("unspool:share", body="Share this session, skipper.")
    log.ran("unspool share latest --dry-run", "skipper").assistant(log.text("Shall the skipper have it?"))
    log.prompt("Yes, skipper").ran("unspool share latest --gist --yes", "skipper")
    log.assistant(log.text("The skipper has it."))


GONE: dict[str, Make] = {
    "talked over": _talked,
    "plugin": _plugin,
    "session-share": _seed,
    "asked for": _asked,
    "skill": _skill,
}


def shared(folder: Path, make: Make) -> Path:
    log = LogBuilder(session_id=SESSION, cwd="/srv/harbour")
    log.prompt("Mend the gauge").assistant(log.text("It is mended."))
    make(log)
    path = folder / "talk.tar.gz"
    done = run("share", SESSION, *source(folder / "logs", log), "--bundle", "-o", str(path), "--yes")
    assert done.code == 0, done.err
    return path


@pytest.mark.parametrize("way", GONE)
def test_the_turn_that_shares_is_gone(tmp_path: Path, way: str) -> None:
    made = shared(tmp_path, GONE[way])
    assert holds(made, "It is mended.")
    assert not holds(made, "skipper")


def test_of_a_turn_that_worked_first_the_work_stays(tmp_path: Path) -> None:
    def make(log: LogBuilder) -> None:
        log.prompt("Count the buoys and share the session").ran("ls buoys", "nine buoys")
        log.ran("unspool share latest --gist --yes", "skipper").assistant(log.text("The skipper has it."))

    made = shared(tmp_path, make)
    assert holds(made, "nine buoys")
    assert not holds(made, "skipper")


def test_of_a_turn_that_worked_on_only_the_call_and_marked_answers_go(tmp_path: Path) -> None:
    def make(log: LogBuilder) -> None:
        log.prompt("Share it, then count the buoys").ran("unspool share latest --gist --yes", "skipper")
        log.assistant(log.text("The skipper has it. <!--unspool-share-->"))
        log.ran("ls buoys", "nine buoys").assistant(log.text("Nine."))

    made = shared(tmp_path, make)
    assert holds(made, "nine buoys")
    assert not holds(made, "skipper")


def test_talk_about_sharing_stays(tmp_path: Path) -> None:
    def make(log: LogBuilder) -> None:
        log.prompt("How do I share a session with unspool share?").assistant(log.text("Run `unspool share`, skipper."))
        log.ran("grep -rn 'unspool share' docs", "docs/cli.md: unspool share")

    assert holds(shared(tmp_path, make), "Run `unspool share`, skipper.")
