"""A session read and counted in one pass is the session, and is counted as a list counts it."""

from pathlib import Path

from tests.log_builder import demo_sessions
from unspool.agents import FoundLog
from unspool.store.library import Library
from unspool.store.library.history import CountedLog
from unspool.store.library.kept_sessions import KeptSessions
from unspool.store.library.read import count_log, read_countable, read_counted, read_session
from unspool.store.sync import sync


def told(counted: CountedLog) -> tuple[object, ...]:
    return counted.overview, list(counted.ids), list(counted.prompts), list(counted.ledger.rows()), counted.failure


def compare(found: FoundLog) -> None:
    session, counted = read_counted(found)
    assert session == read_session(found)
    assert told(counted) == told(count_log(found))
    again, count = read_countable(found)
    assert again == session
    assert count is not None
    assert told(count()) == told(counted)


def test_one_pass_says_what_two_say(tmp_path: Path) -> None:
    for one in demo_sessions():
        one.write(tmp_path)
    for found in Library([tmp_path]).logs():
        compare(found)


def test_one_pass_says_what_two_say_of_real_sessions(shared: Path) -> None:
    for source in (
        shared / "corpora" / "codex",
        shared / "corpora" / "cases",
        shared / "corpora" / "agents" / "gemini",
    ):
        for found in Library([source]).logs():
            compare(found)


def test_a_session_that_only_the_archive_has_is_of_the_place_it_had(tmp_path: Path) -> None:
    (path,) = [one.write(tmp_path / "logs") for one in demo_sessions()[:1]]
    sync(tmp_path / "archive", [tmp_path / "logs"])
    here, counted_here = read_counted(Library([tmp_path / "logs"]).logs()[0])
    path.unlink()
    kept = KeptSessions(tmp_path / "archive")
    (found,) = Library([tmp_path / "logs"], kept=kept).logs()
    session, counted = read_counted(found, kept)
    assert session.log.path == here.log.path == str(path)
    assert session.turns == here.turns
    assert counted.overview is not None
    assert counted_here.overview is not None
    assert (counted.overview.kept, counted.overview.log.path) == (True, str(path))
    assert list(counted.ledger.rows()) == list(counted_here.ledger.rows())
