"""Processes that read for another end with it, and are started whole or not at all."""

import signal
import threading
from collections.abc import Iterator

import pytest

from unspool.workers import without_interrupts


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """Which signals were heard."""
    found: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: found.append(number))
    yield found
    signal.signal(signal.SIGTERM, before)


def test_a_signal_is_heeded_when_the_block_ends(heard: list[int]) -> None:
    with without_interrupts():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
    assert heard == [signal.SIGTERM]
    signal.raise_signal(signal.SIGTERM)
    assert len(heard) == 2


def test_ctrl_c_breaks_off_what_follows_the_block() -> None:
    steps: list[str] = []

    def work() -> None:
        with without_interrupts():
            signal.raise_signal(signal.SIGINT)
            steps.append("within")
        steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["within"]


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with without_interrupts():
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    signal.signal(signal.SIGHUP, before)


def test_another_thread_is_not_in_the_way() -> None:
    done: list[str] = []

    def work() -> None:
        with without_interrupts():
            done.append("worked")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["worked"]
