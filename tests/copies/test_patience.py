"""Logs that are made to take long: the work of a copy grows with the log, and no faster."""

from collections.abc import Callable

import pytest

from tests.copies.making import TREATMENTS, copied
from tests.log_builder.builder import LogBuilder
from tests.log_builder.lines import encode_line
from tests.steps import steps

SMALL, LARGE = 100, 800
MOST = 1.5
"""How much more work than in proportion a large log may be."""


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


def work(log: LogBuilder) -> int:
    lines = [line if isinstance(line, bytes) else encode_line(line) for line in log.lines]
    return steps(lambda: copied(lines, TREATMENTS["default"]))


@pytest.mark.parametrize("shape", [compactions, one_message, answers, gaps, strands], ids=lambda shape: shape.__name__)
def test_work_grows_with_the_log_alone(shape: Callable[[int], LogBuilder]) -> None:
    assert work(shape(LARGE)) / work(shape(SMALL)) < MOST * LARGE / SMALL
