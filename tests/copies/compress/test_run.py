"""Many passages at once: retries, pauses, giving up, and an end by Ctrl-C."""

import json
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.copies.compress.model import KEY, QUICK, Model, model, passages, short, until
from tests.waiting import PATIENCE
from unspool.copies.compress.passages import CompressOptions, CompressOutcome, ShortenedPassage, TurnBands
from unspool.copies.compress.providers import Anthropic, ModelFailed, ModelRequest, OpenAi
from unspool.copies.compress.run import Patience, compress

ALL = TurnBands.parse("0-100:light")


def run(server: Model, count: int = 1, pace: Patience = QUICK, width: int = 0, **more: Any) -> CompressOutcome:
    return compress(passages(count), ALL, OpenAi(server.address, "m", KEY), CompressOptions(width=width), pace, **more)


@pytest.mark.parametrize("dialect", [OpenAi, Anthropic])
def test_each_passage_gets_its_own_answer(dialect: type[OpenAi | Anthropic]) -> None:
    """However they overtake each other; the sums are those of the texts."""
    texts = passages(40)
    with model(0.3, 0.2, 0.1) as server:
        outcome = compress(texts, ALL, dialect(server.address, "m", KEY), pace=QUICK)
    assert outcome.texts == {f"line-{at}": f"Passage {at} tells of" for at in range(40)}
    assert [one.chosen.passage for one in outcome.details] == texts
    stats = outcome.stats
    assert (stats.compressed, stats.skipped, stats.failed) == (40, 0, 0)
    assert stats.tokens_before == sum(one.chosen.tokens for one in outcome.details)
    assert stats.tokens_after == sum(one.tokens for one in outcome.details) < stats.tokens_before // 10
    assert outcome.reasons == ()


@pytest.mark.parametrize(("asked", "width"), [(0, 10), (3, 3), (25, 25)])
def test_so_many_are_asked_at_once_and_no_more(asked: int, width: int) -> None:
    """Ten, unless another number is asked for: while none is answered, no further one is sent."""
    with model(always="hold") as server:
        thread = threading.Thread(target=run, args=(server, 40, QUICK._replace(limits=((10_000, 60.0),)), asked))
        thread.start()
        assert until(lambda: len(server.heard) == width)
        time.sleep(0.3)
        assert len(server.heard) == width
        server.released.set()
        thread.join()
        assert len(server.heard) == 40


def test_nothing_to_do_asks_nobody() -> None:
    with model() as server:
        outcome = compress(passages(5, words=2), ALL, OpenAi(server.address, "m", KEY))
    assert (outcome.stats.skipped, outcome.texts, server.heard) == (5, {}, [])


@pytest.mark.parametrize(
    "bad",
    [
        (500, {}, "down"),
        b"garbage",
        "reset",
        "cut",
        lambda _: "no JSON",
        lambda _: '{"text": ""}',
        lambda text: text * 2,
    ],
    ids=["status", "garbage", "reset", "cut", "no-json", "empty", "longer"],
)
def test_three_failures_are_forgiven(bad: Any) -> None:
    """The fourth attempt may still succeed; after it, the original stays."""
    with model(bad, bad, bad) as server:
        outcome = run(server)
    assert outcome.texts == {"line-0": "Passage 0 tells of"}
    assert outcome.details[0].attempts == len(server.heard) == 4
    with model(always=bad) as server:
        outcome = run(server)
    assert outcome.texts == {}
    assert len(server.heard) == 4
    assert (outcome.stats.failed, outcome.stats.tokens_after) == (1, outcome.stats.tokens_before)
    assert outcome.details[0].why


def test_a_hanging_service_is_given_longer_each_time() -> None:
    """By half of it, and no more than three times as long."""
    pace = QUICK._replace(limits=((10_000, 0.4),))
    with model(always="hang") as server:
        outcome = run(server, pace=pace)
    assert "timed out" in outcome.details[0].why
    assert len(server.heard) == 4
    assert outcome.details[0].ms / 1000 >= 3.0  # 0.4 + 0.6 + 0.9 + 1.2


def test_time_limits_go_by_size() -> None:
    usual = Patience()
    assert [usual.seconds(tokens, 0) for tokens in (50, 499, 500, 1999, 2000, 10**6)] == [20, 20, 30, 30, 90, 90]
    assert [usual.seconds(50, attempt) for attempt in range(5)] == [20, 30, 45, 60, 60]
    assert usual.attempts == 4


class AsksForAPause:
    """A service that is asked by two at once, tells the first to pause, and answers the other once that pauses. Time
    passes only while both wait."""

    name, model, width = "pausing", "m", 2

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[float] = []
        """When each request came."""
        self._both_ask = threading.Barrier(2, timeout=PATIENCE)
        self._both_wait = threading.Barrier(2, self._pass_time, timeout=PATIENCE)
        self._one_waits = threading.Event()

    def _pass_time(self) -> None:
        self.now += 60

    def ask(self, ask: ModelRequest, _seconds: float, _stop: threading.Event) -> str:
        self.asked.append(self.now)
        if not self._one_waits.is_set():
            if self._both_ask.wait() == 0:
                raise ModelFailed("slow down", pause=100.0)
            assert self._one_waits.wait(PATIENCE)
        return short(json.loads(ask.content)["text"])

    def wait(self, _seconds: float) -> bool:
        self._one_waits.set()
        self._both_wait.wait()
        return False


