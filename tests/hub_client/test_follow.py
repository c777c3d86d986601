"""A log is followed: what is added is sent, whole rather than at once, until there is no more."""

from collections.abc import Callable
from pathlib import Path

import pytest

from unspool.agents import AGENTS, FoundLog
from unspool.hub_client import follow
from unspool.hub_client.follow import FollowedLog, FollowPace, follow_log, log_state

PACE = FollowPace(look=1, hold=10, patience=100)


class Clock:
    """Time passes only while the follower waits; each wait does the next thing of a story."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now, self._steps = 1000.0, iter(steps)

    def wait(self, seconds: float) -> bool:
        """Let so much time pass; the end is asked for where the story is over."""
        self.now += seconds
        step = next(self._steps, None)
        if step is not None:
            step()
        return step is None


@pytest.fixture
def found(tmp_path: Path) -> FoundLog:
    path = tmp_path / "one.jsonl"
    path.write_text("{}\n")
    return FoundLog(str(path), "one", AGENTS[0].id, 3, 0.0, root=str(tmp_path))


def followed(
    found: FoundLog,
    monkeypatch: pytest.MonkeyPatch,
    *steps: Callable[[], object],
    done: Callable[[], bool] = lambda: True,
) -> tuple[str, list[float]]:
    """Why it is over, and when something was sent."""
    clock, times = Clock(*steps), list[float]()
    monkeypatch.setattr("time.monotonic", lambda: clock.now)

    def send() -> bool:
        times.append(clock.now - 1000)
        return done()

    return follow_log(FollowedLog(found, log_state(found)), send, clock, PACE), times


def grow(found: FoundLog) -> Callable[[], object]:
    path = Path(found.path)
    return lambda: path.write_text(path.read_text() + "more\n")


def quiet() -> None:
    """Nothing happens."""


def test_what_is_added_is_sent_once_it_is_whole(found: FoundLog, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (quiet, grow(found), grow(found), quiet, quiet, quiet, grow(found), quiet, quiet)
    assert followed(found, monkeypatch, *steps) == ("", [4, 8])


def test_what_was_added_while_it_was_sent_first_is_sent_too(found: FoundLog) -> None:
    before, sent = FollowedLog(found, log_state(found)), list[int]()
    grow(found)()

    def send() -> bool:
        sent.append(1)
        return True

    assert follow_log(before, send, Clock(quiet, quiet, quiet), PACE) == ""
    assert sent == [1]


def test_what_never_rests_is_sent_now_and_then(found: FoundLog, monkeypatch: pytest.MonkeyPatch) -> None:
    assert followed(found, monkeypatch, *[grow(found)] * 30) == ("", [11, 22])


def test_what_could_not_be_sent_is_tried_again(found: FoundLog, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter((False, False, True))
    why, times = followed(found, monkeypatch, grow(found), *[quiet] * 40, done=lambda: next(answers))
    assert (why, len(times)) == ("", 3)


def test_it_ends_with_the_session_and_sends_its_last_words(found: FoundLog, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = iter((True, True, True, False))
    monkeypatch.setattr(follow, "is_open", lambda _: next(opened))
    assert followed(found, monkeypatch, quiet, quiet, grow(found), quiet) == ("The session has ended.", [3])


def test_it_ends_where_nothing_is_added_for_long(found: FoundLog, monkeypatch: pytest.MonkeyPatch) -> None:
    why, times = followed(found, monkeypatch, *[quiet] * 200)
    assert (why, times) == ("Nothing was added to it for a long time.", [])


def test_subagents_count_and_a_log_that_is_gone_is_no_error(found: FoundLog) -> None:
    before = log_state(found)
    below = found.home / "subagents"
    below.mkdir(parents=True)
    (below / "agent-1.jsonl").write_text("{}\n")
    assert log_state(found) != before
    Path(found.path).unlink()
    assert len(log_state(found)) == 1
