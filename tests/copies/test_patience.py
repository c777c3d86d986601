"""Logs that are made to take long: the time a copy takes grows with the log, and no faster."""

import time
from collections.abc import Callable

import pytest

from tests.copies.making import TREATMENTS, copied
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import encode_line

SMALL, LARGE = 400, 3200
MOST = 4
"""How much longer than in proportion a large log may take."""


def begun() -> LogBuilder:
    log = LogBuilder()
    return log.prompt("Begin.").assistant(log.text("Begun."))


def compactions(count: int) -> LogBuilder:
    log = begun()
    for _ in range(count):
        log.compact("auto", "Summed up.", keep=[log.last or ""]).prompt("On.").assistant(log.text("On."))
    return log


def one_message(count: int) -> LogBuilder:
    log = begun()
    uses = [log.use("Bash", command="ls") for _ in range(count)]
    log.assistant(*uses)
    for use in uses:
        log.result(use, "x")
    return log.assistant(log.text("Done."))


def answers(count: int) -> LogBuilder:
    log = begun()
    use = log.use("Bash", command="ls")
    log.assistant(use)
    for _ in range(count):
        log.result(use, "x")
    return log.assistant(log.text("Done."))


def gaps(count: int) -> LogBuilder:
    log = begun()
    for number in range(count):
        log.prompt("On?", parentUuid=f"gone-{number}").assistant(log.text("On."))
    return log


def strands(count: int) -> LogBuilder:
    log = begun()
    last = log.last
    for _ in range(count):
        log.rewind(last).attachment("novel", text="x")
    return log


def took(log: LogBuilder) -> float:
    lines = [line if isinstance(line, bytes) else encode_line(line) for line in log.lines]
    began = time.thread_time()
    copied(lines, TREATMENTS["default"])
    return time.thread_time() - began


@pytest.mark.parametrize("shape", [compactions, one_message, answers, gaps, strands], ids=lambda shape: shape.__name__)
def test_time_grows_with_the_log_alone(shape: Callable[[int], LogBuilder]) -> None:
    small, large = shape(SMALL), shape(LARGE)
    quick = max(min(took(small) for _ in range(3)), 0.005)
    slow = min(took(large) for _ in range(2))
    assert slow / quick < MOST * LARGE / SMALL