def test_a_pause_that_is_asked_for_holds_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a 429, nobody asks again before its time, and then all succeed."""
    service, stop = AsksForAPause(), threading.Event()
    monkeypatch.setattr(stop, "wait", service.wait)
    monkeypatch.setattr("unspool.copies.compress.run.Event", lambda: stop)
    monkeypatch.setattr("unspool.copies.compress.run.time", SimpleNamespace(monotonic=lambda: service.now))
    outcome = compress(passages(12), ALL, service, CompressOptions(width=2), QUICK)
    assert outcome.stats.compressed == 12
    assert service.asked == [0, 0, *[120.0] * 11]


def test_a_pause_is_taken_from_the_answer() -> None:
    with model((429, {"Retry-After": "1"}, "slow down")) as server:
        outcome = run(server, 1)
    first, second = (heard.time for heard in server.heard)
    assert second - first >= 1
    assert outcome.stats.compressed == 1


def test_a_pause_beyond_patience_ends_it() -> None:
    """An hour is not waited for, and nobody is asked in the meantime."""
    with model(always=(429, {"Retry-After": "3600"}, "enough")) as server:
        outcome = run(server, 30, width=2)
    assert outcome.stats.failed == 30
    assert len(server.heard) <= 2
    assert "asks for a pause of 3600 s" in outcome.details[-1].why


def test_a_refusal_ends_it() -> None:
    """A wrong key is wrong for every passage."""
    with model(always=(401, {}, "wrong key")) as server:
        outcome = run(server, 30, width=2)
    assert len(server.heard) <= 2
    assert outcome.texts == {}
    assert len(outcome.reasons) == 1
    assert "wrong key" in outcome.reasons[0][0]


def test_a_dislike_of_one_passage_is_not_repeated_and_spoils_nothing() -> None:
    with model((400, {}, "too long")) as server:
        outcome = run(server, 5, width=1)
    assert len(server.heard) == 5
    assert (outcome.stats.compressed, outcome.stats.failed) == (4, 1)


def test_failures_in_a_row_end_it() -> None:
    """A service that never does it right is not paid a thousand times."""
    with model(always=b"garbage") as server:
        outcome = run(server, 50, width=1)
    assert len(server.heard) == 8 * 4
    assert "8 failures in a row" in outcome.details[-1].why
    assert outcome.stats.failed == 50


def test_a_success_between_starts_the_count_anew() -> None:
    with model(*([(400, {}, "no")] * 7 + ["good"]) * 3) as server:
        outcome = run(server, 30, width=1)
    assert (outcome.stats.compressed, outcome.stats.failed) == (9, 21)


def test_each_is_told_as_it_is_done() -> None:
    told: list[ShortenedPassage] = []
    with model() as server:
        outcome = run(server, 7, tell=told.append)
    assert sorted(told) == sorted(outcome.details)


def test_whoever_breaks_off_is_not_kept_waiting() -> None:
    """What is raised where progress is told ends the threads, and nothing more is sent."""

    def enough(_: ShortenedPassage) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with model(always=0.05) as server:
        with pytest.raises(KeyboardInterrupt) as caught:
            run(server, 100, width=3, tell=enough)
        sent = len(server.heard)
        assert sent <= 10
        time.sleep(0.3)
        assert len(server.heard) == sent
    assert until(lambda: threading.active_count() <= before)
    assert caught.traceback  # it was held all the time, and with it every frame: nothing ended for want of a holder


SCRIPT = """
import signal, sys
from tests.copies.compress.model import passages
from unspool.copies.compress.passages import TurnBands
from unspool.copies.compress.providers import ServiceOptions, connect
from unspool.copies.compress.run import compress
from unspool.agents import AGENTS
asked = connect(ServiceOptions(url=sys.argv[1], model="m" if sys.argv[1] else ""), {}, AGENTS[0])
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    compress(passages(30), TurnBands.parse("0-100:light"), asked)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
"""Whoever starts the tests in the background has them ignore the signal, so it is heeded again."""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_ends_it_though_the_service_hangs(repository: Path) -> None:
    """Within seconds, not when the time limits of all requests have passed."""
    with model(always="hang") as server:
        command = [sys.executable, "-c", textwrap.dedent(SCRIPT), server.address]
        with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert until(lambda: len(server.heard) == 10, 60)
            process.send_signal(signal.SIGINT)
            printed, complaint = process.communicate(timeout=25)
    assert (printed.split(), complaint, process.returncode) == ([b"ready", b"stopped"], b"", 0)
    assert len(server.heard) == 10


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_leaves_no_process_and_no_file(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the agents that were being asked, and of what they were given."""
    from unspool.agents import ClaudeCode

    program, scratch, pids = (
        tmp_path / "bin" / ClaudeCode().asking.ask("", "")[0],
        tmp_path / "scratch",
        tmp_path / "pids",
    )
    for folder in (program.parent, scratch, pids):
        folder.mkdir()
    program.write_text(f"#!/bin/sh\n: > {pids}/$$\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("TMPDIR", str(scratch))
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), ""]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert until(lambda: len(list(pids.iterdir())) == 4, 60)
        process.send_signal(signal.SIGINT)
        printed, complaint = process.communicate(timeout=25)
    assert (printed.split(), complaint) == ([b"ready", b"stopped"], b"")
    assert list(scratch.iterdir()) == []
    assert not any(Path(f"/proc/{pid.name}").exists() for pid in pids.iterdir())
